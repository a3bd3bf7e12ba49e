//! PIE where RFC 8033 says what to expect. That it decides as Linux's does is shown by
//! bench/queue_accuracy.

mod common;

use common::{MS, direction, tcp};
use h123_link::*;

const S: u64 = 1000 * MS;

/// What becomes of full packets of flow 0 that come `load` times as fast as 10 Mbit/s can send them, for `seconds`.
fn overload(queue: &str, load: f64, seconds: u64, ecn: Ecn) -> Vec<(u64, Decision)> {
    let direction = direction(&format!(
        r#"{{"rate": {{"bps": 10000000}}, "queue": {queue}}}"#
    ));
    let gap = (1_200_000.0 / load) as u64;
    let packet = Packet { ecn, ..tcp(1500) };
    let packets: Vec<_> = (0..seconds * S / gap).map(|i| (i * gap, packet)).collect();
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    packets.into_iter().map(|p| p.0).zip(decisions).collect()
}

fn share(decisions: &[(u64, Decision)], of: impl Fn(&Decision) -> bool) -> f64 {
    decisions
        .iter()
        .filter(|(_, decision)| of(decision))
        .count() as f64
        / decisions.len() as f64
}

fn dropped(decision: &Decision) -> bool {
    decision.fate == Fate::QueueDropped
}

/// The mean wait of the packets that came in the second half, without their own time on the link.
fn settled_wait(decisions: &[(u64, Decision)]) -> f64 {
    let half = decisions[decisions.len() / 2..].iter();
    let waits: Vec<_> = half
        .filter_map(|&(came, decision)| Some(common::delivery(decision.fate)? - came - 1_200_000))
        .collect();
    waits.iter().sum::<u64>() as f64 / waits.len() as f64
}

#[test]
fn pie_holds_its_target_by_dropping_what_is_too_much() {
    for queue in [r#"{"pie": {}}"#, r#"{"pie": {"dq_rate_estimator": true}}"#] {
        let decisions = overload(queue, 1.25, 60, Ecn::NotEct);
        let late = &decisions[decisions.len() / 2..];
        assert!((share(late, dropped) - 0.2).abs() < 0.01, "{queue}");
        let wait = settled_wait(&decisions);
        assert!((10e6..20e6).contains(&wait), "{queue}: {wait}");
        // Nothing is dropped within the burst that is allowed: the queue needs 75 ms to have 15 ms.
        let first = decisions.iter().find(|(_, decision)| dropped(decision));
        assert!(first.unwrap().0 > 150 * MS, "{queue}");
    }
}

#[test]
fn pie_marks_up_to_a_tenth_and_then_drops() {
    let marking = r#"{"pie": {"ecn": true}}"#;
    let little = overload(marking, 1.02, 20, Ecn::Ect0);
    assert!(share(&little, |decision| decision.marked) > 0.01);
    let much = overload(marking, 1.25, 60, Ecn::Ect0);
    assert!(share(&much[much.len() / 2..], dropped) > 0.15);
    let incapable = overload(marking, 1.25, 10, Ecn::NotEct);
    assert_eq!(share(&incapable, |decision| decision.marked), 0.0);
}

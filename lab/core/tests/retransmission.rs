//! Packets that the link layer sends again: how late they are, who waits for them, and what else changes.

mod common;

use common::{MS, direction, tcp};
use h123_link::{Decision, Fate, Packet, Path, binomial_interval};

const PACKETS: u64 = 20_000;

/// A packet each tenth of a millisecond, of one flow.
fn packets() -> impl Iterator<Item = (u64, Packet)> {
    (0..PACKETS).map(|number| (number * MS / 10, tcp(1000)))
}

/// How much later than its delay each is delivered, and what is counted near and far.
fn late(json: &str) -> (Vec<u64>, [u64; 2]) {
    let mut path = Path::new(&direction(json), 3);
    let decisions = path.decisions(packets());
    let tally = path.tally();
    let late = decisions
        .iter()
        .zip(packets())
        .map(|(decision, (now, _))| common::delivery(decision.fate).unwrap() - now - 5 * MS);
    (late.collect(), [tally.reordered_near, tally.reordered_far])
}

#[test]
fn a_share_comes_late_and_the_others_overtake_it() {
    for (delay, far) in [(MS, true), (MS / 4, false)] {
        let json = format!(r#"{{"delay_ns": 5000000, "retransmission": {{"share": 0.01, "delay_ns": {delay}}}}}"#);
        let (late, reordered) = late(&json);
        assert!(late.iter().all(|&ns| ns == 0 || ns == delay));
        let again = late.iter().filter(|&&ns| ns > 0).count() as u64;
        let (low, high) = binomial_interval(PACKETS, 0.01, 0.9999);
        assert!((low..=high).contains(&again), "{again}");
        // Ten packets pass in a millisecond, and two in a quarter.
        assert!(reordered[usize::from(far)] > again * 9 / 10, "{reordered:?}");
        assert!(reordered[usize::from(!far)] < again / 10, "{reordered:?}");
    }
}

#[test]
fn in_order_those_behind_it_wait() {
    let free = r#"{"delay_ns": 5000000, "retransmission": {"share": 0.01, "delay_ns": 1000000}}"#;
    let kept = free.replace("000}", r#"000, "in_order": true}"#);
    let ((free, _), (kept, reordered)) = (late(free), late(&kept));
    assert_eq!(reordered, [0, 0]);
    let mut ready = 0;
    for (number, (free, kept)) in free.into_iter().zip(kept).enumerate() {
        let now = number as u64 * MS / 10;
        ready = ready.max(now + free);
        assert_eq!(now + kept, ready);
    }
}

#[test]
fn where_jitter_keeps_the_order_only_what_is_sent_again_is_overtaken() {
    let jitter = r#"{"delay_ns": 5000000, "jitter": {"spread_ns": 300000, "distribution": "uniform"}"#;
    let again = r#", "retransmission": {"share": 0.01, "delay_ns": 1000000}}"#;
    let (plain, changed) = (fates(&format!("{jitter}}}")), fates(&format!("{jitter}{again}")));
    for (plain, changed) in plain.iter().zip(&changed) {
        let at = [plain, changed].map(|d| common::delivery(d.fate).unwrap());
        assert!([0, MS].contains(&(at[1] - at[0])));
    }
    assert_ne!(plain, changed);
}

fn fates(json: &str) -> Vec<Decision> {
    Path::new(&direction(json), 3).decisions(packets())
}

#[test]
fn it_changes_no_other_luck() {
    let luck = r#"{"loss": {"random": 0.1}, "duplicate": 0.1, "delay_ns": 5000000"#;
    let again = r#", "retransmission": {"share": 0.3, "delay_ns": 1000000}}"#;
    let outcome = |json: &str| -> Vec<(bool, bool)> {
        let outcome = |decision: Decision| match decision.fate {
            Fate::Deliver { copy, .. } => (true, copy.is_some()),
            _ => (false, false),
        };
        fates(json).into_iter().map(outcome).collect()
    };
    assert_eq!(outcome(&format!("{luck}}}")), outcome(&format!("{luck}{again}")));
}

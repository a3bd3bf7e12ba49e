//! PIE, FQ-PIE, RED, DualPI2 and CAKE: what each does where its paper says what to expect. That they decide as Linux's do is shown by
//! bench/queue_accuracy.

mod common;

use common::{MS, direction, tcp};
use h123_link::*;

const S: u64 = 1000 * MS;

/// What becomes of full packets of flow 0 that come `load` times as fast as 10 Mbit/s can send them, for `seconds`.
fn overload(queue: &str, load: f64, seconds: u64, ecn: Ecn) -> Vec<(u64, Decision)> {
    let direction = direction(&format!(r#"{{"rate": {{"bps": 10000000}}, "queue": {queue}}}"#));
    let gap = (1_200_000.0 / load) as u64;
    let packet = Packet { ecn, ..tcp(1500) };
    let packets: Vec<_> = (0..seconds * S / gap).map(|i| (i * gap, packet)).collect();
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    packets.into_iter().map(|p| p.0).zip(decisions).collect()
}

fn share(decisions: &[(u64, Decision)], of: impl Fn(&Decision) -> bool) -> f64 {
    decisions.iter().filter(|(_, decision)| of(decision)).count() as f64 / decisions.len() as f64
}

fn dropped(decision: &Decision) -> bool {
    decision.fate == Fate::QueueDropped
}

/// The mean wait of the packets that came in the second half, without their own time on the link.
fn settled_wait(decisions: &[(u64, Decision)]) -> f64 {
    let half = decisions[decisions.len() / 2..].iter();
    let waits: Vec<_> =
        half.filter_map(|&(came, decision)| Some(common::delivery(decision.fate)? - came - 1_200_000)).collect();
    waits.iter().sum::<u64>() as f64 / waits.len() as f64
}

#[test]
fn pie_holds_its_target_by_dropping_what_is_too_much() {
    for queue in [r#"{"pie": {}}"#, r#"{"pie": {"dq_rate_estimator": true}}"#, r#"{"fq_pie": {}}"#] {
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
    let fair = r#"{"fq_pie": {"ecn": true, "ecn_prob": 100}}"#;
    assert_eq!(share(&overload(fair, 1.1, 1, Ecn::Ect1), dropped), 0.0);
    let incapable = overload(marking, 1.25, 10, Ecn::NotEct);
    assert_eq!(share(&incapable, |decision| decision.marked), 0.0);
}

#[test]
fn fq_pie_drops_from_the_flow_that_sends_too_much() {
    let direction = direction(r#"{"rate": {"bps": 10000000}, "queue": {"fq_pie": {}}}"#);
    let (greedy, modest) = (1 << 22, 1 << 30);
    let flow = |flow, gap: u64| (0..20 * S / gap).map(move |i| (i * gap, Packet { flow, ..tcp(1500) }));
    let mut packets: Vec<_> = flow(greedy, 800_000).chain(flow(modest, 10 * MS)).collect();
    packets.sort_by_key(|packet| packet.0);
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    let lost = |flow| {
        let both = packets.iter().zip(&decisions);
        both.filter(|((_, packet), decision)| packet.flow == flow && dropped(decision)).count()
    };
    assert!(lost(greedy) > 1000);
    assert_eq!(lost(modest), 0);
}

const RED: &str = r#""limit": 400000, "min": 30000, "max": 90000, "avpkt": 1000, "burst": 55, "probability": 0.02, "bandwidth_bps": 10000000"#;

#[test]
fn red_drops_by_its_probability_and_all_above_its_maximum() {
    let red = |more: &str| format!(r#"{{"red": {{{RED}{more}}}}}"#);
    // 1 % too much: the average settles where about 1 % are dropped, between the thresholds.
    let decisions = overload(&red(""), 1.01, 120, Ecn::NotEct);
    let late = &decisions[decisions.len() / 2..];
    assert!((share(late, dropped) - 0.01).abs() < 0.003);
    let wait = settled_wait(&decisions) / 1e9 * 10e6 / 8.0;
    assert!((30e3..90e3).contains(&wait), "{wait} bytes");
    // A quarter too much: the average is at the maximum.
    let wait = settled_wait(&overload(&red(""), 1.25, 30, Ecn::NotEct)) / 1e9 * 10e6 / 8.0;
    assert!((80e3..100e3).contains(&wait), "{wait} bytes");
    // An adaptive probability brings it back to the middle.
    let wait = settled_wait(&overload(&red(r#", "adaptive": true"#), 1.1, 120, Ecn::NotEct));
    assert!((50e3..72e3).contains(&(wait / 1e9 * 10e6 / 8.0)), "{wait} ns");
}

#[test]
fn red_marks_what_it_may_and_drops_or_keeps_the_rest() {
    let red = |more: &str| format!(r#"{{"red": {{{RED}, "ecn": true{more}}}}}"#);
    let lost = |queue: &str, ecn| share(&overload(queue, 1.25, 1, ecn), dropped);
    assert_eq!(lost(&red(""), Ecn::Ect0), 0.0);
    assert!(lost(&red(""), Ecn::NotEct) > 0.1);
    assert!(lost(&red(r#", "harddrop": true"#), Ecn::Ect0) > 0.1);
    assert_eq!(lost(&red(r#", "nodrop": true"#), Ecn::NotEct), 0.0);
    // The limit holds in any case.
    assert!(share(&overload(&red(""), 2.0, 10, Ecn::Ect0), dropped) > 0.3);
}

#[test]
fn the_average_of_red_falls_while_nothing_waits() {
    let first_is_dropped = |rate: &str, pause: u64| {
        let queue = format!(r#"{{"rate": {{"bps": 10000000{rate}}}, "queue": {{"red": {{{RED}, "ecn": true}}}}}}"#);
        let capable = Packet { ecn: Ecn::Ect0, ..tcp(1500) };
        let mut packets: Vec<_> = (0..2000).map(|i| (i * 500_000, capable)).collect();
        packets.push((S + pause, tcp(1500)));
        let decisions = Path::new(&direction(&queue), 1).decisions(packets);
        dropped(&decisions[2000])
    };
    // The queue is empty 320 ms after a second of twice too much.
    assert!(first_is_dropped("", 350 * MS));
    assert!(!first_is_dropped("", 20 * S));
    // Not behind a token bucket, where Linux's RED does not notice that nothing waits.
    assert!(first_is_dropped(r#", "burst_bytes": 3000"#, 20 * S));
}

#[test]
fn dualpi2_marks_scalable_packets_twice_as_often_as_the_root_of_what_it_drops() {
    let direction = direction(r#"{"rate": {"bps": 10000000}, "queue": {"dualpi2": {"step_thresh_ns": 1000000000}}}"#);
    let gap = (1_200_000.0 / 1.05) as u64;
    let packets: Vec<_> = (0..60 * S / gap)
        .map(|i| {
            let ecn = if i % 2 == 0 { Ecn::NotEct } else { Ecn::Ect1 };
            (i * gap, Packet { ecn, ..tcp(1500) })
        })
        .collect();
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    let late = packets.len() / 2..packets.len();
    let of = |ecn: Ecn| -> Vec<_> {
        let chosen = late.clone().filter(|&i| packets[i].1.ecn == ecn);
        chosen.map(|i| (packets[i].0, decisions[i])).collect()
    };
    let (classic, scalable) = (of(Ecn::NotEct), of(Ecn::Ect1));
    let (drops, marks) = (share(&classic, dropped), share(&scalable, |d| d.marked));
    // All that is too much is dropped from half of the packets.
    assert!((drops - 0.1).abs() < 0.01, "{drops}");
    assert!((marks / (2.0 * drops.sqrt()) - 1.0).abs() < 0.1, "{marks} {drops}");
    assert_eq!(share(&scalable, dropped), 0.0);
    assert_eq!(share(&classic, |d| d.marked), 0.0);
    // The scalable ones hardly wait; the classic ones wait for as long as the target says.
    assert!(settled_wait(&scalable) < 2e6);
    assert!((10e6..20e6).contains(&settled_wait(&classic)));
}

const CAKE: &str = r#"{"rate": {"bps": 10000000}, "queue": {"cake": {"isolation": "flows"}}}"#;

#[test]
fn a_packet_leaves_cake_when_the_time_of_the_one_before_is_over() {
    let packets = [(0, 1500), (0, 750), (0, 1500), (5 * MS, 1500)];
    let mut path = Path::new(&direction(CAKE), 1);
    let decisions = path.decisions(packets.map(|(at, bytes)| (at, tcp(bytes))));
    let left = decisions.iter().map(|decision| common::delivery(decision.fate).unwrap());
    assert_eq!(left.collect::<Vec<_>>(), [0, 1_200_000, 1_800_000, 5 * MS]);
}

#[test]
fn cake_shares_the_rate_among_hosts_or_flows() {
    // The link's own hosts have one flow, those of cross traffic three, and all always have packets.
    for (isolation, expected) in [("triple-isolate", 0.5), ("flows", 0.25)] {
        let direction = direction(&CAKE.replace("flows", isolation));
        let (mut path, mut left) = (Path::new(&direction, 1), [0; 2]);
        for now in (0..20 * S).step_by(900_000) {
            for flow in 0..4 {
                let party = if flow == 0 { Party::Own } else { Party::Cross };
                path.offer(now, party, Packet { flow, ..tcp(1500) }, usize::from(flow > 0));
            }
            while let Some(decision) = path.next(now, |_, _| true) {
                left[decision.ticket] += u32::from(common::delivery(decision.fate).is_some());
            }
        }
        let own = f64::from(left[0]) / f64::from(left[0] + left[1]);
        assert!((own - expected).abs() < 0.01, "{isolation}: {own}");
    }
}

#[test]
fn cake_drops_from_the_flow_that_fills_its_memory_and_from_no_other() {
    let direction = direction(&CAKE.replace("\"isolation\": \"flows\"", "\"memlimit\": 100000"));
    let flow = |flow, gap: u64| (0..10 * S / gap).map(move |i| (i * gap, Packet { flow, ecn: Ecn::Ect0, ..tcp(1500) }));
    let mut packets: Vec<_> = flow(1, 600_000).chain(flow(2, 10 * MS)).collect();
    packets.sort_by_key(|packet| packet.0);
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    let of = |flow| packets.iter().zip(&decisions).filter(move |(packet, _)| packet.1.flow == flow).map(|pair| *pair.1);
    assert_eq!(of(2).filter(dropped).count(), 0);
    // With what may be marked only BLUE and the memory drop: half of it is too much.
    let greedy: Vec<_> = of(1).collect();
    let late = &greedy[greedy.len() / 2..];
    let share = late.iter().filter(|decision| dropped(decision)).count() as f64 / late.len() as f64;
    assert!((share - 0.55).abs() < 0.05, "{share}");
}

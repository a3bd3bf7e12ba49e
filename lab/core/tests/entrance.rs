//! What packets meet before the queue, and opportunities to send: known answers.

mod common;

use common::{MS, deliveries, direction, fates, own, tcp, udp};
use h123_link::{Ack, Decision, Ecn, Fate, Packet, Party, Path};

#[test]
fn a_policer_lets_its_burst_through_and_then_the_rate() {
    // 1500 bytes take 1 ms at 12 Mbit/s; a burst of 3000 bytes is two of them.
    let json = r#"{"policer": {"bps": 12000000, "burst_bytes": 3000}}"#;
    let at = |ms: u64| Some(ms * MS);
    let packets = [0, 0, 0, 1, 1, 9, 9, 9].map(|ms| (ms * MS, 1500));
    let expected = [at(0), at(0), None, at(1), None, at(9), at(9), None];
    assert_eq!(deliveries(json, &packets), expected);
    let fates = fates(&direction(json), 1, &[(0, tcp(1500)), (0, udp(1500)), (0, udp(40))]);
    assert_eq!(fates[2], Fate::Policed);
}

#[test]
fn what_is_policed_does_not_pay() {
    let json = r#"{"policer": {"bps": 12000000, "burst_bytes": 1500}}"#;
    let mut path = Path::new(&direction(json), 1);
    let mut passed = 0;
    // Ten times the rate for a second: a thousand full packets pass, and the first.
    for packet in 0..10_000u64 {
        passed += u64::from(own(&mut path, packet * MS / 10, tcp(1500)) != Fate::Policed);
    }
    let tally = path.tally();
    assert_eq!((passed, tally.policed), (1000, 9000));
    assert_eq!(tally.in_flight(passed), 0);
}

#[test]
fn large_packets_do_not_pass_and_their_sender_may_learn_it() {
    let json = r#"{"mtu": {"bytes": 1280}, "changes": [{"at_ns": 5, "mtu": {"bytes": 1400, "silent": true}}]}"#;
    let packets = [(0, tcp(1280)), (4, udp(1281)), (5, udp(1400)), (6, tcp(1401))];
    let too_large = |answer| Fate::TooLarge { answer };
    let passes = |at| Fate::Deliver { at, copy: None };
    let expected = [passes(0), too_large(Some(1280)), passes(5), too_large(None)];
    assert_eq!(fates(&direction(json), 1, &packets), expected);
}

#[test]
fn a_path_may_lack_an_ip_version() {
    let six = |packet| Packet { ipv6: true, ..packet };
    let packets = [tcp(100), udp(100), six(tcp(100)), six(udp(100))].map(|packet| (0, packet));
    let passes = Fate::Deliver { at: 0, copy: None };
    let blocked = |reject| Fate::Blocked { reject };
    for (json, [ipv4, ipv6]) in [
        (r#"{"ipv6": "drop"}"#, [passes, blocked(false)]),
        (r#"{"ipv6": "reject"}"#, [passes, blocked(true)]),
        (r#"{"ipv4": "reject", "ipv6": "pass"}"#, [blocked(true), passes]),
        (r#"{"ipv4": "drop", "ipv6": "reject"}"#, [blocked(false), blocked(true)]),
    ] {
        let expected = [ipv4, ipv4, ipv6, ipv6];
        assert_eq!(fates(&direction(json), 1, &packets), expected, "{json}");
    }
}

/// The decisions on packets with each ECN field.
fn with_each_field(json: &str) -> Vec<Decision> {
    let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    let packets = fields.map(|ecn| (0, Packet { ecn, ..tcp(100) }));
    Path::new(&direction(json), 1).decisions(packets)
}

#[test]
fn a_path_may_change_the_ecn_field() {
    use Ecn::*;
    for (policy, expected) in [
        ("pass", [NotEct, Ect1, Ect0, Ce]),
        ("bleach", [NotEct; 4]),
        ("mark", [NotEct, Ce, Ce, Ce]),
        ("swap", [NotEct, Ect0, Ect1, Ce]),
    ] {
        let decisions = with_each_field(&format!(r#"{{"ecn": "{policy}"}}"#));
        let left: Vec<Ecn> = decisions.iter().map(|decision| decision.ecn).collect();
        assert_eq!(left, expected, "{policy}");
        // None of it is a mark of the link's own queue.
        assert!(decisions.iter().all(|decision| !decision.marked));
    }
    let fates = with_each_field(r#"{"ecn": "drop"}"#).into_iter().map(|decision| decision.fate);
    let blocked: Vec<bool> = fates.map(|fate| fate == Fate::Blocked { reject: false }).collect();
    assert_eq!(blocked, [false, true, true, true]);
}

#[test]
fn a_queue_cannot_mark_what_was_bleached_before_it() {
    let queue = r#""rate": {"bps": 1000000}, "queue": {"codel": {"ecn": true}}"#;
    for (policy, marked) in [("pass", true), ("bleach", false)] {
        let mut path = Path::new(&direction(&format!(r#"{{"ecn": "{policy}", {queue}}}"#)), 1);
        let packet = Packet { ecn: Ecn::Ect0, ..tcp(1500) };
        let decisions = path.decisions((0..200).map(|number| (number * 6 * MS, packet)));
        let tally = path.tally();
        assert_eq!((tally.marked > 0, tally.queue_dropped > 0), (marked, !marked), "{policy}");
        assert!(decisions.iter().all(|decision| decision.marked <= (decision.ecn == Ecn::Ce)));
    }
}

#[test]
fn packets_wait_for_an_opportunity_and_leave_together() {
    let json = r#"{"delay_ns": 100, "aggregation": {"every_ns": 1000}}"#;
    let packets = [(0, 40), (1, 40), (999, 40), (1000, 40), (1001, 40)];
    let expected = [100, 1100, 1100, 1100, 2100].map(Some);
    assert_eq!(deliveries(json, &packets), expected);
}

#[test]
fn opportunities_are_spread_within_their_intervals_alike_for_all() {
    let json = r#"{"aggregation": {"every_ns": 1000, "spread_ns": 1000}}"#;
    let at = |seed: u64, now: u64| match fates(&direction(json), seed, &[(now, tcp(40))])[0] {
        Fate::Deliver { at, .. } => at,
        fate => panic!("{fate:?}"),
    };
    let mut offsets = std::collections::BTreeSet::new();
    for interval in 0..200 {
        let opportunity = at(7, interval * 1000);
        assert!(
            (interval * 1000..=(interval + 1) * 1000).contains(&opportunity) || opportunity < (interval + 2) * 1000
        );
        assert!(at(7, opportunity) == opportunity, "it is one for whatever comes by then");
        offsets.insert(opportunity % 1000);
    }
    assert!(offsets.len() > 150, "{offsets:?}");
    assert_ne!(at(7, 0), at(8, 0));
}

/// Packets of 100 bytes, of one flow or two, that acknowledge up to a number.
fn ack(number: u32, flow: u32) -> Packet {
    let ack = Ack { number, ecn: 0, says_more: false };
    Packet { flow, ack: Some(ack), ..tcp(100) }
}

#[test]
fn of_acknowledgements_that_wait_together_the_last_of_a_flow_is_sent() {
    let json = r#"{"delay_ns": 100, "aggregation": {"every_ns": 1000, "thin_acks": true}}"#;
    let packets = [
        (0, ack(10, 1)),
        (1, ack(10, 1)),
        (2, ack(20, 1)),
        (3, ack(90, 2)),
        (4, tcp(100)),
        (5, ack(20, 1)),
        (6, ack(30, 1)),
        (7, ack(30, 1)),
        (1001, ack(40, 1)),
    ];
    let mut path = Path::new(&direction(json), 1);
    assert!(path.tells_flows_apart() && path.thins_acks());
    let decisions = path.decisions(packets);
    let fates: Vec<_> = decisions.iter().map(|decision| decision.fate).collect();
    let at = |at| Fate::Deliver { at, copy: None };
    let (gone, sent) = (Fate::Thinned, at(1100));
    // The first found an opportunity at once; of equal ones, as a fast retransmission needs them, all are sent.
    let expected = [at(100), gone, gone, sent, sent, gone, sent, sent, at(2100)];
    assert_eq!(fates, expected);
    assert_eq!((path.tally().thinned, path.tally().in_flight(6)), (3, 0));
}

#[test]
fn what_waits_for_an_opportunity_crosses_into_the_next_course() {
    let thinning = r#"{"delay_ns": 100, "aggregation": {"every_ns": 1000, "thin_acks": true}}"#;
    for next in [thinning, r#"{"delay_ns": 100}"#] {
        let mut before = Path::new(&direction(thinning), 1);
        for (ticket, number) in [10, 20].into_iter().enumerate() {
            before.offer(300, Party::Own, ack(number, 1), ticket);
        }
        assert_eq!(before.next(300, |_, _| true), None);
        // It is certain what becomes of them when the opportunity is over.
        assert_eq!(before.deadline(), Some(1001));
        let mut path = Path::new(&direction(next), 1);
        path.follow(before, 400);
        assert_eq!(path.deadline(), Some(601));
        let rest = std::iter::from_fn(|| path.next(601, |_, _| true));
        let fates: Vec<_> = rest.map(|decision| decision.fate).collect();
        assert_eq!(fates, [Fate::Thinned, Fate::Deliver { at: 700, copy: None }]);
        assert_eq!((path.tally().packets_in, path.tally().thinned), (0, 0));
    }
}

#[test]
fn cross_traffic_meets_the_same_policer() {
    let json = r#"{"policer": {"bps": 12000000, "burst_bytes": 1500}}"#;
    let mut path = Path::new(&direction(json), 1);
    assert_ne!(common::cross(&mut path, 0, tcp(1500)), Fate::Policed);
    path.offer(0, Party::Own, tcp(1500), 1);
    assert_eq!(path.next(0, |_, _| true).unwrap().fate, Fate::Policed);
    assert_eq!((path.tally().policed, path.cross_tally().policed), (1, 0));
}

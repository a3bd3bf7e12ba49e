//! Cross traffic: it shares the queue and the rate, and nothing else.

mod common;

use common::{MS, direction, tcp};
use h123_link::*;
use proptest::prelude::*;

/// A kilobyte a millisecond, and room for three.
const NARROW: &str = r#"{"rate": {"bps": 8000000}, "queue": {"bytes": 3000}, "delay_ns": 1000}"#;

#[test]
fn packets_wait_behind_those_that_cross_and_find_the_queue_full_of_them() {
    let mut path = Path::new(&direction(NARROW), 1);
    let at = |fate| common::delivery(fate);
    assert_eq!(at(common::cross(&mut path, 0, tcp(1000))), Some(MS + 1000));
    assert_eq!(at(common::own(&mut path, 0, tcp(1000))), Some(2 * MS + 1000));
    assert_eq!(at(common::cross(&mut path, 0, tcp(1000))), Some(3 * MS + 1000));
    assert_eq!(common::own(&mut path, 0, tcp(1000)), Fate::QueueDropped);
    assert_eq!(common::cross(&mut path, 0, tcp(1000)), Fate::QueueDropped);
    let count = |tally: Tally| (tally.packets_in, tally.delivered, tally.queue_dropped);
    assert_eq!(count(path.tally()), (2, 1, 1));
    assert_eq!(count(path.cross_tally()), (3, 2, 1));
}

#[test]
fn what_packets_wait_for_the_rate_is_told_of_the_links_own_alone() {
    let mut path = Path::new(&direction(NARROW), 1);
    let waits = |tally: Tally| (tally.passed, tally.waited_ns, tally.longest_wait_ns);
    assert_eq!(waits(path.tally()), (0, 0, 0));
    common::own(&mut path, 0, tcp(1000));
    common::cross(&mut path, 0, tcp(1000));
    common::own(&mut path, 0, tcp(500));
    // The queue has room for no more than these, and drops the next; a later one finds it empty.
    common::own(&mut path, 0, tcp(1000));
    common::own(&mut path, 9 * MS, tcp(250));
    assert_eq!(waits(path.tally()), (3, MS + 5 * MS / 2 + MS / 4, 5 * MS / 2));
    assert_eq!(waits(path.cross_tally()), (0, 0, 0));
}

#[test]
fn what_waits_when_a_course_ends_is_ahead_of_the_next_one() {
    let course = || {
        let mut path = Path::new(&direction(NARROW), 1);
        common::cross(&mut path, 0, tcp(1000));
        common::cross(&mut path, 0, tcp(1000));
        common::own(&mut path, 0, tcp(1000));
        path
    };
    // Half a packet, and two whole ones, are left.
    let mut path = Path::new(&direction(NARROW), 1);
    path.follow(course(), MS / 2);
    assert_eq!(common::own(&mut path, 0, tcp(1000)), Fate::QueueDropped);
    let at = common::delivery(common::own(&mut path, MS / 2, tcp(1000)));
    assert_eq!(at, Some(5 * MS / 2 + MS + 1000));
    assert_eq!(path.tally().packets_in, 2);
    // Nothing is left of one that has come to rest.
    let mut later = Path::new(&direction(NARROW), 1);
    later.follow(course(), 3 * MS);
    assert_eq!(common::delivery(common::own(&mut later, 0, tcp(1000))), Some(MS + 1000));
}

#[test]
fn a_course_begins_with_the_tokens_that_cross_traffic_has_left() {
    for (json, refused) in [
        (r#"{"policer": {"bps": 8000000, "burst_bytes": 4000}}"#, Fate::Policed),
        (r#"{"udp": {"limit": 8000000}}"#, Fate::Blocked { reject: false }),
    ] {
        // A kilobyte a millisecond; what 4 ms or 100 ms have saved is gone within the first.
        let course = |offer: fn(&mut Path, u64, Packet) -> Fate| {
            let mut path = Path::new(&direction(json), 1);
            for now in 0..200 {
                offer(&mut path, now * MS / 200, common::udp(1000));
            }
            path
        };
        let follow = |before: Path| {
            let mut path = Path::new(&direction(json), 1);
            path.follow(before, MS * 199 / 200);
            [0, 0, MS, MS].map(|now| common::own(&mut path, now, common::udp(1000)))
        };
        let passes = |at| Fate::Deliver { at, copy: None };
        let drained = [refused, refused, passes(MS), refused];
        assert_eq!(follow(course(common::cross)), drained, "{json}");
        // What the link's own hosts did before leaves no trace.
        assert_eq!(follow(course(common::own))[..2], [passes(0), passes(0)], "{json}");
    }
}

#[test]
fn what_waits_in_a_managed_queue_arrives_with_its_delay_and_in_order() {
    let json = r#"{"rate": {"bps": 8000000}, "queue": {"codel": {}}, "delay_ns": 5000000}"#;
    let mut before = Path::new(&direction(json), 1);
    for ticket in 0..3 {
        before.offer(0, Party::Cross, tcp(1000), ticket);
    }
    let first = before.next(0, |_, _| true).unwrap();
    assert_eq!(common::delivery(first.fate), Some(6 * MS));
    let mut path = Path::new(&direction(json), 1);
    path.follow(before, MS / 2);
    let rest = std::iter::from_fn(|| path.next(u64::MAX, |_, _| true));
    let at: Vec<_> = rest.filter_map(|decision| common::delivery(decision.fate)).collect();
    assert_eq!(at, [2 * MS - MS / 2 + 5 * MS, 3 * MS - MS / 2 + 5 * MS]);
}

#[test]
fn it_is_lost_as_often_as_any_but_not_together_with_them() {
    let lossy = direction(r#"{"loss": {"random": 0.1}}"#);
    let mut path = Path::new(&lossy, 7);
    let both = (0..10_000).map(|i| {
        let own = common::own(&mut path, i, tcp(100)) == Fate::Lost;
        (own, common::cross(&mut path, i, tcp(100)) == Fate::Lost)
    });
    let both: Vec<(bool, bool)> = both.collect();
    let count = |which: fn(&(bool, bool)) -> bool| both.iter().filter(|pair| which(pair)).count();
    let (low, high) = binomial_interval(10_000, 0.1, 0.9999);
    for lost in [count(|pair| pair.0), count(|pair| pair.1)] {
        assert!((low..=high).contains(&(lost as u64)), "{lost}");
    }
    // Independent: a hundredth of all pairs.
    let (low, high) = binomial_interval(10_000, 0.01, 0.9999);
    let together = count(|pair| pair.0 && pair.1) as u64;
    assert!((low..=high).contains(&together), "{together}");
}

#[test]
fn the_packets_that_are_listed_as_lost_are_none_of_it() {
    let listed = r#"{"loss": {"random": 1.0}, "changes": [
        {"at_ns": 1, "loss": {"bytes": [100]}}, {"at_ns": 2, "loss": {"packets": [4]}}]}"#;
    let mut path = Path::new(&direction(listed), 1);
    let lost: Vec<(bool, bool)> = [0, 1, 1, 2, 2, 2]
        .map(|now| {
            let crosses = common::cross(&mut path, now, tcp(100)) == Fate::Lost;
            (crosses, common::own(&mut path, now, tcp(100)) == Fate::Lost)
        })
        .to_vec();
    let (neither, own) = ((false, false), (false, true));
    assert_eq!(lost, [(true, true), neither, own, neither, own, neither]);
}

proptest! {
    /// Where nothing has to wait, what crosses changes nothing; and with a rate it changes when packets come, and which
    /// find room, but never which of them are lost.
    #[test]
    fn it_changes_no_packets_luck(
        seed in any::<u64>(),
        packets in prop::collection::vec((0..2 * MS, any::<bool>()), 1..200),
        narrow in any::<bool>(),
    ) {
        let luck = r#""loss": {"random": 0.3}, "duplicate": 0.1, "delay_ns": 5000, "jitter": {"spread_ns": 4000, "distribution": "uniform"}"#;
        let rate = r#", "rate": {"bps": 8000000}, "queue": {"bytes": 100000000}"#;
        let direction = direction(&format!("{{{luck}{}}}", if narrow { rate } else { "" }));
        let (mut alone, mut crossed) = (Path::new(&direction, seed), Path::new(&direction, seed));
        let mut now = 0;
        for (gap, crosses) in packets {
            now += gap;
            if crosses {
                common::cross(&mut crossed, now, tcp(1000));
                continue;
            }
            let (one, other) = (common::own(&mut alone, now, tcp(1000)), common::own(&mut crossed, now, tcp(1000)));
            prop_assert_eq!(one == Fate::Lost, other == Fate::Lost);
            if !narrow {
                prop_assert_eq!(one, other);
            }
            prop_assert!(common::delivery(one) <= common::delivery(other));
        }
        prop_assert_eq!(alone.tally().drop_set(), crossed.tally().drop_set());
    }
}

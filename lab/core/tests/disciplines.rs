//! Queues that are managed: what no discipline may do, and what each does where its RFC says what to expect.

mod common;

use common::{MS, direction, tcp};
use h123_link::*;
use proptest::prelude::*;

const S: u64 = 1000 * MS;

/// 10 Mbit/s without anything else: a full packet takes 1.2 ms.
fn narrow(queue: &str) -> Direction {
    direction(&format!(r#"{{"rate": {{"bps": 10000000}}, "queue": {queue}}}"#))
}

/// Full packets of a flow, one each `gap` ns.
fn steady(flow: u32, gap: u64, until: u64) -> Vec<(u64, Packet)> {
    let packet = Packet { flow, ..tcp(1500) };
    (0..until / gap).map(|i| (i * gap, packet)).collect()
}

fn drops(decisions: &[Decision]) -> Vec<usize> {
    let dropped = decisions.iter().enumerate();
    let dropped = dropped.filter(|(_, decision)| decision.fate == Fate::QueueDropped);
    dropped.map(|(index, _)| index).collect()
}

#[test]
fn codel_lets_a_burst_pass_and_drops_from_a_standing_queue() {
    // 80 packets at once are gone within the interval of 100 ms.
    let codel = narrow(r#"{"codel": {}}"#);
    let burst = vec![(0, tcp(1500)); 80];
    assert!(drops(&Path::new(&codel, 1).decisions(burst)).is_empty());
    // 25 % more than the rate for a second: the first drop is at the head, and one interval after 5 ms were exceeded.
    let stream = steady(0, 960_000, S);
    let mut path = Path::new(&codel, 1);
    let decisions = path.decisions(stream.iter().copied());
    let dropped = drops(&decisions);
    assert!(dropped.len() >= 10, "{dropped:?}");
    let first = stream[dropped[0]].0;
    assert!((100 * MS..160 * MS).contains(&first), "{first}");
    // The gaps between drops shrink with the square root of their number (RFC 8289, section 5.3).
    let gaps: Vec<_> = dropped.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps[0] > 2 * gaps[gaps.len() - 1], "{gaps:?}");
}

#[test]
fn what_can_be_marked_is_marked_instead() {
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        let mut stream = steady(0, 960_000, S);
        stream.iter_mut().for_each(|(_, packet)| packet.ecn = ecn);
        let marking = narrow(r#"{"codel": {"ecn": true}}"#);
        let decisions = Path::new(&marking, 1).decisions(stream.clone());
        assert!(drops(&decisions).is_empty());
        assert!(decisions.iter().any(|decision| decision.marked));
        let dropping = narrow(r#"{"codel": {}}"#);
        let decisions = Path::new(&dropping, 1).decisions(stream);
        assert!(decisions.iter().all(|decision| !decision.marked));
        assert!(!drops(&decisions).is_empty());
    }
    let threshold = narrow(r#"{"codel": {"target_ns": 1000000000, "ce_threshold_ns": 3000000}}"#);
    let mut burst = vec![(0, tcp(1500)); 10];
    burst.iter_mut().for_each(|(_, packet)| packet.ecn = Ecn::Ect1);
    let decisions = Path::new(&threshold, 1).decisions(burst);
    let marked: Vec<_> = decisions.iter().map(|decision| decision.marked).collect();
    // The first waits for nothing, each of the others 1.2 ms longer.
    assert_eq!(marked, (0..10).map(|i| i * 1200 > 3000).collect::<Vec<_>>());
}

#[test]
fn fq_codel_shares_the_rate_and_lets_new_flows_first() {
    let direction = narrow(r#"{"fq_codel": {}}"#);
    let (greedy, modest) = (1 << 22, 1 << 30);
    let mut packets = steady(greedy, 500_000, S);
    packets.extend(steady(modest, 10 * MS, S));
    packets.sort_by_key(|packet| packet.0);
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    for (&(now, packet), decision) in packets.iter().zip(&decisions) {
        if packet.flow == modest {
            let at = common::delivery(decision.fate).expect("a flow below its share loses nothing");
            // Its own packet, and the one that is being sent.
            assert!(at - now <= 2_400_000, "{at} {now}");
        }
    }
    // Two that always have packets get a half each.
    let mut packets = steady(greedy, 700_000, S);
    packets.extend(steady(modest, 600_000, S));
    packets.sort_by_key(|packet| packet.0);
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    let by = |flow| {
        let both = packets.iter().zip(&decisions);
        let sent = both.filter(|((_, packet), decision)| {
            packet.flow == flow && common::delivery(decision.fate).is_some_and(|at| at < S)
        });
        sent.count() as f64
    };
    assert!((by(greedy) / by(modest) - 1.0).abs() < 0.02);
}

#[test]
fn a_token_bucket_sends_a_burst_at_once_and_then_its_rate() {
    let shaped = direction(r#"{"rate": {"bps": 8000000, "burst_bytes": 15000}, "queue": {"packets": 1000}}"#);
    let decisions = Path::new(&shaped, 1).decisions(vec![(0, tcp(1500)); 30]);
    let at: Vec<_> = decisions.iter().map(|d| common::delivery(d.fate).unwrap()).collect();
    assert_eq!(at[..10], [0; 10]);
    for (i, at) in at[10..].iter().enumerate() {
        let due = (i as u64 + 1) * 3 * MS / 2;
        assert!(at.abs_diff(due) <= 1, "{i}: {at}");
    }
    // What waits for tokens counts against the limit.
    let small = direction(r#"{"rate": {"bps": 8000000, "burst_bytes": 1500}, "queue": {"packets": 2}}"#);
    let decisions = Path::new(&small, 1).decisions(vec![(0, tcp(1500)); 5]);
    assert_eq!(drops(&decisions), [3, 4]);
}

#[test]
fn what_waits_in_a_managed_queue_is_ahead_of_the_next_course() {
    let direction = narrow(r#"{"fq_codel": {}}"#);
    let mut before = Path::new(&direction, 1);
    for ticket in 0..3 {
        before.offer(0, Party::Cross, tcp(1500), ticket);
    }
    assert_eq!(before.next(0, |_, _| true).unwrap().ticket, 0);
    assert_eq!(before.deadline(), Some(1_200_000));
    let mut path = Path::new(&direction, 1);
    path.follow(before, 200_000);
    path.offer(0, Party::Own, tcp(1500), 9);
    assert_eq!(path.next(0, |_, _| true), None);
    let later: Vec<_> = std::iter::from_fn(|| path.next(u64::MAX, |_, _| true)).collect();
    let tickets: Vec<_> = later.iter().map(|decision| decision.ticket).collect();
    assert_eq!(tickets, [1, 2, 9]);
    assert_eq!(common::delivery(later[2].fate), Some(1_000_000 + 3 * 1_200_000));
    assert_eq!((path.tally().packets_in, path.cross_tally().packets_in), (1, 0));
}

#[test]
fn a_queue_at_rest_has_forgotten_an_earlier_course() {
    for queue in [
        r#"{"codel": {}}"#,
        r#"{"fq_codel": {}}"#,
        r#"{"pie": {}}"#,
        r#"{"fq_pie": {}}"#,
        r#"{"red": {"limit": 200000, "avpkt": 1000, "bandwidth_bps": 10000000, "min": 16666, "max": 50000, "burst": 28, "probability": 0.02}}"#,
        r#"{"dualpi2": {}}"#,
        r#"{"cake": {}}"#,
    ] {
        let direction = narrow(queue);
        let burst = || steady(0, 300_000, 300 * MS);
        let alone = Path::new(&direction, 1).decisions(burst());
        assert!(!drops(&alone).is_empty(), "{queue}");
        let mut before = Path::new(&direction, 1);
        before.decisions(steady(0, 400_000, 500 * MS));
        let mut path = Path::new(&direction, 1);
        path.follow(before, 5 * S);
        assert!(path.decisions(burst()) == alone, "{queue}");
    }
}

fn any_queue() -> impl Strategy<Value = Queue> {
    let codel = (1u32..200, 1024u64..20 * MS, 1024u64..200 * MS, any::<bool>(), prop::option::of(0..50 * MS));
    codel.prop_flat_map(|(limit, target_ns, interval_ns, ecn, ce_threshold_ns)| {
        let codel = CodelParameters { limit, target_ns, interval_ns, ecn, ce_threshold_ns };
        let fq = (1u32..8, 256u32..4000, 1u32..70).prop_map(move |(flows, quantum, drop_batch)| {
            Queue::FqCodel(FqCodelParameters {
                limit,
                flows,
                quantum,
                target_ns,
                interval_ns,
                ecn,
                ce_threshold_ns,
                drop_batch,
            })
        });
        let pie = PieParameters { limit, target_ns, tupdate_ns: interval_ns + MS, ecn, ..PieParameters::default() };
        let pie = (any::<bool>(), any::<bool>()).prop_map(move |(bytemode, dq_rate_estimator)| PieParameters {
            bytemode,
            dq_rate_estimator,
            ..pie
        });
        let fq_pie = (1u32..8, 256u32..4000, 0u32..=100).prop_map(move |(flows, quantum, ecn_prob)| {
            Queue::FqPie(FqPieParameters {
                limit,
                flows,
                quantum,
                target_ns,
                tupdate_ns: interval_ns + MS,
                ecn,
                ecn_prob,
                ..FqPieParameters::default()
            })
        });
        let red = (2u32..20, 1u32..20, 1u32..20, 0.01..0.99, any::<[bool; 3]>());
        let red = red.prop_map(move |(min, span, more, probability, [harddrop, nodrop, adaptive])| {
            Queue::Red(RedParameters {
                limit: limit * 1500,
                min: min * 500,
                max: (min + span) * 500,
                avpkt: 500,
                burst: min + more,
                probability,
                bandwidth_bps: 10_000_000,
                ecn,
                harddrop,
                nodrop: ecn && nodrop,
                adaptive,
            })
        });
        let isolation = prop_oneof![Just(Isolation::Flows), Just(Isolation::TripleIsolate)];
        let cake = isolation.prop_map(move |isolation| {
            Queue::Cake(CakeParameters { rtt_ns: interval_ns, memlimit: Some(4096 + limit * 300), isolation })
        });
        prop_oneof![
            cake,
            Just(Queue::Codel(codel)),
            fq,
            Just(Queue::Packets(limit.into())),
            pie.prop_map(Queue::Pie),
            fq_pie,
            red,
        ]
    })
}

fn any_direction() -> impl Strategy<Value = Direction> {
    let bps = 100_000u64..1_000_000_000;
    let rate = (bps, prop::option::of(1500u64..100_000)).prop_map(|(bps, burst)| match burst {
        Some(burst_bytes) => Rate::Bucket { bps, burst_bytes },
        None => Rate::Constant { bps },
    });
    let random = prop::option::of((0.0..0.3).prop_map(Loss::Random));
    (rate, any_queue(), random, 0u64..20 * MS).prop_map(|(rate, queue, loss, delay_ns)| Direction {
        rate: Some(rate),
        queue: Some(queue),
        loss,
        delay_ns,
        ..Direction::default()
    })
}

fn any_packets() -> impl Strategy<Value = Vec<(u64, Packet)>> {
    let gap = prop_oneof![3 => Just(0u64), 3 => 0u64..2 * MS, 1 => 0..100 * MS];
    let packet = (gap, 40u32..=1500, 0u32..6, 0u8..4);
    prop::collection::vec(packet, 1..400).prop_map(|packets| {
        let mut now = 0;
        let place = |(gap, bytes, flow, ecn)| {
            now += gap;
            let packet = Packet { bytes, flow: flow << 29, ecn: Ecn::of_traffic_class(ecn), ..Packet::default() };
            (now, packet)
        };
        packets.into_iter().map(place).collect()
    })
}

proptest! {
    /// Nothing is lost from view, nothing comes early, a flow keeps its order, and only what may be marked is.
    #[test]
    fn every_packet_has_one_fate(direction in any_direction(), seed: u64, packets in any_packets()) {
        let mut path = Path::new(&direction, seed);
        let decisions = path.decisions(packets.iter().copied());
        prop_assert_eq!(decisions.len(), packets.len());
        prop_assert_eq!(&decisions, &Path::new(&direction, seed).decisions(packets.iter().copied()));
        let tally = path.tally();
        prop_assert_eq!(tally.in_flight(tally.delivered), 0);
        prop_assert_eq!(tally.marked, decisions.iter().filter(|d| d.marked).count() as u64);
        let mut latest = std::collections::HashMap::new();
        for (&(now, packet), decision) in packets.iter().zip(&decisions) {
            prop_assert!(!decision.marked || packet.ecn != Ecn::NotEct);
            if let Some(at) = common::delivery(decision.fate) {
                prop_assert!(at >= now + direction.delay_ns);
                let before = latest.insert(packet.flow, at).unwrap_or(0);
                prop_assert!(at >= before, "a flow's packets have changed places");
            }
        }
    }

    /// Asked early or late, at each deadline or now and then: the decisions are the same.
    #[test]
    fn decisions_hang_on_arrivals_alone(direction in any_direction(), packets in any_packets(), asks: u8) {
        let expected = Path::new(&direction, 1).decisions(packets.iter().copied());
        let mut path = Path::new(&direction, 1);
        let mut decisions = vec![];
        for (ticket, &(now, packet)) in packets.iter().enumerate() {
            while asks & 1 == 0 && path.deadline().is_some_and(|at| at < now) {
                let at = path.deadline().unwrap();
                let decision = path.next(at, |_, _| true);
                prop_assert!(decision.is_some() || path.deadline() != Some(at), "a deadline without a decision or another deadline");
                decisions.extend(decision);
            }
            path.offer(now, Party::Own, packet, ticket);
        }
        decisions.extend(std::iter::from_fn(|| path.next(u64::MAX, |_, _| true)));
        decisions.sort_unstable_by_key(|decision| decision.ticket);
        prop_assert_eq!(decisions, expected);
    }

    /// No more leaves in any time than the rate can send, and what a bucket has saved.
    #[test]
    fn never_beyond_the_rate(direction in any_direction(), packets in any_packets()) {
        let bare = Direction { loss: None, delay_ns: 0, ..direction };
        let (bps, saved) = match bare.rate {
            Some(Rate::Bucket { bps, burst_bytes }) => (bps, burst_bytes),
            Some(Rate::Constant { bps }) => (bps, 1500),
            _ => unreachable!(),
        };
        let decisions = Path::new(&bare, 1).decisions(packets.iter().copied());
        let sent = packets.iter().zip(&decisions);
        let mut sent: Vec<_> = sent.filter_map(|(p, d)| Some((common::delivery(d.fate)?, p.1.bytes))).collect();
        sent.sort_unstable();
        for begin in 0..sent.len().min(20) {
            let mut bytes = 0;
            for (number, &(at, more)) in sent[begin..].iter().enumerate() {
                bytes += u64::from(more);
                // CAKE rounds each packet's time down.
                let rounded = if matches!(bare.queue, Some(Queue::Cake(_))) { number as u64 } else { 0 };
                let most = saved as f64 + (at - sent[begin].0 + 2 + rounded) as f64 * bps as f64 / 8e9 * (1.0 + 1e-6);
                prop_assert!(bytes as f64 <= most + 1.0, "{bytes} bytes, at most {most}");
            }
        }
    }
}

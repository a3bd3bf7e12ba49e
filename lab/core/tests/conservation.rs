//! What holds for every direction, every seed and all packets.

mod common;

use common::direction;
use common::generators::{any_direction, any_packets};
use h123_link::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_packet_is_accounted_for(direction in any_direction(), seed: u64, packets in any_packets()) {
        prop_assert_eq!(direction.validate(), Ok(()));
        let mut path = Path::new(&direction, seed);
        let mut seen = [0u64; 8];
        for &(now, packet) in &packets {
            match common::own(&mut path, now, packet) {
                Fate::Deliver { at, copy } => {
                    prop_assert!(at >= now);
                    prop_assert!(copy.is_none_or(|copy| copy >= at));
                    seen[0] += 1;
                    seen[1] += u64::from(copy.is_some());
                }
                Fate::Lost => seen[2] += 1,
                Fate::QueueDropped => seen[3] += 1,
                Fate::Blocked { .. } => seen[4] += 1,
                Fate::Policed => seen[5] += 1,
                Fate::TooLarge { .. } => seen[6] += 1,
                Fate::Thinned => seen[7] += 1,
            }
        }
        let tally = path.tally();
        prop_assert_eq!(tally.packets_in, packets.len() as u64);
        prop_assert_eq!(tally.packets_in, packets.len() as u64 - tally.in_flight(tally.delivered));
        let tallied = [
            tally.delivered, tally.duplicated, tally.lost, tally.queue_dropped, tally.blocked, tally.policed, tally.too_large,
            tally.thinned,
        ];
        prop_assert_eq!(tallied, seen);
        prop_assert!(tally.bytes_delivered <= tally.bytes_in);
    }

    #[test]
    fn the_same_seed_gives_the_same_fates(direction in any_direction(), seed: u64, packets in any_packets()) {
        let (mut one, mut other) = (Path::new(&direction, seed), Path::new(&direction, seed));
        for &(now, packet) in &packets {
            prop_assert_eq!(common::own(&mut one, now, packet), common::own(&mut other, now, packet));
        }
        prop_assert_eq!(one.tally().drop_set(), other.tally().drop_set());
    }

    #[test]
    fn order_is_kept_unless_jitter_or_reordering_says_otherwise(
        mut direction in any_direction(), seed: u64, packets in any_packets(),
    ) {
        direction.reorder = None;
        if let Some(jitter) = &mut direction.jitter {
            jitter.keep_order = true;
        }
        if let Some(again) = &mut direction.retransmission {
            again.in_order = true;
        }
        let fates = common::fates(&direction, seed, &packets);
        let deliveries: Vec<u64> = fates.into_iter().filter_map(common::delivery).collect();
        prop_assert!(deliveries.is_sorted());
    }

    /// Without a rate packets do not wait for one another: another size, and even a fate of its own, of one packet
    /// leaves all others as they were, with their losses, copies, jitter and reordering.
    #[test]
    fn one_packet_does_not_touch_the_luck_of_others(
        mut direction in any_direction(), seed: u64, packets in any_packets(),
        changed: prop::sample::Index, bytes in 20u32..=1500,
    ) {
        (direction.rate, direction.queue) = (None, None);
        direction.changes.iter_mut().for_each(|change| change.rate = None);
        // Under a policer or a limit of UDP they do: what passes leaves less for those behind it.
        (direction.udp, direction.policer) = (Udp::Pass, None);
        direction.changes.iter_mut().for_each(|change| change.udp = None);
        let jitter = Jitter { spread_ns: 50_000, distribution: Distribution::Normal, keep_order: false };
        direction.jitter = Some(jitter);
        // What waits for a packet that the link layer sends again depends on it.
        if let Some(again) = &mut direction.retransmission {
            again.in_order = false;
        }
        let changed = changed.index(packets.len());
        let mut others = packets.clone();
        others[changed].1 = Packet { bytes, udp: !packets[changed].1.udp, ..Packet::default() };
        let mut before = common::fates(&direction, seed, &packets);
        let mut after = common::fates(&direction, seed, &others);
        before.remove(changed);
        after.remove(changed);
        prop_assert_eq!(before, after);
    }

    /// A packet is thinned out if and only if a later acknowledgement of its flow, which says as much and more, waits for the
    /// same opportunity. Nothing changes for the others.
    #[test]
    fn only_acknowledgements_that_a_later_one_replaces_are_thinned_out(
        seed: u64, every_ns in 1u64..5_000_000, packets in any_packets(),
    ) {
        let acks = |(now, packet): (u64, Packet)| {
            let ack = Ack {
                number: packet.bytes.wrapping_add(u32::MAX - 700),
                ecn: (packet.bytes & 64) as u8,
                says_more: packet.bytes % 5 == 0,
            };
            (now, Packet { flow: packet.bytes % 2, ack: (!packet.udp).then_some(ack), ..packet })
        };
        let packets: Vec<_> = packets.into_iter().map(acks).collect();
        let mut direction = direction(r#"{"rate": {"bps": 50000000}, "queue": {"bytes": 20000}, "loss": {"random": 0.1}, "duplicate": 0.1}"#);
        let mut decide = |thin_acks| {
            direction.aggregation = Some(AggregationParameters { every_ns, spread_ns: every_ns / 2, thin_acks });
            let mut path = Path::new(&direction, seed);
            (path.decisions(packets.clone()), path.tally())
        };
        let ((thinned, tally), (plain, _)) = (decide(true), decide(false));
        direction.loss = None;
        let sent = Path::new(&direction, seed).decisions(packets.clone());
        let replaces = |later: usize, earlier: usize| {
            let ((_, one), (_, other)) = (packets[later], packets[earlier]);
            let together = common::delivery(sent[later].fate).is_some_and(|at| common::delivery(sent[earlier].fate) == Some(at));
            let more = |one: Ack, other: Ack| {
                one.number.wrapping_sub(other.number).wrapping_sub(1) < 1 << 30 && one.ecn == other.ecn && !other.says_more
            };
            together && one.flow == other.flow && one.ack.zip(other.ack).is_some_and(|(one, other)| more(one, other))
        };
        for place in 0..packets.len() {
            let expected = match (place + 1..packets.len()).any(|later| replaces(later, place)) {
                true => Fate::Thinned,
                false => plain[place].fate,
            };
            prop_assert_eq!(thinned[place].fate, expected, "{}", place);
        }
        let out = thinned.iter().filter(|decision| decision.fate == Fate::Thinned).count() as u64;
        prop_assert_eq!((tally.thinned, tally.in_flight(tally.delivered)), (out, 0));
        prop_assert_eq!(tally.packets_in, tally.delivered + tally.lost + tally.queue_dropped + out);
    }

    /// The extents that RFC 4737 defines, from the deliveries: with the first that came of those sent later.
    #[test]
    fn reordered_packets_are_counted_by_how_far(
        mut direction in any_direction(), seed: u64, packets in any_packets(),
    ) {
        direction.reorder = Some(Reorder { share: 0.2, ahead_ns: 1_000_000 });
        let packets: Vec<_> = packets.into_iter().map(|(now, packet)| (now, Packet { flow: packet.bytes % 3, ..packet })).collect();
        let mut path = Path::new(&direction, seed);
        let decisions = path.decisions(packets.clone());
        let [mut near, mut far] = [0; 2];
        for flow in 0..3 {
            let mut came: Vec<(u64, usize)> = decisions
                .iter()
                .filter(|decision| packets[decision.ticket].1.flow == flow)
                .filter_map(|decision| Some((common::delivery(decision.fate)?, decision.ticket)))
                .collect();
            came.sort_unstable();
            for (place, (_, number)) in came.iter().enumerate() {
                match came[..place].iter().position(|(_, other)| other > number) {
                    Some(first) if place - first >= 3 => far += 1,
                    Some(_) => near += 1,
                    None => {}
                }
            }
        }
        let tally = path.tally();
        prop_assert_eq!((tally.reordered_near, tally.reordered_far), (near, far));
    }

    /// In any window no more UDP passes than its limit allows and what 100 ms, or a full packet, have saved.
    #[test]
    fn no_window_passes_more_udp_than_its_limit(bps in 1_000u64..100_000_000, packets in any_packets()) {
        let direction = Direction { udp: Udp::Limit(bps), ..Direction::default() };
        let passed: Vec<(u64, u64)> = common::fates(&direction, 1, &packets)
            .into_iter()
            .zip(&packets)
            .filter(|(fate, (_, packet))| packet.udp && common::delivery(*fate).is_some())
            .map(|(_, (at, packet))| (*at, u64::from(packet.bytes) * 8))
            .collect();
        let saved = (bps / 10).max(12_000);
        for first in 0..passed.len() {
            let mut bits = 0;
            for (at, more) in &passed[first..] {
                bits += more;
                let allowed = u128::from(bps) * u128::from(at - passed[first].0) / 1_000_000_000;
                // Each packet's time is rounded down to a nanosecond.
                let rounded = 2 + passed.len() as u128 * u128::from(bps) / 1_000_000_000;
                prop_assert!(u128::from(bits) <= allowed + u128::from(saved) + rounded);
            }
        }
    }

    /// On a link without delay a delivery is a departure. In any window that begins with one, the packets after it
    /// have at most the rate's bits (departures are rounded up to a nanosecond, so a window may be short of one).
    #[test]
    fn no_window_carries_more_than_the_rate_and_one_packet(bps in 100_000u64..5_000_000_000, packets in any_packets()) {
        let direction = Direction { rate: Some(Rate::Constant { bps }), ..Direction::default() };
        let departures: Vec<(u64, u32)> = common::fates(&direction, 1, &packets)
            .into_iter()
            .zip(&packets)
            .map(|(fate, (_, packet))| (common::delivery(fate).unwrap(), packet.bytes))
            .collect();
        for begin in 0..departures.len() {
            let mut bits = 0u128;
            for &(departure, bytes) in &departures[begin + 1..] {
                bits += u128::from(bytes) * 8;
                let window = u128::from(departure - departures[begin].0 + 1);
                prop_assert!(bits * 1_000_000_000 <= u128::from(bps) * window);
            }
        }
    }

    /// Work conservation: a constant rate with a backlog from time zero is as fast as it says, to the nanosecond.
    #[test]
    fn a_backlog_leaves_at_the_rate(bps in 1_000u64..20_000_000_000, sizes in prop::collection::vec(1u32..=65_535, 1..300)) {
        let direction = Direction { rate: Some(Rate::Constant { bps }), ..Direction::default() };
        let mut path = Path::new(&direction, 1);
        let mut bits = 0u128;
        for bytes in sizes {
            bits += u128::from(bytes) * 8;
            let departure = common::delivery(common::own(&mut path, 0, common::tcp(bytes))).unwrap();
            prop_assert_eq!(u128::from(departure), (bits * 1_000_000_000).div_ceil(u128::from(bps)));
        }
    }

    /// A trace against its own definition, opportunity by opportunity.
    #[test]
    fn a_trace_serves_as_defined(
        gaps in prop::collection::vec(0u64..5, 1..8), opportunity in 100u32..3000, packets in any_packets(),
    ) {
        let mut trace_ms: Vec<u64> = gaps.iter().scan(0, |sum, gap| { *sum += gap; Some(*sum) }).collect();
        trace_ms.push(trace_ms.last().unwrap() + 1);
        let expected = opportunity_by_opportunity(&trace_ms, opportunity, &packets);
        let rate = Some(Rate::Trace { trace_ms, opportunity_bytes: opportunity });
        let direction = Direction { rate, ..Direction::default() };
        let fates = common::fates(&direction, 1, &packets);
        prop_assert_eq!(fates.into_iter().filter_map(common::delivery).collect::<Vec<_>>(), expected);
    }

    /// A queue in bytes never holds more than its limit, and refuses only what would exceed it.
    #[test]
    fn a_queue_is_filled_up_to_its_limit(limit in 1500u64..20_000, packets in any_packets()) {
        let json = format!(r#"{{"rate": {{"bps": 5000000}}, "queue": {{"bytes": {limit}}}}}"#);
        let mut path = Path::new(&direction(&json), 1);
        let mut admitted: Vec<(u64, u64)> = Vec::new();
        for &(now, packet) in &packets {
            let bytes = u64::from(packet.bytes);
            let held: u64 = admitted.iter().filter(|(departure, _)| *departure > now).map(|(_, bytes)| bytes).sum();
            match common::own(&mut path, now, packet) {
                Fate::Deliver { at, .. } => {
                    prop_assert!(held + bytes <= limit);
                    admitted.push((at, bytes));
                }
                fate => {
                    prop_assert_eq!(fate, Fate::QueueDropped);
                    prop_assert!(held + bytes > limit);
                }
            }
        }
    }
}

fn opportunity_by_opportunity(trace_ms: &[u64], opportunity: u32, packets: &[(u64, Packet)]) -> Vec<u64> {
    let period = *trace_ms.last().unwrap();
    let mut times = (0..).flat_map(|round| trace_ms.iter().map(move |ms| (round * period + ms) * common::MS));
    let (mut time, mut left) = (times.next().unwrap(), opportunity);
    let mut departures = Vec::new();
    for &(now, packet) in packets {
        let mut bytes = packet.bytes;
        while time < now || left < bytes {
            if time >= now {
                bytes -= left;
            }
            (time, left) = (times.next().unwrap(), opportunity);
        }
        left -= bytes;
        departures.push(time);
    }
    departures
}

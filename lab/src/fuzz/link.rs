//! Any valid direction and any packets: no panic, every packet accounted for, order kept, never beyond the rate, the queue
//! never over its limit, and the same again with the same seed.

use std::collections::VecDeque;

use h123_link::{Ack, Change, Decision, Direction, Ecn, EcnPolicy, Fate, IpPolicy, Packet, Path, Queue, Rate};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::directions::any_direction;
use super::fuzz;
use super::numbers::any_number;

const NS_PER_MS: u64 = 1_000_000;
/// Of which a rate of n bit/s does n each nanosecond.
const WORK_PER_BYTE: i128 = 8_000_000_000;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct LinkCase {
    direction: Direction,
    seed: u64,
    /// When, how many bytes, whether UDP.
    packets: Vec<(u64, u32, bool)>,
}

impl LinkCase {
    /// The packets as a path takes them: of several flows, some of them ECN-capable.
    fn offered(&self) -> impl Iterator<Item = (u64, Packet)> {
        self.packets.iter().map(|&(now, bytes, udp)| {
            let flow = flow(bytes);
            let ecn = Ecn::of_traffic_class(bytes as u8);
            let packet = Packet {
                bytes,
                udp,
                ipv6: flow & 1 == 1,
                flow,
                ecn,
                ack: (!udp).then_some(Ack { number: now as u32, ecn: bytes as u8 & 0xc0, says_more: bytes & 1 == 1 }),
            };
            (now, packet)
        })
    }
}

fn flow(bytes: u32) -> u32 {
    bytes.wrapping_mul(2_654_435_761)
}

fn any_case() -> impl Strategy<Value = LinkCase> {
    (any_direction(), any::<u64>(), any_packets()).prop_map(|(direction, seed, packets)| LinkCase {
        direction,
        seed,
        packets,
    })
}

/// Mostly in order and close together, now and then anywhere.
fn any_packets() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let gap = prop_oneof![4 => Just(0), 8 => 0..2_000_000u64, 2 => 0..1_000_000_000u64, 1 => any_number()];
    let bytes = prop_oneof![4 => 20..=1500u32, 1 => 0..=65_535u32];
    let back = prop::bool::weighted(0.02);
    let packet = (gap, bytes, any::<bool>(), back);
    prop::collection::vec(packet, 0..40).prop_map(|packets| {
        let mut now = 0u64;
        let place = |(gap, bytes, udp, back): (u64, u32, bool, bool)| {
            now = if back { now.saturating_sub(gap) } else { now.saturating_add(gap) };
            (now, bytes, udp)
        };
        packets.into_iter().map(place).collect()
    })
}

fn test(case: &LinkCase) {
    case.direction.validate().expect("a valid direction");
    everything_is_accounted_for(case);
    before_events(case);
    // Where nothing is lost or delayed, a delivery is a departure.
    let mut bare = case.clone();
    bare.direction = Direction {
        rate: case.direction.rate.clone(),
        queue: case.direction.queue,
        changes: case.direction.changes.iter().filter_map(only_rate).collect(),
        ..Direction::default()
    };
    if bare.direction.changes.is_empty() && bare.direction.rate.is_none() {
        bare.direction.queue = None;
    }
    let drop_tail = matches!(bare.direction.queue, None | Some(Queue::Bytes(_) | Queue::Packets(_) | Queue::Ns(_)));
    if !drop_tail || matches!(bare.direction.rate, Some(Rate::Bucket { .. })) {
        // What holds of these is in the core's own tests (disciplines.rs).
        return;
    }
    let departures = depart(&bare);
    never_beyond_the_rate(&bare.direction, &departures);
    never_over_the_queue(&bare, &departures);
}

fn only_rate(change: &Change) -> Option<Change> {
    let rate = Some(change.rate.clone()?);
    Some(Change { at_ns: change.at_ns, rate, ..Change::default() })
}

fn everything_is_accounted_for(case: &LinkCase) {
    let (mut path, mut again) = (Path::new(&case.direction, case.seed), Path::new(&case.direction, case.seed));
    let in_order = case.direction.reorder.is_none()
        && case.direction.retransmission.is_none_or(|r| r.in_order)
        && case.direction.jitter.is_none_or(|j| j.keep_order)
        && !matches!(
            case.direction.queue,
            Some(Queue::DualPi2(_) | Queue::FqCodel(_) | Queue::FqPie(_) | Queue::Cake(_))
        );
    let (mut latest_now, mut latest) = (0, 0);
    let [mut delivered, mut copies, mut lost, mut dropped, mut blocked, mut policed, mut too_large, mut thinned] =
        [0u64; 8];
    let decisions = path.decisions(case.offered());
    assert_eq!(decisions, again.decisions(case.offered()), "another fate with the same seed");
    let waiting = (case.packets.len() - decisions.len()) as u64;
    for Decision { ticket, fate, .. } in decisions {
        let (now, bytes, udp) = case.packets[ticket];
        latest_now = now.max(latest_now);
        match fate {
            Fate::Deliver { at, copy } => {
                assert!(at >= latest_now, "delivered before it came");
                assert!(!in_order || at >= latest, "delivered before its predecessor");
                assert!(copy.is_none_or(|copy| copy == at));
                latest = at;
                delivered += 1;
                copies += u64::from(copy.is_some());
            }
            Fate::Lost => lost += 1,
            Fate::QueueDropped => dropped += 1,
            Fate::Blocked { .. } => {
                let direction = &case.direction;
                let ipv6 = flow(bytes) & 1 == 1;
                let policy = if ipv6 { direction.ipv6 } else { direction.ipv4 };
                let drops = policy != IpPolicy::Pass || direction.ecn == EcnPolicy::Drop;
                blocked += u64::from(udp || drops);
            }
            Fate::Policed => policed += 1,
            Fate::TooLarge { .. } => too_large += 1,
            Fate::Thinned => thinned += 1,
        }
    }
    let tally = path.tally();
    let counted = [
        tally.delivered,
        tally.duplicated,
        tally.lost,
        tally.queue_dropped,
        tally.blocked,
        tally.policed,
        tally.too_large,
        tally.thinned,
    ];
    assert_eq!(counted, [delivered, copies, lost, dropped, blocked, policed, too_large, thinned]);
    assert!(tally.reordered_near + tally.reordered_far <= delivered);
    assert_eq!(tally.packets_in, case.packets.len() as u64);
    // At the end of all time some still wait for tokens.
    assert_eq!(tally.packets_in, delivered + lost + dropped + blocked + policed + too_large + thinned + waiting);
    assert_eq!(tally.drop_set(), again.tally().drop_set());
}

/// The direction as it is at first is valid too, and does the same until something happens.
fn before_events(case: &LinkCase) {
    let direction = &case.direction;
    let calm = direction.before_events();
    calm.validate().expect("still valid");
    let (mut path, mut before) = (Path::new(direction, case.seed), Path::new(&calm, case.seed));
    let first_change = direction.changes.first().map_or(u64::MAX, |c| c.at_ns);
    let first = direction.blackouts.first().map_or(first_change, |b| b.from_ns.min(first_change));
    let offered: Vec<_> = case.offered().filter(|(_, packet)| packet.bytes <= 1500).collect();
    let pairs = path.decisions(offered.clone()).into_iter().zip(before.decisions(offered));
    for (one, other) in pairs.map(|(one, other)| (one.fate, other.fate)) {
        // When the later of the two would have left is not known where a packet is lost: then all that follow may differ.
        let Fate::Deliver { at, .. } = one else { break };
        if at >= first {
            break;
        }
        assert_eq!(one, other, "events act before their time");
    }
}

/// Arrival and departure of each packet; none if the queue had no room for it.
fn depart(case: &LinkCase) -> Vec<(u64, u32, Option<u64>)> {
    let mut path = Path::new(&case.direction, case.seed);
    let mut latest = 0;
    let decisions = path.decisions(case.offered()).into_iter();
    let offered = case.packets.iter().zip(decisions).map(|(&(now, bytes, _), decision)| {
        latest = now.max(latest);
        match decision.fate {
            Fate::Deliver { at, .. } => (latest, bytes, Some(at)),
            Fate::QueueDropped => (latest, bytes, None),
            fate => panic!("{fate:?} on a path that has nothing but a rate and a queue"),
        }
    });
    offered.collect()
}

/// From any departure to any later one, the packets after the first need no more than what the rate can do meanwhile, the
/// ends included.
fn never_beyond_the_rate(direction: &Direction, departures: &[(u64, u32, Option<u64>)]) {
    let rates = Rates::of(direction);
    // Work so far, less what could have been done before: the least seen.
    let (mut work, mut least) = (0i128, None::<i128>);
    for &(_, bytes, departure) in departures {
        let Some(at) = departure.filter(|&at| at < u64::MAX) else {
            continue;
        };
        work += i128::from(bytes) * WORK_PER_BYTE;
        if let Some(least) = least {
            let beyond = work - rates.done_by(at, true) - least;
            assert!(beyond <= 0, "beyond the rate at {at} ns");
        }
        if at >= rates.begin() {
            let from_here = work - rates.done_by(at, false);
            least = Some(least.map_or(from_here, |least| least.min(from_here)));
        }
    }
}

/// Rates and when each comes into force.
struct Rates(Vec<(u64, Rate)>);

impl Rates {
    fn of(direction: &Direction) -> Self {
        let first = direction.rate.iter().map(|rate| (0, rate.clone()));
        let later = direction.changes.iter();
        let later = later.filter_map(|change| Some((change.at_ns, change.rate.clone()?)));
        let mut all: Vec<_> = first.chain(later).collect();
        // A change at time zero comes before any packet.
        if all.get(1).is_some_and(|second| second.0 == 0) {
            all.remove(0);
        }
        Self(all)
    }

    /// From when on there is a rate.
    fn begin(&self) -> u64 {
        self.0.first().map_or(u64::MAX, |first| first.0)
    }

    /// Work that can be done until `at`, this moment included or not.
    fn done_by(&self, at: u64, included: bool) -> i128 {
        let ends = self.0.iter().skip(1).map(|next| next.0).chain([u64::MAX]);
        let parts = self.0.iter().zip(ends).filter(|((from, _), _)| *from <= at);
        let done = |((from, rate), end): (&(u64, Rate), u64)| {
            if end <= at {
                done_within(rate, end - from, false, true)
            } else {
                done_within(rate, at - from, included, included)
            }
        };
        parts.map(done).sum()
    }
}

/// In so many nanoseconds since the rate came into force: with the opportunities of the last moment or without, and with
/// what is done in the last nanosecond, to whose end departures are rounded up, or without.
fn done_within(rate: &Rate, ns: u64, opportunities: bool, nanosecond: bool) -> i128 {
    match rate {
        Rate::Constant { bps } | Rate::Bucket { bps, .. } => {
            let whole = if nanosecond { ns } else { ns.saturating_sub(1) };
            i128::from(*bps) * i128::from(whole)
        }
        Rate::Trace { trace_ms, opportunity_bytes } => {
            let period = trace_ms[trace_ms.len() - 1];
            let ms = if opportunities { Some(ns / NS_PER_MS) } else { ns.div_ceil(NS_PER_MS).checked_sub(1) };
            let Some(ms) = ms else { return 0 };
            let (rounds, rest) = (ms / period, ms % period);
            let in_last = trace_ms.iter().filter(|&&time| time <= rest).count();
            let all = i128::from(rounds) * trace_ms.len() as i128 + in_last as i128;
            all * i128::from(*opportunity_bytes) * WORK_PER_BYTE
        }
    }
}

/// What is admitted finds room within the limit, and what is refused does not.
fn never_over_the_queue(case: &LinkCase, departures: &[(u64, u32, Option<u64>)]) {
    let mut waiting: VecDeque<(u64, u64)> = VecDeque::new();
    let mut free_at = 0;
    for &(now, bytes, departure) in departures {
        while waiting.front().is_some_and(|first| first.0 <= now) {
            waiting.pop_front();
        }
        let held: u64 = waiting.iter().map(|one| one.1).sum();
        let room = match case.direction.queue {
            None => true,
            Some(Queue::Bytes(limit)) => held + u64::from(bytes) <= limit,
            Some(Queue::Packets(limit)) => (waiting.len() as u64) < limit,
            Some(Queue::Ns(limit)) => free_at.max(now) - now <= limit,
            Some(_) => unreachable!("not drop-tail"),
        };
        assert_eq!(departure.is_some(), room, "at {now} ns {held} bytes waited");
        if let Some(departure) = departure {
            waiting.push_back((departure, u64::from(bytes)));
            free_at = departure;
        }
    }
}

#[test]
fn links() {
    fuzz("link", 4000, any_case(), test);
}

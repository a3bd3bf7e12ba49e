//! Any valid direction of a link.

use h123_link::{
    AggregationParameters, Blackout, Change, Direction, Distribution, EcnPolicy, GilbertElliott, IpPolicy, Jitter,
    LONGEST_NS, Loss, Mtu, PolicerParameters, Queue, Rate, Reorder, Retransmission, Udp,
};
use proptest::prelude::*;

use super::numbers::{LARGEST, share, up_to};
use super::queues::any_queue;

const NS_PER_MS: u64 = 1_000_000;

pub fn any_direction() -> impl Strategy<Value = Direction> {
    let sending = (prop::option::of(any_rate()), prop::option::of(any_queue()));
    let hurting = (prop::option::of(any_loss()), prop::collection::vec((any_time(), any_time()), 0..3), share());
    let travelling = (
        any_time(),
        prop::option::of(any_jitter()),
        prop::option::of(any_reorder()),
        prop::option::of(any_retransmission()),
    );
    let entering = (
        (any_udp(), any_ip_policy(), any_ip_policy()),
        prop::option::of(any_policer()),
        any_ecn_policy(),
        prop::option::of(any_mtu()),
    );
    let grouping = prop::option::of(any_aggregation());
    let changes = prop::collection::vec(any_change(), 0..4);
    (sending, hurting, travelling, entering, grouping, changes).prop_map(
        |(
            (rate, queue),
            (loss, blackouts, duplicate),
            (delay_ns, jitter, reorder, retransmission),
            ((udp, ipv4, ipv6), policer, ecn, mtu),
            aggregation,
            changes,
        )| {
            let direction = Direction {
                rate,
                queue,
                loss,
                blackouts: in_order(blackouts),
                duplicate,
                delay_ns,
                jitter,
                reorder,
                retransmission,
                udp,
                ipv4,
                ipv6,
                policer,
                ecn,
                mtu,
                aggregation,
                changes,
            };
            made_valid(direction)
        },
    )
}

/// Of a few seconds mostly.
fn any_time() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 4 => 0..5_000_000_000u64, 4 => 0..5_000_000u64, 1 => up_to(LONGEST_NS)]
}

fn any_rate() -> impl Strategy<Value = Rate> {
    let gaps = prop::collection::vec(0..20u64, 1..8);
    let bytes = prop_oneof![3 => 200..4000u32, 1 => any::<u32>()];
    let trace = (gaps, 1..=20u64, prop::bool::weighted(0.05), bytes).prop_map(|(gaps, last, slow, bytes)| {
        let factor = if slow { LONGEST_NS / NS_PER_MS / 200 } else { 1 };
        let mut at = 0;
        let step = |gap: u64| {
            at += gap * factor;
            at
        };
        Rate::Trace { trace_ms: gaps.into_iter().chain([last]).map(step).collect(), opportunity_bytes: bytes.max(1) }
    });
    let bps = prop_oneof![3 => 1_000..2_000_000_000u64, 1 => up_to(LARGEST).prop_map(|n| n.max(1))];
    let bucket = (bps.clone(), prop_oneof![1500..20_000u64, up_to(LARGEST).prop_map(|n| n.max(1500))])
        .prop_map(|(bps, burst_bytes)| Rate::Bucket { bps: bps.max(8), burst_bytes });
    prop_oneof![4 => bps.prop_map(|bps| Rate::Constant { bps }), 2 => trace, 1 => bucket]
}

fn any_loss() -> impl Strategy<Value = Loss> {
    let chain = (share(), share(), share(), share()).prop_map(|(p, r, loss_good, loss_bad)| GilbertElliott {
        p,
        r: r.max(f64::MIN_POSITIVE),
        loss_good,
        loss_bad,
    });
    prop_oneof![
        share().prop_map(Loss::Random),
        chain.prop_map(Loss::GilbertElliott),
        prop::collection::vec(0..50u64, 0..8).prop_map(Loss::Packets),
        prop::collection::vec(0..50_000u64, 0..8).prop_map(Loss::Bytes),
        prop::collection::vec(up_to(LARGEST), 0..3).prop_map(Loss::Packets),
    ]
}

fn any_jitter() -> impl Strategy<Value = Jitter> {
    let distribution = prop_oneof![Just(Distribution::Uniform), Just(Distribution::Normal)];
    (any_time(), distribution, any::<bool>()).prop_map(|(spread_ns, distribution, keep_order)| Jitter {
        spread_ns,
        distribution,
        keep_order,
    })
}

fn any_reorder() -> impl Strategy<Value = Reorder> {
    (share(), any_time()).prop_map(|(share, ahead_ns)| Reorder { share, ahead_ns: ahead_ns.max(1) })
}

fn any_retransmission() -> impl Strategy<Value = Retransmission> {
    (share(), any_time(), any::<bool>()).prop_map(|(share, delay_ns, in_order)| Retransmission {
        share,
        delay_ns: delay_ns.max(1),
        in_order,
    })
}

fn any_udp() -> impl Strategy<Value = Udp> {
    let limit = (1u64..1_000_000_000).prop_map(Udp::Limit);
    prop_oneof![4 => Just(Udp::Pass), 1 => Just(Udp::Drop), 1 => Just(Udp::Reject), 1 => limit]
}

fn any_ip_policy() -> impl Strategy<Value = IpPolicy> {
    use IpPolicy::*;
    prop_oneof![4 => Just(Pass), 1 => Just(Drop), 1 => Just(Reject)]
}

fn any_policer() -> impl Strategy<Value = PolicerParameters> {
    let bps = prop_oneof![3 => 1_000..1_000_000_000u64, 1 => up_to(LARGEST).prop_map(|n| n.max(1))];
    (bps, 1_500..=u32::MAX).prop_map(|(bps, burst_bytes)| PolicerParameters { bps, burst_bytes })
}

fn any_ecn_policy() -> impl Strategy<Value = EcnPolicy> {
    prop_oneof![
        4 => Just(EcnPolicy::Pass),
        1 => Just(EcnPolicy::Bleach),
        1 => Just(EcnPolicy::Mark),
        1 => Just(EcnPolicy::Swap),
        1 => Just(EcnPolicy::Drop),
    ]
}

fn any_mtu() -> impl Strategy<Value = Mtu> {
    (576..=2_000u32, any::<bool>()).prop_map(|(bytes, silent)| Mtu { bytes, silent })
}

fn any_aggregation() -> impl Strategy<Value = AggregationParameters> {
    (1..=1_000_000_000u64, share(), any::<bool>()).prop_map(|(every_ns, part, thin_acks)| AggregationParameters {
        every_ns,
        spread_ns: (every_ns as f64 * part) as u64,
        thin_acks,
    })
}

fn any_change() -> impl Strategy<Value = Change> {
    (
        any_time(),
        prop::option::of(any_time()),
        prop::option::of(any_rate()),
        prop::option::of(any_loss()),
        prop::option::of(any_udp()),
        prop::option::of(any_mtu()),
    )
        .prop_map(|(at_ns, delay_ns, rate, loss, udp, mtu)| Change {
            mtu,
            at_ns,
            delay_ns,
            rate,
            loss,
            udp: udp.or(Some(Udp::Pass)),
        })
}

fn in_order(mut spans: Vec<(u64, u64)>) -> Vec<Blackout> {
    spans.sort_unstable();
    let mut end = 0;
    let mut blackouts = vec![];
    for (from_ns, long) in spans {
        let to_ns = from_ns.saturating_add(long).min(LONGEST_NS);
        if from_ns >= end && from_ns < to_ns {
            blackouts.push(Blackout { from_ns, to_ns });
            end = to_ns;
        }
    }
    blackouts
}

/// What fields demand of one another.
fn made_valid(mut direction: Direction) -> Direction {
    let changes = &mut direction.changes;
    changes.sort_by_key(|change| change.at_ns);
    changes.dedup_by_key(|change| change.at_ns);
    // A token bucket does not change, and knows no limit of time.
    let is_bucket = |rate: &Option<Rate>| matches!(rate, Some(Rate::Bucket { .. }));
    let bucket = is_bucket(&direction.rate);
    changes.retain(|change| !is_bucket(&change.rate) && (!bucket || change.rate.is_none()));
    if bucket && matches!(direction.queue, Some(Queue::Ns(_))) {
        direction.queue = None;
    }
    if matches!(direction.queue, Some(Queue::Cake(_))) {
        changes.retain(|change| change.rate.is_none());
        if let Some(Rate::Constant { bps }) = &mut direction.rate {
            *bps = (*bps).max(512);
        }
    }
    if direction.rate.is_none() && changes.iter().all(|change| change.rate.is_none()) {
        direction.queue = None;
    }
    let delays = || changes.iter().filter_map(|change| change.delay_ns).chain([direction.delay_ns]);
    let (least, most) = (delays().min().unwrap_or(0), delays().max().unwrap_or(0));
    if let Some(jitter) = &mut direction.jitter {
        jitter.spread_ns = jitter.spread_ns.min(least);
    }
    direction.reorder = direction.reorder.filter(|_| most > 0);
    direction
}

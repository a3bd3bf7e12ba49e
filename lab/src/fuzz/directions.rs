//! Any valid direction of a link.

use h123_link::{
    AggregationParameters, Blackout, CakeParameters, Change, CodelParameters, Direction,
    Distribution, DualPi2Parameters, EcnPolicy, FqCodelParameters, FqPieParameters, GilbertElliott,
    IpPolicy, Isolation, Jitter, LONGEST_NS, Loss, Mtu, PieParameters, PolicerParameters, Queue,
    Rate, RedParameters, Reorder, Udp,
};
use proptest::prelude::*;

use super::numbers::{share, up_to};

const LARGEST: u64 = 1_000_000_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

pub fn any_direction() -> impl Strategy<Value = Direction> {
    let sending = (prop::option::of(any_rate()), prop::option::of(any_queue()));
    let hurting = (
        prop::option::of(any_loss()),
        prop::collection::vec((any_time(), any_time()), 0..3),
        share(),
    );
    let travelling = (
        any_time(),
        prop::option::of(any_jitter()),
        prop::option::of(any_reorder()),
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
            (delay_ns, jitter, reorder),
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
    let trace = (gaps, 1..=20u64, prop::bool::weighted(0.05), bytes).prop_map(
        |(gaps, last, slow, bytes)| {
            let factor = if slow {
                LONGEST_NS / NS_PER_MS / 200
            } else {
                1
            };
            let mut at = 0;
            let step = |gap: u64| {
                at += gap * factor;
                at
            };
            Rate::Trace {
                trace_ms: gaps.into_iter().chain([last]).map(step).collect(),
                opportunity_bytes: bytes.max(1),
            }
        },
    );
    let bps = prop_oneof![3 => 1_000..2_000_000_000u64, 1 => up_to(LARGEST).prop_map(|n| n.max(1))];
    let bucket = (
        bps.clone(),
        prop_oneof![1500..20_000u64, up_to(LARGEST).prop_map(|n| n.max(1500))],
    )
        .prop_map(|(bps, burst_bytes)| Rate::Bucket {
            bps: bps.max(8),
            burst_bytes,
        });
    prop_oneof![4 => bps.prop_map(|bps| Rate::Constant { bps }), 2 => trace, 1 => bucket]
}

/// Boxed, because a test's stack is small for the whole of a direction.
fn any_queue() -> BoxedStrategy<Queue> {
    let codel = any_codel().prop_map(Queue::Codel);
    let fq = (any_codel(), 1..2000u32, 256..4000u32, any::<u32>());
    let fq = fq.prop_map(|(codel, flows, quantum, drop_batch)| {
        Queue::FqCodel(FqCodelParameters {
            limit: codel.limit,
            flows,
            quantum,
            target_ns: codel.target_ns,
            interval_ns: codel.interval_ns,
            ecn: codel.ecn,
            ce_threshold_ns: codel.ce_threshold_ns,
            drop_batch: drop_batch.max(1),
        })
    });
    prop_oneof![
        (1500..50_000u64).prop_map(Queue::Bytes),
        (1..20u64).prop_map(Queue::Packets),
        (0..50_000_000u64).prop_map(Queue::Ns),
        up_to(LARGEST).prop_map(|n| Queue::Bytes(n.max(1500))),
        up_to(LARGEST).prop_map(|n| Queue::Packets(n.max(1))),
        up_to(LONGEST_NS).prop_map(Queue::Ns),
        codel,
        fq,
        any_pie().prop_map(Queue::Pie),
        any_fq_pie().prop_map(Queue::FqPie),
        any_dualpi2().prop_map(Queue::DualPi2),
        any_red().prop_map(Queue::Red),
        any_cake().prop_map(Queue::Cake),
    ]
    .boxed()
}

fn any_cake() -> impl Strategy<Value = CakeParameters> {
    let rtt_ns = prop_oneof![3 => 1000..500_000_000u64, 1 => 1000..=1u64 << 41];
    let memlimit = prop::option::of(prop_oneof![3 => 4096..50_000u32, 1 => 4096..=u32::MAX]);
    let isolation = prop_oneof![Just(Isolation::Flows), Just(Isolation::TripleIsolate)];
    (rtt_ns, memlimit, isolation).prop_map(|(rtt_ns, memlimit, isolation)| CakeParameters {
        rtt_ns,
        memlimit,
        isolation,
    })
}

fn any_pie() -> impl Strategy<Value = PieParameters> {
    let limit = prop_oneof![3 => 1..20u32, 1 => 1..=u32::MAX];
    let target_ns = prop_oneof![3 => 1000..50_000_000u64, 1 => 1000..=1u64 << 41];
    let tupdate_ns = prop_oneof![3 => 1_000_000..50_000_000u64, 1 => 1_000_000..=1u64 << 41];
    let law = (target_ns, tupdate_ns, 0..=32u32, 0..=32u32);
    let ways = (any::<bool>(), any::<bool>(), any::<bool>());
    (limit, law, ways).prop_map(
        |(limit, (target_ns, tupdate_ns, alpha, beta), (ecn, bytemode, dq_rate_estimator))| {
            PieParameters {
                limit,
                target_ns,
                tupdate_ns,
                alpha,
                beta,
                ecn,
                bytemode,
                dq_rate_estimator,
            }
        },
    )
}

fn any_fq_pie() -> impl Strategy<Value = FqPieParameters> {
    (any_pie(), 1..2000u32, 256..4000u32, 0..=100u32).prop_map(|(pie, flows, quantum, ecn_prob)| {
        FqPieParameters {
            limit: pie.limit,
            flows,
            quantum,
            target_ns: pie.target_ns,
            tupdate_ns: pie.tupdate_ns,
            alpha: pie.alpha,
            beta: pie.beta,
            ecn: pie.ecn,
            ecn_prob,
            bytemode: pie.bytemode,
            dq_rate_estimator: pie.dq_rate_estimator,
        }
    })
}

/// A burst a little above `min / avpkt` suits nearly all.
fn any_dualpi2() -> impl Strategy<Value = DualPi2Parameters> {
    let times = (
        0..=u64::from(u32::MAX),
        1_000_000..1u64 << 41,
        0..=u64::from(u32::MAX),
    );
    let gains = (1..1u32 << 31, 1..1u32 << 31, 1..=255u8);
    let rest = (1..2000u32, any::<bool>(), 0..=100u8);
    (times, gains, rest).prop_map(
        |(
            (target_ns, tupdate_ns, step_thresh_ns),
            (alpha, beta, coupling_factor),
            (limit, drop_overload, classic_protection),
        )| DualPi2Parameters {
            limit,
            target_ns,
            tupdate_ns,
            alpha,
            beta,
            coupling_factor,
            step_thresh_ns,
            drop_overload,
            classic_protection,
        },
    )
}

fn any_red() -> impl Strategy<Value = RedParameters> {
    let thresholds = (1..50_000u32, 1..50_000u32, 100..1500u32, 1..50u32);
    let limit = prop_oneof![1500..100_000u32, 1500..=u32::MAX];
    let numbers = (limit, 0.001..0.999f64, 1000..2_000_000_000u64);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (thresholds, numbers, flags).prop_filter_map(
        "parameters that do not work together",
        |(
            (min, span, avpkt, more),
            (limit, probability, bandwidth_bps),
            (ecn, harddrop, nodrop, adaptive),
        )| {
            let red = RedParameters {
                limit,
                min,
                max: min + span,
                avpkt,
                burst: min / avpkt + more,
                probability,
                bandwidth_bps,
                ecn,
                harddrop,
                nodrop: ecn && nodrop,
                adaptive,
            };
            let direction = Direction {
                rate: Some(Rate::Constant { bps: 1 }),
                queue: Some(Queue::Red(red)),
                ..Direction::default()
            };
            direction.validate().is_ok().then_some(red)
        },
    )
}

fn any_codel() -> impl Strategy<Value = CodelParameters> {
    let time = || prop_oneof![3 => 1024..50_000_000u64, 1 => 1024..=1u64 << 41];
    let limit = prop_oneof![3 => 1..20u32, 1 => 1..=u32::MAX];
    let ce_threshold_ns = prop::option::of(0..=1u64 << 41);
    (limit, time(), time(), any::<bool>(), ce_threshold_ns).prop_map(
        |(limit, target_ns, interval_ns, ecn, ce_threshold_ns)| CodelParameters {
            limit,
            target_ns,
            interval_ns,
            ecn,
            ce_threshold_ns,
        },
    )
}

fn any_loss() -> impl Strategy<Value = Loss> {
    let chain = (share(), share(), share(), share()).prop_map(|(p, r, loss_good, loss_bad)| {
        GilbertElliott {
            p,
            r: r.max(f64::MIN_POSITIVE),
            loss_good,
            loss_bad,
        }
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
    (any_time(), distribution, any::<bool>()).prop_map(|(spread_ns, distribution, keep_order)| {
        Jitter {
            spread_ns,
            distribution,
            keep_order,
        }
    })
}

fn any_reorder() -> impl Strategy<Value = Reorder> {
    (share(), any_time()).prop_map(|(share, ahead_ns)| Reorder {
        share,
        ahead_ns: ahead_ns.max(1),
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
    (1..=1_000_000_000u64, share()).prop_map(|(every_ns, part)| AggregationParameters {
        every_ns,
        spread_ns: (every_ns as f64 * part) as u64,
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
    let delays = || {
        changes
            .iter()
            .filter_map(|change| change.delay_ns)
            .chain([direction.delay_ns])
    };
    let (least, most) = (delays().min().unwrap_or(0), delays().max().unwrap_or(0));
    if let Some(jitter) = &mut direction.jitter {
        jitter.spread_ns = jitter.spread_ns.min(least);
    }
    direction.reorder = direction.reorder.filter(|_| most > 0);
    direction
}

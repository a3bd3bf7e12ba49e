//! Any valid queue of a direction.

use h123_link::{
    CakeParameters, CodelParameters, Direction, DualPi2Parameters, FqCodelParameters, FqPieParameters, Isolation,
    LONGEST_NS, PieParameters, Queue, Rate, RedParameters,
};
use proptest::prelude::*;

use super::numbers::{LARGEST, up_to};

/// Boxed, because a test's stack is small for the whole of a direction.
pub fn any_queue() -> BoxedStrategy<Queue> {
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
    (limit, law, ways).prop_map(|(limit, (target_ns, tupdate_ns, alpha, beta), (ecn, bytemode, dq_rate_estimator))| {
        PieParameters { limit, target_ns, tupdate_ns, alpha, beta, ecn, bytemode, dq_rate_estimator }
    })
}

fn any_fq_pie() -> impl Strategy<Value = FqPieParameters> {
    (any_pie(), 1..2000u32, 256..4000u32, 0..=100u32).prop_map(|(pie, flows, quantum, ecn_prob)| FqPieParameters {
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
    })
}

/// A burst a little above `min / avpkt` suits nearly all.
fn any_dualpi2() -> impl Strategy<Value = DualPi2Parameters> {
    let times = (0..=u64::from(u32::MAX), 1_000_000..1u64 << 41, 0..=u64::from(u32::MAX));
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
        |((min, span, avpkt, more), (limit, probability, bandwidth_bps), (ecn, harddrop, nodrop, adaptive))| {
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

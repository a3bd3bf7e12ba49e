//! Any direction, and any packets.
#![allow(dead_code, reason = "each test program uses its own part of this")]

use h123_link::*;
use proptest::prelude::*;

/// Something of every stage, in any combination.
pub fn any_direction() -> impl Strategy<Value = Direction> {
    let bounded = (any_rate(), prop::option::of(any_queue())).prop_map(|(rate, queue)| (Some(rate), queue));
    let sending = prop_oneof![Just((None, None)), bounded];
    let hurting = (prop::option::of(any_loss()), prop::collection::vec(1u64..5_000_000, 0..3), 0.0..0.5);
    let travelling = (
        50_000u64..20_000_000,
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
    (sending, hurting, travelling, entering, grouping, any_changes()).prop_map(
        |(
            (rate, queue),
            (loss, gaps, duplicate),
            (delay_ns, jitter, reorder, retransmission),
            ((udp, ipv4, ipv6), policer, ecn, mtu),
            aggregation,
            changes,
        )| {
            Direction {
                rate,
                queue,
                loss,
                blackouts: blackouts(&gaps),
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
            }
        },
    )
}

fn any_rate() -> impl Strategy<Value = Rate> {
    let trace = (prop::collection::vec(0u64..20, 0..6), 1u64..20, 200u32..4000).prop_map(
        |(mut trace_ms, more, opportunity_bytes)| {
            trace_ms.sort_unstable();
            trace_ms.push(trace_ms.last().unwrap_or(&0) + more);
            Rate::Trace { trace_ms, opportunity_bytes }
        },
    );
    prop_oneof![(100_000u64..2_000_000_000).prop_map(|bps| Rate::Constant { bps }), trace]
}

fn any_queue() -> impl Strategy<Value = Queue> {
    prop_oneof![
        (1500u64..50_000).prop_map(Queue::Bytes),
        (1u64..40).prop_map(Queue::Packets),
        (0u64..50_000_000).prop_map(Queue::Ns),
    ]
}

fn any_loss() -> impl Strategy<Value = Loss> {
    let chain = (0.0..0.5, 0.05..=1.0, 0.0..0.2, 0.3..=1.0).prop_map(|(p, r, loss_good, loss_bad)| GilbertElliott {
        p,
        r,
        loss_good,
        loss_bad,
    });
    prop_oneof![
        (0.0..0.5).prop_map(Loss::Random),
        chain.prop_map(Loss::GilbertElliott),
        prop::collection::vec(0u64..200, 0..20).prop_map(Loss::Packets),
    ]
}

fn any_jitter() -> impl Strategy<Value = Jitter> {
    let distribution = prop_oneof![Just(Distribution::Uniform), Just(Distribution::Normal)];
    (0u64..50_000, distribution, any::<bool>()).prop_map(|(spread_ns, distribution, keep_order)| Jitter {
        spread_ns,
        distribution,
        keep_order,
    })
}

fn any_reorder() -> impl Strategy<Value = Reorder> {
    (0.0..0.5, 1u64..30_000_000).prop_map(|(share, ahead_ns)| Reorder { share, ahead_ns })
}

fn any_retransmission() -> impl Strategy<Value = Retransmission> {
    (0.0..0.5, 1u64..30_000_000, any::<bool>()).prop_map(|(share, delay_ns, in_order)| Retransmission {
        share,
        delay_ns,
        in_order,
    })
}

fn any_udp() -> impl Strategy<Value = Udp> {
    let limit = (1_000u64..50_000_000).prop_map(Udp::Limit);
    prop_oneof![3 => Just(Udp::Pass), 1 => Just(Udp::Drop), 1 => Just(Udp::Reject), 1 => limit]
}

fn any_ip_policy() -> impl Strategy<Value = IpPolicy> {
    use IpPolicy::*;
    prop_oneof![4 => Just(Pass), 1 => Just(Drop), 1 => Just(Reject)]
}

fn any_policer() -> impl Strategy<Value = PolicerParameters> {
    (100_000u64..100_000_000, 1_500u32..50_000).prop_map(|(bps, burst_bytes)| PolicerParameters { bps, burst_bytes })
}

fn any_ecn_policy() -> impl Strategy<Value = EcnPolicy> {
    use EcnPolicy::*;
    prop_oneof![3 => Just(Pass), 1 => Just(Bleach), 1 => Just(Mark), 1 => Just(Swap), 1 => Just(Drop)]
}

fn any_mtu() -> impl Strategy<Value = Mtu> {
    (576u32..1600, any::<bool>()).prop_map(|(bytes, silent)| Mtu { bytes, silent })
}

fn any_aggregation() -> impl Strategy<Value = AggregationParameters> {
    (1u64..10_000_000, 0.0..=1.0).prop_map(|(every_ns, part)| AggregationParameters {
        every_ns,
        spread_ns: (every_ns as f64 * part) as u64,
        thin_acks: false,
    })
}

fn any_changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (
        1u64..20_000_000,
        50_000u64..20_000_000,
        prop::option::of(any_rate()),
        prop::option::of(any_loss()),
        prop::option::of(any_udp()),
        prop::option::of(any_mtu()),
    );
    prop::collection::vec(change, 0..4).prop_map(|changes| {
        let mut at_ns = 0;
        let timed = changes.into_iter().map(|(gap, delay_ns, rate, loss, udp, mtu)| {
            at_ns += gap;
            Change { at_ns, delay_ns: Some(delay_ns), rate, loss, udp, mtu }
        });
        timed.collect()
    })
}

fn blackouts(gaps: &[u64]) -> Vec<Blackout> {
    let mut end = 0;
    let window = |gap: &u64| {
        let from_ns = end + gap;
        end = from_ns + gap / 2 + 1;
        Blackout { from_ns, to_ns: end }
    };
    gaps.iter().map(window).collect()
}

/// Packets with their arrivals, in bursts and with pauses.
pub fn any_packets() -> impl Strategy<Value = Vec<(u64, Packet)>> {
    let gap = prop_oneof![2 => Just(0u64), 2 => 0u64..200_000, 1 => 0u64..10_000_000];
    let packet = (gap, 20u32..=1500, any::<bool>(), any::<bool>());
    prop::collection::vec(packet, 1..200).prop_map(|packets| {
        let mut now = 0;
        let timed = packets.into_iter().map(|(gap, bytes, udp, ipv6)| {
            now += gap;
            (now, Packet { bytes, udp, ipv6, ..Packet::default() })
        });
        timed.collect()
    })
}

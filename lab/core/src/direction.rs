//! One direction of a link as `trial.json` writes it.

use serde::{Deserialize, Serialize};

use crate::parameters::{
    CakeParameters, CodelParameters, DualPi2Parameters, FqCodelParameters, FqPieParameters, PieParameters,
    RedParameters,
};

/// What a link does to the packets that travel one way. Everything is optional: the default passes
/// packets unchanged and at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Direction {
    /// How fast packets are served; absent: at once.
    pub rate: Option<Rate>,
    /// How many may wait for the rate; absent: any number.
    pub queue: Option<Queue>,
    pub loss: Option<Loss>,
    /// Drops what exceeds a rate, before the queue.
    pub policer: Option<PolicerParameters>,
    /// What happens to the ECN field, before the queue.
    pub ecn: EcnPolicy,
    /// Larger packets do not pass.
    pub mtu: Option<Mtu>,
    /// After the rate packets wait for an opportunity and leave together.
    pub aggregation: Option<AggregationParameters>,
    /// In order and apart.
    pub blackouts: Vec<Blackout>,
    /// Share of the delivered packets that arrive twice.
    pub duplicate: f64,
    /// One way.
    pub delay_ns: u64,
    pub jitter: Option<Jitter>,
    pub reorder: Option<Reorder>,
    pub retransmission: Option<Retransmission>,
    pub udp: Udp,
    /// All packets of an IP version, before everything else.
    pub ipv4: IpPolicy,
    pub ipv6: IpPolicy,
    /// In order of time.
    pub changes: Vec<Change>,
}

impl Direction {
    /// As it is before any blackout or change: without those, and without what only they give an effect to, a queue
    /// before a rate and an overtaking within a delay. Valid if this is.
    pub fn before_events(&self) -> Direction {
        Direction {
            queue: self.queue.filter(|_| self.rate.is_some()),
            reorder: self.reorder.filter(|_| self.delay_ns > 0),
            blackouts: vec![],
            changes: vec![],
            ..self.clone()
        }
    }

    /// Whether acknowledgements are thinned out.
    pub(crate) fn thins_acks(&self) -> bool {
        self.aggregation.is_some_and(|groups| groups.thin_acks)
    }

    /// Whether what becomes of a packet, or how it is counted, depends on its flow.
    pub(crate) fn tells_flows_apart(&self) -> bool {
        self.reorders() || self.thins_acks() || self.queue.is_some_and(Queue::tells_flows_apart)
    }

    /// Whether a loss model may lose a packet.
    pub(crate) fn may_lose(&self) -> bool {
        self.loss.is_some() || self.changes.iter().any(|change| change.loss.is_some())
    }

    /// Whether something other than losses and the queue depends on a packet's luck.
    pub(crate) fn needs_rare_draws(&self) -> bool {
        self.duplicate > 0.0 || self.jitter.is_some() || self.reorder.is_some() || self.retransmission.is_some()
    }

    /// Whether packets may arrive in another order than that in which they came, and be counted for it.
    pub(crate) fn reorders(&self) -> bool {
        self.reorder.is_some()
            || self.jitter.is_some_and(|jitter| !jitter.keep_order)
            || self.retransmission.is_some_and(|again| !again.in_order)
            || matches!(self.queue, Some(Queue::DualPi2(_)))
    }

    /// As the packets of cross traffic meet it: those that are listed as lost are the link's own.
    pub(crate) fn for_cross_traffic(&self) -> Direction {
        let mut direction = self.clone();
        let changes = direction.changes.iter_mut().map(|change| &mut change.loss);
        for loss in std::iter::once(&mut direction.loss).chain(changes) {
            if matches!(loss, Some(Loss::Packets(_) | Loss::Bytes(_))) {
                *loss = Some(Loss::Random(0.0));
            }
        }
        direction
    }
}

/// How fast packets are served. A packet's size is that of its IP packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "RateFields")]
pub enum Rate {
    Constant {
        bps: u64,
    },
    /// A token bucket: `burst_bytes` may be sent at once after a silence.
    Bucket {
        bps: u64,
        burst_bytes: u64,
    },
    /// A Mahimahi trace: at each of these milliseconds up to `opportunity_bytes` may depart; the trace
    /// repeats with the period of its last timestamp and begins when it comes into force.
    ///
    /// Packets share an opportunity while its bytes last, and a packet that is larger than what is left takes
    /// further opportunities and departs with the last of them. What is left of an opportunity serves
    /// packets that arrived no later than it; then it is gone.
    Trace {
        trace_ms: Vec<u64>,
        opportunity_bytes: u32,
    },
}

/// The fields of a [`Rate`] in the file, where the two kinds share one object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateFields {
    bps: Option<u64>,
    burst_bytes: Option<u64>,
    trace_ms: Option<Vec<u64>>,
    opportunity_bytes: Option<u32>,
}

/// Mahimahi's own size of a delivery opportunity.
const OPPORTUNITY_BYTES: u32 = 1500;

impl TryFrom<RateFields> for Rate {
    type Error = &'static str;

    fn try_from(fields: RateFields) -> Result<Self, Self::Error> {
        match fields {
            RateFields { bps: Some(bps), burst_bytes, trace_ms: None, opportunity_bytes: None } => {
                Ok(match burst_bytes {
                    Some(burst_bytes) => Rate::Bucket { bps, burst_bytes },
                    None => Rate::Constant { bps },
                })
            }
            RateFields { bps: None, burst_bytes: None, trace_ms: Some(trace_ms), opportunity_bytes } => {
                Ok(Rate::Trace { trace_ms, opportunity_bytes: opportunity_bytes.unwrap_or(OPPORTUNITY_BYTES) })
            }
            _ => Err(
                "a rate is {\"bps\": n}, {\"bps\": n, \"burst_bytes\": n} or {\"trace_ms\": [...], \"opportunity_bytes\": n}",
            ),
        }
    }
}

/// The limit of what may wait; a packet that would exceed it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// All packets in the queue and the arriving one.
    Bytes(u64),
    /// All packets in the queue and the arriving one.
    Packets(u64),
    /// Time until the arriving packet's service would begin.
    Ns(u64),
    Codel(CodelParameters),
    FqCodel(FqCodelParameters),
    Pie(PieParameters),
    FqPie(FqPieParameters),
    Red(RedParameters),
    #[serde(rename = "dualpi2")]
    DualPi2(DualPi2Parameters),
    Cake(CakeParameters),
}

impl Queue {
    /// Whether a discipline decides over it when a packet's turn comes.
    pub(crate) fn is_managed(self) -> bool {
        !matches!(self, Queue::Bytes(_) | Queue::Packets(_) | Queue::Ns(_))
    }

    /// Whether it has a queue for each flow.
    pub(crate) fn tells_flows_apart(self) -> bool {
        matches!(self, Queue::FqCodel(_) | Queue::FqPie(_) | Queue::Cake(_))
    }
}

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Each packet with this probability, independently.
    Random(f64),
    GilbertElliott(GilbertElliott),
    /// The packets with these indices, counted from 0 over all packets offered to the direction.
    Packets(Vec<u64>),
    /// The packets that carry these bytes, counted from 0 over all bytes offered to the direction while this is its loss.
    Bytes(Vec<u64>),
}

/// A two-state Markov chain that takes one step per packet and loses packets with its state's probability
/// (E. N. Gilbert, "Capacity of a burst-noise channel", 1960; E. O. Elliott, "Estimates of error rates for
/// codes on burst-noise channels", 1963). The first packet's state is drawn from the stationary distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability of a step from good to bad.
    pub p: f64,
    /// Probability of a step from bad to good.
    pub r: f64,
    #[serde(default)]
    pub loss_good: f64,
    #[serde(default = "always")]
    pub loss_bad: f64,
}

fn always() -> f64 {
    1.0
}

/// All packets that depart in `from_ns..to_ns` are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blackout {
    pub from_ns: u64,
    pub to_ns: u64,
}

/// A random addition to the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    pub spread_ns: u64,
    pub distribution: Distribution,
    /// A packet is never delivered before its predecessor. A direction without jitter always keeps order.
    #[serde(default = "kept")]
    pub keep_order: bool,
}

fn kept() -> bool {
    true
}

/// Of the jitter, around zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// From `-spread_ns` to `spread_ns`.
    Uniform,
    /// With `spread_ns` as its standard deviation; a delay below 0 is cut to 0.
    Normal,
}

/// A share of the packets travels faster, and may overtake even where order is kept for jitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    pub share: f64,
    /// Taken off the packet's delay, down to 0.
    pub ahead_ns: u64,
}

/// A share of the packets arrives later, because the link layer sends them again or another path carries them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retransmission {
    pub share: f64,
    pub delay_ns: u64,
    /// Later packets wait for it, as in LTE's acknowledged mode (3GPP TS 36.322); otherwise they overtake it.
    #[serde(default)]
    pub in_order: bool,
}

/// What happens to UDP packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Udp {
    #[default]
    Pass,
    Drop,
    /// As drop, and the sender is to be told (ICMP).
    Reject,
    /// So many bits a second pass, and what is more is dropped; what 100 ms pass, or a full packet, may come at once.
    Limit(u64),
}

/// What happens to the packets of an IP version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IpPolicy {
    #[default]
    Pass,
    Drop,
    /// As drop, and the sender is notified (ICMP port unreachable).
    Reject,
}

/// A token bucket without a queue: what exceeds it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicerParameters {
    pub bps: u64,
    /// What may come at once after a silence; never less than a full packet.
    pub burst_bytes: u32,
}

/// What happens to the ECN field of IP's header (RFC 3168; how QUIC should notice: RFC 9000, section 13.4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnPolicy {
    #[default]
    Pass,
    /// Every field becomes Not-ECT.
    Bleach,
    /// Every ECN-capable packet is marked with Congestion Experienced.
    Mark,
    /// ECT(0) becomes ECT(1), and the other way round.
    Swap,
    /// ECN-capable packets are dropped.
    Drop,
}

/// The largest IP packet that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mtu {
    pub bytes: u32,
    /// Senders of larger ones are not informed by ICMP: a black hole.
    #[serde(default)]
    pub silent: bool,
}

/// Opportunities to send, one in each interval: at its beginning, or up to `spread_ns` later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregationParameters {
    pub every_ns: u64,
    #[serde(default)]
    pub spread_ns: u64,
    /// A TCP packet that only acknowledges, and waits for the same opportunity as a later one of its flow that acknowledges
    /// more, is dropped (RFC 3449, section 5.2.1).
    #[serde(default)]
    pub thin_acks: bool,
}

/// New values from `at_ns` on; what is absent stays as it was. A new loss model starts afresh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub at_ns: u64,
    pub delay_ns: Option<u64>,
    pub rate: Option<Rate>,
    pub loss: Option<Loss>,
    pub udp: Option<Udp>,
    pub mtu: Option<Mtu>,
}

//! The parameters of queues that are managed, with the names and defaults of Linux's `tc`.

use serde::{Deserialize, Serialize};

use crate::discipline::red;
use crate::validate::{Invalid, require, within};

/// Linux counts these times in 32 bits, in units of 1024 ns for CoDel, half of which are the past.
const LONGEST_NS: u64 = 1 << 41;

fn time(field: &str, name: &str, ns: u64, least: u64) -> Result<(), Invalid> {
    within(&format!("{field}.{name}"), ns, least, LONGEST_NS)
}

fn count(field: &str, name: &str, value: u32) -> Result<(), Invalid> {
    within(&format!("{field}.{name}"), value.into(), 1, u32::MAX.into())
}

fn flows(field: &str, flows: u32, quantum: u32) -> Result<(), Invalid> {
    within(&format!("{field}.flows"), flows.into(), 1, 65_536)?;
    within(&format!("{field}.quantum"), quantum.into(), 256, 1 << 20)
}

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CodelParameters {
    /// Packets that may wait.
    pub limit: u32,
    /// A wait that is acceptable.
    pub target_ns: u64,
    /// A longer one is, if it is over within this time.
    pub interval_ns: u64,
    /// Packets that can be marked are, instead of being dropped.
    pub ecn: bool,
    /// Packets that waited longer are marked in any case.
    pub ce_threshold_ns: Option<u64>,
}

impl CodelParameters {
    pub(crate) fn validate(self, field: &str) -> Result<(), Invalid> {
        count(field, "limit", self.limit)?;
        time(field, "target_ns", self.target_ns, 1024)?;
        time(field, "interval_ns", self.interval_ns, 1024)?;
        time(field, "ce_threshold_ns", self.ce_threshold_ns.unwrap_or(0), 0)
    }
}

impl Default for CodelParameters {
    fn default() -> Self {
        CodelParameters {
            limit: 1000,
            target_ns: 5_000_000,
            interval_ns: 100_000_000,
            ecn: false,
            ce_threshold_ns: None,
        }
    }
}

/// Parameters of FQ-CoDel; some are CoDel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelParameters {
    /// Packets that may wait in all flows.
    pub limit: u32,
    /// Places for flows; flows whose hashes share one share a queue.
    pub flows: u32,
    /// Bytes that a flow may send in a round.
    pub quantum: u32,
    pub target_ns: u64,
    pub interval_ns: u64,
    pub ecn: bool,
    pub ce_threshold_ns: Option<u64>,
    /// Packets that are dropped at once, at most, where the limit is exceeded.
    pub drop_batch: u32,
}

impl FqCodelParameters {
    pub(crate) fn validate(self, field: &str) -> Result<(), Invalid> {
        self.codel().validate(field)?;
        flows(field, self.flows, self.quantum)?;
        count(field, "drop_batch", self.drop_batch)
    }

    /// What each flow's queue is under.
    pub(crate) fn codel(self) -> CodelParameters {
        CodelParameters {
            limit: self.limit,
            target_ns: self.target_ns,
            interval_ns: self.interval_ns,
            ecn: self.ecn,
            ce_threshold_ns: self.ce_threshold_ns,
        }
    }
}

impl Default for FqCodelParameters {
    fn default() -> Self {
        let codel = CodelParameters::default();
        FqCodelParameters {
            limit: 10_240,
            flows: 1024,
            quantum: 1500,
            target_ns: codel.target_ns,
            interval_ns: codel.interval_ns,
            ecn: true,
            ce_threshold_ns: None,
            drop_batch: 64,
        }
    }
}

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PieParameters {
    /// Packets that may wait.
    pub limit: u32,
    /// The wait that PIE aims at.
    pub target_ns: u64,
    /// How often the probability of a drop is calculated. Linux rounds this up to its clock's ticks and adds one.
    pub tupdate_ns: u64,
    /// How much the probability follows the wait, in sixteenths.
    pub alpha: u32,
    /// How much it follows the wait's growth, in sixteenths.
    pub beta: u32,
    /// Packets that can be marked are, instead of being dropped, up to a probability of 10 %.
    pub ecn: bool,
    /// Small packets are dropped less.
    pub bytemode: bool,
    /// The wait is estimated from the backlog and the rate at which it leaves, not measured.
    pub dq_rate_estimator: bool,
}

impl PieParameters {
    pub(crate) fn validate(self, field: &str) -> Result<(), Invalid> {
        count(field, "limit", self.limit)?;
        time(field, "target_ns", self.target_ns, 1000)?;
        time(field, "tupdate_ns", self.tupdate_ns, 1_000_000)?;
        within(&format!("{field}.alpha"), self.alpha.into(), 0, 32)?;
        within(&format!("{field}.beta"), self.beta.into(), 0, 32)
    }
}

impl Default for PieParameters {
    fn default() -> Self {
        PieParameters {
            limit: 1000,
            target_ns: 15_000_000,
            tupdate_ns: 15_000_000,
            alpha: 2,
            beta: 20,
            ecn: false,
            bytemode: false,
            dq_rate_estimator: false,
        }
    }
}

/// Parameters of FQ-PIE; some are PIE's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FqPieParameters {
    /// Packets that may wait in all flows.
    pub limit: u32,
    /// Places for flows; flows whose hashes share one share a queue.
    pub flows: u32,
    /// Bytes that a flow may send in a round.
    pub quantum: u32,
    pub target_ns: u64,
    pub tupdate_ns: u64,
    pub alpha: u32,
    pub beta: u32,
    pub ecn: bool,
    /// The probability up to which packets are marked, in per cent.
    pub ecn_prob: u32,
    pub bytemode: bool,
    pub dq_rate_estimator: bool,
}

impl FqPieParameters {
    pub(crate) fn validate(self, field: &str) -> Result<(), Invalid> {
        self.pie().validate(field)?;
        flows(field, self.flows, self.quantum)?;
        within(&format!("{field}.ecn_prob"), self.ecn_prob.into(), 0, 100)
    }

    /// What each flow's queue is under.
    pub(crate) fn pie(self) -> PieParameters {
        PieParameters {
            limit: self.limit,
            target_ns: self.target_ns,
            tupdate_ns: self.tupdate_ns,
            alpha: self.alpha,
            beta: self.beta,
            ecn: self.ecn,
            bytemode: self.bytemode,
            dq_rate_estimator: self.dq_rate_estimator,
        }
    }
}

impl Default for FqPieParameters {
    fn default() -> Self {
        let pie = PieParameters::default();
        FqPieParameters {
            limit: 10_240,
            flows: 1024,
            quantum: 1500,
            target_ns: pie.target_ns,
            tupdate_ns: pie.tupdate_ns,
            alpha: pie.alpha,
            beta: pie.beta,
            ecn: pie.ecn,
            ecn_prob: 10,
            bytemode: pie.bytemode,
            dq_rate_estimator: pie.dq_rate_estimator,
        }
    }
}

/// Parameters of RED. `tc` demands the first three, and has defaults for the next that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedParameters {
    /// Bytes that may wait.
    pub limit: u32,
    /// The average backlog below which nothing is dropped, bytes.
    pub min: u32,
    /// The average backlog above which everything is, bytes.
    pub max: u32,
    /// Bytes of an average packet.
    pub avpkt: u32,
    /// Packets that may come at once.
    pub burst: u32,
    /// The share that is dropped just below `max`.
    pub probability: f64,
    /// The rate by which the average falls while nothing waits, bit/s.
    pub bandwidth_bps: u64,
    /// Packets that can be marked are, instead of being dropped.
    #[serde(default)]
    pub ecn: bool,
    /// With `ecn`: above `max` packets are dropped all the same.
    #[serde(default)]
    pub harddrop: bool,
    /// With `ecn`: packets that cannot be marked are kept.
    #[serde(default)]
    pub nodrop: bool,
    /// `probability` is only the first one, and follows the average backlog.
    #[serde(default)]
    pub adaptive: bool,
}

impl RedParameters {
    pub(crate) fn validate(self, field: &str) -> Result<(), Invalid> {
        let least = |name: &str, value| within(&format!("{field}.{name}"), value, 1, 1 << 30);
        least("min", self.min.into())?;
        least("max", self.max.into())?;
        least("avpkt", self.avpkt.into())?;
        least("burst", self.burst.into())?;
        within(&format!("{field}.limit"), self.limit.into(), 1500, u32::MAX.into())?;
        within(&format!("{field}.bandwidth_bps"), self.bandwidth_bps, 1000, 1 << 40)?;
        require(!self.nodrop || self.ecn, &format!("{field}.nodrop"), self.nodrop, "only with ecn")?;
        red::Law::new(self).map(drop).map_err(|(name, allowed)| Invalid {
            field: format!("{field}.{name}"),
            value: format!("{self:?}"),
            allowed: allowed.into(),
        })
    }
}

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DualPi2Parameters {
    /// Packets that may wait in both queues.
    pub limit: u32,
    /// The wait that the controller aims at.
    pub target_ns: u64,
    /// How often the probability is calculated.
    pub tupdate_ns: u64,
    /// How much the probability follows the wait, in 256ths of a Hertz.
    pub alpha: u32,
    /// How much it follows the wait's growth, in 256ths of a Hertz.
    pub beta: u32,
    /// How much more scalable packets are marked than the root of what classic ones are.
    pub coupling_factor: u8,
    /// Scalable packets that waited longer are marked in any case.
    pub step_thresh_ns: u64,
    /// In overload scalable packets are dropped too, or else only when the queue is full.
    pub drop_overload: bool,
    /// The weight of the classic queue, in per cent.
    pub classic_protection: u8,
}

impl DualPi2Parameters {
    pub(crate) fn validate(self, field: &str) -> Result<(), Invalid> {
        // What Linux keeps in 32 bits.
        let most = u32::MAX.into();
        let gain = (1 << 31) - 1;
        count(field, "limit", self.limit)?;
        within(&format!("{field}.target_ns"), self.target_ns, 0, most)?;
        time(field, "tupdate_ns", self.tupdate_ns, 1_000_000)?;
        within(&format!("{field}.alpha"), self.alpha.into(), 1, gain)?;
        within(&format!("{field}.beta"), self.beta.into(), 1, gain)?;
        let coupling = self.coupling_factor.into();
        within(&format!("{field}.coupling_factor"), coupling, 1, 255)?;
        within(&format!("{field}.step_thresh_ns"), self.step_thresh_ns, 0, most)?;
        let protection = self.classic_protection.into();
        within(&format!("{field}.classic_protection"), protection, 0, 100)
    }
}

impl Default for DualPi2Parameters {
    fn default() -> Self {
        DualPi2Parameters {
            limit: 10_000,
            target_ns: 15_000_000,
            tupdate_ns: 16_000_000,
            alpha: 41,
            beta: 819,
            coupling_factor: 2,
            step_thresh_ns: 1_000_000,
            drop_overload: true,
            classic_protection: 10,
        }
    }
}

/// Parameters of CAKE. Its bandwidth is the direction's rate, if that is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CakeParameters {
    /// The round trip that most flows have, from which COBALT's times follow. `tc` counts it in us.
    pub rtt_ns: u64,
    /// Bytes of memory that packets may take; by default what four times `rtt_ns` need, and 4 MiB at least.
    pub memlimit: Option<u32>,
    pub isolation: Isolation,
}

/// What CAKE treats fairly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Nothing: all flows share one queue.
    Flowblind,
    /// Flows.
    Flows,
    /// Hosts, and their flows. Those of cross traffic are one pair of hosts.
    TripleIsolate,
}

impl CakeParameters {
    pub(crate) fn validate(self, field: &str) -> Result<(), Invalid> {
        time(field, "rtt_ns", self.rtt_ns, 1000)?;
        let limit = self.memlimit.unwrap_or(u32::MAX);
        let name = format!("{field}.memlimit");
        within(&name, limit.into(), 4096, u32::MAX.into())
    }
}

impl Default for CakeParameters {
    fn default() -> Self {
        CakeParameters { rtt_ns: 100_000_000, memlimit: None, isolation: Isolation::TripleIsolate }
    }
}

//! Cross traffic of a trial file.

use std::ops::RangeInclusive;

use h123_link::Direction;
use serde::Deserialize;

const CONNECTIONS: RangeInclusive<u32> = 1..=100;
const STREAMS_BPS: RangeInclusive<u64> = 1_000..=10_000_000_000;
const LONGEST_AHEAD_NS: u64 = 60_000_000_000;

/// Traffic of two hosts of its own that shares a link's queue and rate.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cross {
    #[serde(default)]
    up: Option<Traffic>,
    #[serde(default)]
    down: Option<Traffic>,
    /// How long before the main role it begins.
    pub ahead_ns: u64,
}

/// What is sent one way.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Traffic {
    /// So many connections, each never short of data.
    Tcp(u32),
    /// Full packets at equal distances, so many bits a second.
    Udp(u64),
}

impl Cross {
    /// What is sent, `[up, down]`.
    pub fn directions(&self) -> [Option<Traffic>; 2] {
        [self.up, self.down]
    }

    /// Whether a link of these directions, `[up, down]`, can have it; if not, why.
    pub fn validate(&self, directions: &[Direction; 2]) -> Result<(), String> {
        if self.ahead_ns > LONGEST_AHEAD_NS {
            return Err(format!("\"ahead_ns\" is at most {LONGEST_AHEAD_NS}"));
        }
        if self.directions().iter().all(Option::is_none) {
            return Err("it needs \"up\" or \"down\"".into());
        }
        for (traffic, direction) in self.directions().iter().zip(directions) {
            match traffic {
                Some(Traffic::Tcp(n)) if !CONNECTIONS.contains(n) => {
                    return Err(format!("\"tcp\" is 1 to {} connections", CONNECTIONS.end()));
                }
                Some(Traffic::Udp(bps)) if !STREAMS_BPS.contains(bps) => {
                    return Err(format!("\"udp\" is {} to {} bit/s", STREAMS_BPS.start(), STREAMS_BPS.end()));
                }
                Some(_) if direction.rate.is_none() => {
                    return Err("a direction has a queue to share only with a rate".into());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

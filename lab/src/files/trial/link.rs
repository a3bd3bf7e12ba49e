//! A link of a trial file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use h123_link::{Direction, Move, validate_moves};
use serde::{Deserialize, Serialize};

use super::cross::Cross;
use super::names::known_host;
use crate::files::log;

/// The most packets that a link keeps a record of: 200 MB of memory.
pub const MOST_PACKETS: usize = 4_000_000;
/// RFC 8200, section 5.
const LEAST_MTU6: u32 = 1280;

/// A link between two hosts. `up` leads from `a` to `b`, `down` from `b` to `a`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub name: String,
    pub kind: LinkKind,
    pub a: End,
    pub b: End,
    #[serde(default)]
    pub up: Option<Direction>,
    #[serde(default)]
    pub down: Option<Direction>,
    /// When host `a` is seen elsewhere.
    #[serde(default)]
    pub moves: Vec<Move>,
    /// What others send through it.
    #[serde(default)]
    pub cross: Option<Cross>,
    /// So many packets get a record, which is written when the trial ends.
    #[serde(default)]
    pub packets: usize,
    /// Whether these packets are kept whole too.
    #[serde(default)]
    pub capture: bool,
    /// Whether the frames in these packets are read.
    #[serde(default)]
    pub frames: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    Emulated,
    Veth,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    pub host: String,
    pub address: Ipv4Addr,
    /// Hosts with one have IPv6 too.
    #[serde(default)]
    pub address6: Option<Ipv6Addr>,
}

impl End {
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        [self.address.into()].into_iter().chain(self.address6.map(IpAddr::from))
    }
}

impl Link {
    pub fn validate(&self, hosts: &[String]) -> Result<(), String> {
        for end in [&self.a, &self.b] {
            known_host(&end.host, hosts)?;
        }
        if self.a.host == self.b.host {
            return Err(format!("both ends are on host \"{}\"", self.a.host));
        }
        let (a, b) = (self.a.address, self.b.address);
        if self.packets > 0 {
            log::names_a_file("such a link", &self.name)?;
        }
        if self.capture && self.packets == 0 {
            return Err("\"capture\" needs \"packets\", the number of packets to keep".into());
        }
        if self.frames && self.packets == 0 {
            return Err("\"frames\" needs \"packets\", the number of packets to read".into());
        }
        if self.packets > MOST_PACKETS {
            return Err(format!("\"packets\" is at most {}, not {}", MOST_PACKETS, self.packets));
        }
        let usable = |x: Ipv4Addr| matches!(x.octets()[3] & 3, 1 | 2);
        // Addresses of one machine each: not "this network", loopback, multicast or reserved (RFC 6890).
        let unicast = |x: Ipv4Addr| matches!(x.octets()[0], 1..=126 | 128..=223);
        if !unicast(a) {
            return Err(format!("{a} is not an address that a host can have"));
        }
        if network(a) != network(b) || a == b || !usable(a) || !usable(b) {
            return Err(format!(
                "{a} and {b} are not the two addresses of one /30 network, such as 10.1.0.1 and 10.1.0.2"
            ));
        }
        self.validate_ipv6()?;
        match self.kind {
            LinkKind::Veth if self.up.is_some() || self.down.is_some() => {
                Err("a veth is unshaped: remove \"up\" and \"down\", or use kind \"emulated\"".into())
            }
            LinkKind::Veth if !self.moves.is_empty() => {
                Err("a host can move only over an emulated link: remove \"moves\"".into())
            }
            LinkKind::Veth if self.cross.is_some() => {
                Err("only an emulated link can have cross traffic: remove \"cross\"".into())
            }
            LinkKind::Veth if self.packets > 0 => Err("only an emulated link keeps a record of its packets".into()),
            LinkKind::Veth => Ok(()),
            LinkKind::Emulated => {
                for (name, direction) in [("up", &self.up), ("down", &self.down)] {
                    if let Some(direction) = direction {
                        direction.validate().map_err(|e| format!("{name}: {e}"))?;
                    }
                }
                if let Some(cross) = &self.cross {
                    let valid = cross.validate(&self.directions());
                    valid.map_err(|e| format!("cross: {e}"))?;
                }
                validate_moves(&self.moves).map_err(|e| e.to_string())
            }
        }
    }

    fn validate_ipv6(&self) -> Result<(), String> {
        let (a, b) = match (self.a.address6, self.b.address6) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) => (a, b),
            _ => return Err("either both ends have an \"address6\", or neither".into()),
        };
        // Global and unique local addresses (RFC 4291, RFC 4193), and not the router's of a network.
        let unicast = |x: Ipv6Addr| matches!(x.octets()[0] >> 5, 1) || x.is_unique_local();
        let usable = |x: Ipv6Addr| unicast(x) && u128::from(x) as u64 != 0;
        if network6(a) != network6(b) || a == b || !usable(a) || !usable(b) {
            return Err(format!(
                "{a} and {b} are not two addresses of one /64 network, such as fd00:1::1 and fd00:1::2"
            ));
        }
        if !self.moves.is_empty() {
            return Err("a host moves with its IPv4 address only: remove \"moves\" or \"address6\"".into());
        }
        let mtus = |d: &Direction| {
            let changed = d.changes.iter().filter_map(|change| change.mtu);
            let all: Vec<_> = d.mtu.into_iter().chain(changed).collect();
            all
        };
        let mut mtus = self.directions().into_iter().flat_map(|d| mtus(&d));
        match mtus.find(|mtu| mtu.bytes < LEAST_MTU6) {
            Some(small) => Err(format!("IPv6 needs an \"mtu\" of at least {LEAST_MTU6} bytes, not {}", small.bytes)),
            None => Ok(()),
        }
    }

    /// The parameters of both directions, `[up, down]`.
    pub fn directions(&self) -> [Direction; 2] {
        [self.up.clone().unwrap_or_default(), self.down.clone().unwrap_or_default()]
    }
}

/// The /64 network of an address.
pub fn network6(address: Ipv6Addr) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(address) >> 64 << 64)
}

/// The /30 network of an address.
pub fn network(address: Ipv4Addr) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(address) & !3)
}

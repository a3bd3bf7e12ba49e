//! The trial file: what to build, what to run in it.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::Path;

use h123_link::{Direction, Move, validate_moves};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::files::log;
use crate::files::refusal::Refusal;
use crate::files::role::{Role, RoleKind};
use crate::files::roots::Roots;
use crate::link::cross_traffic::Cross;
use crate::link::nat;
use crate::link::packet_record;

const FORMAT: &str = "trial/1";
/// More hosts or links no machine is to be asked for.
const MOST: usize = 1000;
/// In the year 2191: what the time of day of a kernel can be, with years to spare.
const LATEST_UNIX_NS: u64 = 7_000_000_000_000_000_000;
/// More packets at once fit into no queue of a kernel.
const WINDOWS: RangeInclusive<u32> = 1..=1000;
const MILLISECOND_NS: u64 = 1_000_000;
/// What any path of IPv6 carries in packets of UDP over IPv4, and what a segment has room for on the lab's links.
const PAYLOADS: RangeInclusive<u32> = 1252..=1448;
const LEAST_RTOS_NS: RangeInclusive<u64> = MILLISECOND_NS..=60_000 * MILLISECOND_NS;

/// One trial, as read from `trial.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Was looked at before all else.
    #[serde(rename = "h123")]
    _format: IgnoredAny,
    pub id: String,
    pub seed: u64,
    #[serde(default)]
    pub clock: Clock,
    /// Virtual clock only: what the time of day is when the kernel boots; absent: what it is outside.
    #[serde(default)]
    pub start_unix_ns: Option<u64>,
    pub hosts: Vec<String>,
    pub links: Vec<Link>,
    /// TCP congestion controller of every host; absent: the machine's default.
    #[serde(default)]
    pub congestion: Option<String>,
    #[serde(default)]
    pub tcp: Tcp,
    /// Ask TCP now and then for its own account of all connections.
    #[serde(default)]
    pub tcp_account: bool,
    /// Check every emulated link before the roles start.
    #[serde(default)]
    pub check: bool,
    pub roles: Vec<Role>,
}

/// Whose time the trial is measured in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Real time.
    #[default]
    Wall,
    /// That of a kernel which lets time pass only while everything waits.
    Virtual,
}

/// What the lab asks of TCP, in every host; what is absent is the kernel's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// In packets.
    #[serde(default)]
    pub initial_window: Option<u32>,
    /// The least retransmission time; the kernel keeps whole milliseconds.
    #[serde(default)]
    pub min_rto_ns: Option<u64>,
    /// The most bytes of a segment.
    #[serde(default)]
    pub max_payload: Option<u32>,
    /// Go on after a silence with the window that there was, instead of the initial one.
    #[serde(default)]
    pub keep_idle_window: bool,
    /// Data in the first packet of a connection whose client has been there before (RFC 7413), where the client asks
    /// for it.
    #[serde(default)]
    pub fast_open: bool,
}

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

/// A link without its place: what `exec --link` reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub kind: LinkKind,
    #[serde(default)]
    pub up: Option<Direction>,
    #[serde(default)]
    pub down: Option<Direction>,
    #[serde(default)]
    pub moves: Vec<Move>,
    #[serde(default)]
    pub cross: Option<Cross>,
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
}

/// What a file says it is, whatever else is in it.
#[derive(Deserialize)]
struct Format {
    h123: String,
}

impl Trial {
    /// Reads and validates a trial file.
    pub fn read(file: &Path, roots: &Roots) -> Result<Self, Refusal> {
        let text = std::fs::read_to_string(file)
            .map_err(|e| Refusal::input(format!("cannot read {}: {e}", file.display())))?;
        Self::parse(&text, roots).map_err(|e| Refusal::input(format!("{}{e}", file.display())))
    }

    /// A trial file's content; what is wrong with it, to be appended to its name.
    pub fn parse(text: &str, roots: &Roots) -> Result<Self, String> {
        let not_a_trial = |e| format!(" is not a trial: {e}");
        // Before anything else is read: a newer format has fields that are unknown here.
        let Format { h123 } = serde_json::from_str(text).map_err(not_a_trial)?;
        if h123 != FORMAT {
            return Err(format!(
                ": its format is \"{h123}\", this program reads \"{FORMAT}\""
            ));
        }
        let trial: Self = serde_json::from_str(text).map_err(not_a_trial)?;
        trial.validate(roots).map_err(|e| format!(": {e}"))?;
        Ok(trial)
    }

    /// The trial behind `exec`: two hosts, one link.
    pub fn of_two(
        profile: Profile,
        seed: u64,
        congestion: Option<String>,
        roles: Vec<Role>,
    ) -> Result<Self, Refusal> {
        let trial = Self {
            congestion,
            roles,
            ..Self::bed(profile, seed)
        };
        trial
            .validate(&Roots::none(Path::new("/")))
            .map_err(Refusal::input)?;
        Ok(trial)
    }

    /// Two hosts, `client` and `server`, and one link; no roles yet.
    pub fn bed(profile: Profile, seed: u64) -> Self {
        let end = |host: &str, last| End {
            host: host.into(),
            address: Ipv4Addr::new(10, 1, 0, last),
        };
        Self {
            _format: IgnoredAny,
            id: "bed".into(),
            seed,
            clock: Clock::Wall,
            start_unix_ns: None,
            hosts: vec!["client".into(), "server".into()],
            links: vec![Link {
                name: "link".into(),
                kind: profile.kind,
                a: end("client", 1),
                b: end("server", 2),
                up: profile.up,
                down: profile.down,
                moves: profile.moves,
                cross: profile.cross,
                packets: 0,
                capture: false,
                frames: false,
            }],
            congestion: None,
            tcp: Tcp::default(),
            tcp_account: false,
            check: false,
            roles: vec![],
        }
    }

    fn validate(&self, roots: &Roots) -> Result<(), String> {
        if self.clock == Clock::Wall && self.start_unix_ns.is_some() {
            return Err("\"start_unix_ns\" belongs to the virtual clock".into());
        }
        if self.start_unix_ns > Some(LATEST_UNIX_NS) {
            return Err(format!("\"start_unix_ns\" is at most {LATEST_UNIX_NS}"));
        }
        if self.clock == Clock::Virtual && self.reaches_outside() {
            return Err("under the virtual clock no role is \"outside\": time passes there".into());
        }
        if self.clock == Clock::Virtual && self.roles.iter().any(|r| !r.processors.is_empty()) {
            return Err(
                "under the virtual clock there is one processor: no role has \"processors\"".into(),
            );
        }
        self.tcp.validate().map_err(|e| format!("tcp: {e}"))?;
        if self.hosts.len().max(self.links.len()) > MOST {
            return Err(format!("at most {MOST} hosts and {MOST} links"));
        }
        if let Some(twice) = first_repeated(self.hosts.iter()) {
            return Err(format!("host \"{twice}\" is listed twice"));
        }
        if let Some(twice) = first_repeated(self.links.iter().map(|l| &l.name)) {
            return Err(format!("two links are named \"{twice}\""));
        }
        if let Some(twice) = first_repeated(self.roles.iter().map(|r| &r.name)) {
            return Err(format!("two roles are named \"{twice}\""));
        }
        for link in &self.links {
            link.validate(&self.hosts)
                .map_err(|e| format!("link \"{}\": {e}", link.name))?;
        }
        if let Some(net) = first_repeated(self.links.iter().map(|l| network(l.a.address))) {
            return Err(format!(
                "two links use the network {net}/30: give each link a /30 of its own"
            ));
        }
        let mut ends = self.links.iter().flat_map(|l| [l.a.address, l.b.address]);
        if self.links.iter().any(|l| !l.moves.is_empty()) && ends.any(nat::is_elsewhere) {
            return Err(
                "hosts move to addresses in 100.64.0.0/10: give links others than these".into(),
            );
        }
        for role in &self.roles {
            role.validate(&self.hosts, roots)
                .map_err(|e| format!("role \"{}\": {e}", role.name))?;
        }
        match self
            .roles
            .iter()
            .filter(|r| r.kind == RoleKind::Main)
            .count()
        {
            1 => Ok(()),
            n => Err(format!(
                "{n} roles are of kind \"main\": exactly one is needed, its end ends the trial"
            )),
        }
    }

    pub fn main(&self) -> &Role {
        self.roles
            .iter()
            .find(|r| r.kind == RoleKind::Main)
            .expect("validated: exactly one main role")
    }

    /// Whether one of its roles needs the network that the lab was started in.
    pub fn reaches_outside(&self) -> bool {
        self.roles.iter().any(|r| r.outside)
    }

    pub fn services(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter().filter(|r| r.kind == RoleKind::Service)
    }
}

impl Tcp {
    fn validate(&self) -> Result<(), String> {
        if self.initial_window.is_some_and(|n| !WINDOWS.contains(&n)) {
            return Err(format!(
                "\"initial_window\" is {} to {} packets",
                WINDOWS.start(),
                WINDOWS.end()
            ));
        }
        let whole = |ns: u64| ns.is_multiple_of(MILLISECOND_NS) && LEAST_RTOS_NS.contains(&ns);
        if self.min_rto_ns.is_some_and(|ns| !whole(ns)) {
            return Err("\"min_rto_ns\" is 1 ms to 60 s, in whole milliseconds".into());
        }
        if self.max_payload.is_some_and(|n| !PAYLOADS.contains(&n)) {
            return Err(format!(
                "\"max_payload\" is {} to {} bytes",
                PAYLOADS.start(),
                PAYLOADS.end()
            ));
        }
        Ok(())
    }
}

impl Link {
    fn validate(&self, hosts: &[String]) -> Result<(), String> {
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
            return Err("\"capture\" keeps whole what \"packets\" counts: say how many".into());
        }
        if self.frames && self.packets == 0 {
            return Err("\"frames\" are read from what \"packets\" counts: say how many".into());
        }
        if self.packets > packet_record::MOST {
            return Err(format!(
                "\"packets\" is at most {}, not {}",
                packet_record::MOST,
                self.packets
            ));
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
        match self.kind {
            LinkKind::Veth if self.up.is_some() || self.down.is_some() => Err(
                "a veth is unshaped: remove \"up\" and \"down\", or use kind \"emulated\"".into(),
            ),
            LinkKind::Veth if !self.moves.is_empty() => {
                Err("only over an emulated link can a host move: remove \"moves\"".into())
            }
            LinkKind::Veth if self.cross.is_some() => {
                Err("only an emulated link can have cross traffic: remove \"cross\"".into())
            }
            LinkKind::Veth if self.packets > 0 => {
                Err("only an emulated link keeps a record of its packets".into())
            }
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

    /// The parameters of both directions, `[up, down]`.
    pub fn directions(&self) -> [Direction; 2] {
        [
            self.up.clone().unwrap_or_default(),
            self.down.clone().unwrap_or_default(),
        ]
    }
}

pub fn known_host(host: &str, hosts: &[String]) -> Result<(), String> {
    if hosts.iter().any(|h| h == host) {
        return Ok(());
    }
    Err(format!(
        "host \"{host}\" is not in \"hosts\" ({})",
        hosts.join(", ")
    ))
}

fn network(address: Ipv4Addr) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(address) & !3)
}

fn first_repeated<T: std::hash::Hash + Eq + Clone>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = HashSet::new();
    items.into_iter().find(|item| !seen.insert(item.clone()))
}

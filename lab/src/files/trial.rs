//! The trial file: what to build, what to run in it.

mod cross;
mod link;
pub mod moved;
mod names;
mod role;
mod tcp;

use std::collections::HashSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;

use h123_link::{Direction, Move};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::files::refusal::Refusal;
use crate::files::roots::Roots;

use self::link::{network, network6};
use self::tcp::LARGEST_OVER_IPV6;

pub use self::cross::{Cross, Traffic};
pub use self::link::{End, Link, LinkKind, MOST_PACKETS};
pub use self::role::{Ready, Role, RoleKind};
pub use self::tcp::Tcp;

const FORMAT: &str = "trial/1";
const TEMPORARY: [&str; 2] = ["/tmp/", "/var/tmp/"];
/// What roots and the trial's folder begin with there.
const OURS: &str = "/tmp/h123-";
/// More hosts or links no machine is to be asked for.
const MOST: usize = 1000;
/// In the year 2191: what the time of day of a kernel can be, with years to spare.
const LATEST_UNIX_NS: u64 = 7_000_000_000_000_000_000;

/// One trial, as read from `trial.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Was looked at before all else.
    #[serde(rename = "h123")]
    _format: IgnoredAny,
    pub id: String,
    pub seed: u64,
    /// Virtual clock only: seeds the random numbers of the trial's programs together with `seed`; absent: `id` does.
    #[serde(default)]
    pub random: Option<String>,
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
            return Err(format!(": its format is \"{h123}\", this program reads \"{FORMAT}\""));
        }
        let trial: Self = serde_json::from_str(text).map_err(not_a_trial)?;
        trial.validate(roots).map_err(|e| format!(": {e}"))?;
        Ok(trial)
    }

    /// The content of a file that was found to be one before. Draws no random number.
    pub fn trusted(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The trial behind `exec`: two hosts, one link.
    pub fn of_two(
        profile: Profile,
        seed: u64,
        congestion: Option<String>,
        ipv6: bool,
        roles: Vec<Role>,
    ) -> Result<Self, Refusal> {
        let mut trial = Self { congestion, roles, ..Self::bed(profile, seed) };
        for (link, last) in trial.links.iter_mut().flat_map(|l| [(&mut l.a, 1), (&mut l.b, 2)]) {
            link.address6 = ipv6.then(|| Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, last));
        }
        trial.validate(&Roots::none(Path::new("/"))).map_err(Refusal::input)?;
        Ok(trial)
    }

    /// Two hosts, `client` and `server`, and one link; no roles yet.
    pub fn bed(profile: Profile, seed: u64) -> Self {
        let end = |host: &str, last| End { host: host.into(), address: Ipv4Addr::new(10, 1, 0, last), address6: None };
        Self {
            _format: IgnoredAny,
            id: "bed".into(),
            seed,
            random: None,
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
            return Err("under the virtual clock there is one processor: no role has \"processors\"".into());
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
            link.validate(&self.hosts).map_err(|e| format!("link \"{}\": {e}", link.name))?;
        }
        if let Some(net) = first_repeated(self.links.iter().map(|l| network(l.a.address))) {
            return Err(format!("two links use the network {net}/30: give each link a separate /30"));
        }
        let networks6 = self.links.iter().filter_map(|l| l.a.address6);
        if let Some(net) = first_repeated(networks6.map(network6)) {
            return Err(format!("two links use the network {net}/64: give each link a separate /64"));
        }
        if self.tcp.max_payload > Some(LARGEST_OVER_IPV6) && self.links.iter().any(|l| l.a.address6.is_some()) {
            return Err(format!("tcp: over IPv6 \"max_payload\" is at most {LARGEST_OVER_IPV6} bytes"));
        }
        let mut ends = self.links.iter().flat_map(|l| [l.a.address, l.b.address]);
        if self.links.iter().any(|l| !l.moves.is_empty()) && ends.any(moved::is_moved) {
            return Err("hosts move to addresses in 100.64.0.0/10: give links other addresses".into());
        }
        for role in &self.roles {
            role.validate(&self.hosts, roots).map_err(|e| format!("role \"{}\": {e}", role.name))?;
        }
        match self.roles.iter().filter(|r| r.kind == RoleKind::Main).count() {
            1 => Ok(()),
            n => Err(format!("{n} roles are of kind \"main\": exactly one is needed, its end ends the trial")),
        }
    }

    pub fn main(&self) -> &Role {
        self.roles.iter().find(|r| r.kind == RoleKind::Main).expect("validated: exactly one main role")
    }

    /// Whether a host has IPv6: an end of one of its links has such an address.
    pub fn has_ipv6(&self, host: &str) -> bool {
        let mut ends = self.links.iter().flat_map(|l| [&l.a, &l.b]);
        ends.any(|end| end.host == host && end.address6.is_some())
    }

    /// Whether one of its roles needs the network that the lab was started in.
    pub fn reaches_outside(&self) -> bool {
        self.roles.iter().any(|r| r.outside)
    }

    /// Whether nothing of the machine is needed in `/tmp`: none of its roles is a person's own program, and no command names a
    /// file there.
    pub fn has_fixed_surroundings(&self) -> bool {
        let needed = |word: &String| TEMPORARY.iter().any(|folder| word.starts_with(folder)) && !word.starts_with(OURS);
        !self.roles.iter().any(|role| role.inherits || role.command.iter().any(needed))
    }

    pub fn services(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter().filter(|r| r.kind == RoleKind::Service)
    }
}

fn first_repeated<T: std::hash::Hash + Eq + Clone>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = HashSet::new();
    items.into_iter().find(|item| !seen.insert(item.clone()))
}

//! The report of a trial: what was done, what it cost, whether it is valid.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use crate::check::link_check::CheckReport;
use crate::check::probe;
use crate::files::atomic_file::write_atomically;
use crate::files::message::Message;
use crate::files::per_direction::PerDirection;
use crate::files::trial::{Clock, LinkKind, Tcp, Trial};
use crate::host::account::MachineReport;
use crate::host::privilege;
use crate::host::realtime;
use crate::host::stalls::Stalls;
use crate::link::emulated_link::EmulatedLink;
use crate::link::frames::Unreadable;
use crate::link::lateness::LatenessReport;
use crate::link::network::Network;
use crate::link::worker::Ledger;
use crate::roles::ending::Exit;
use crate::roles::usage::Point;

#[derive(Debug, Serialize)]
pub struct Report {
    h123: &'static str,
    id: String,
    /// In whose time everything here is.
    clock: Clock,
    pub valid: bool,
    pub reasons: Vec<Message>,
    pub warnings: Vec<Message>,
    pub started_unix_ns: u64,
    pub phases_ns: Phases,
    /// When the main role's run began, of the monotonic clock, as samples are.
    pub main_began_ns: u64,
    pub links: Vec<LinkReport>,
    pub roles: Vec<RoleReport>,
    pub hosts: Vec<HostReport>,
    /// Rows that TCP's account had no room for; null where there is none.
    pub tcp_left_out: Option<u64>,
    pub machine: MachineReport,
    /// What there was of root's privileges; absent where there were all, and under the virtual clock, which needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_namespace: Option<UserNamespace>,
}

/// What a user namespace was granted of that which root has.
#[derive(Debug, Serialize)]
pub struct UserNamespace {
    /// Real-time priority, for links and those that check them.
    realtime: bool,
    /// Whether the links' memory was kept from being swapped out.
    memory_locked: bool,
    /// What the link check's receivers can buffer; root has it all, 64 MiB as the kernel counts.
    probe_buffer_bytes: u64,
    files: FilesGranted,
}

/// What a role can do to the machine's files, for the time of the trial.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum FilesGranted {
    /// Change those of the user, and add others to the user's folders.
    Own,
    /// Read them: the kernel refused an overlay.
    ReadOnly,
}

impl UserNamespace {
    /// Of the calling process; none where it is in no such namespace.
    pub fn here(network: &Network) -> Option<Self> {
        privilege::in_user_namespace().then(|| Self {
            realtime: realtime::granted(),
            memory_locked: network.memory_locked,
            probe_buffer_bytes: probe::granted_buffer(),
            files: FilesGranted::Own,
        })
    }

    pub fn note_files(&mut self, overlay_refused: bool) {
        if overlay_refused {
            self.files = FilesGranted::ReadOnly;
        }
    }
}

#[derive(Debug, Default, Serialize)]
pub struct Phases {
    pub setup: u64,
    pub check: u64,
    pub ready: u64,
    pub main: u64,
    pub teardown: u64,
}

#[derive(Debug, Serialize)]
pub struct LinkReport {
    pub name: String,
    pub kind: LinkKind,
    /// Null for a veth.
    pub realtime: Option<bool>,
    /// Whether the kernel stamps packets as they arrive; null for a veth.
    pub stamps: Option<bool>,
    /// The version of the random draws that decided its packets' fates; null for a veth.
    pub draws: Option<u32>,
    pub check: Option<CheckReport>,
    pub directions: Option<PerDirection<DirectionReport>>,
    /// What others sent through it; null where nobody did.
    pub cross: Option<PerDirection<CrossReport>>,
    /// When packets were due that had not left, during the main role's run; null for a veth.
    pub stalls: Option<Stalls>,
    /// Packets that the record of them had no room for; null where there is none.
    pub packets_left_out: Option<u64>,
    /// Packets whose frames could not be read for want of room, and frames without room; null where none were asked for.
    pub frames_left_out: Option<u64>,
    /// Connections without frames, by the reason; null where none were asked for.
    pub frames_unread: Option<Vec<Unreadable>>,
}

#[derive(Debug, Serialize)]
pub struct DirectionReport {
    packets_in: u64,
    bytes_in: u64,
    delivered: u64,
    bytes_delivered: u64,
    ipv6_bytes_delivered: u64,
    duplicated: u64,
    lost: u64,
    queue_dropped: u64,
    ecn_capable: u64,
    marked: u64,
    blocked: u64,
    policed: u64,
    too_large: u64,
    thinned: u64,
    reordered_near: u64,
    reordered_far: u64,
    in_flight: u64,
    drop_set: String,
    queue_ns: WaitReport,
    pub lateness_ns: LatenessReport,
}

/// What the link's rate and queue had packets wait, until they were sent; times in ns.
#[derive(Debug, Serialize)]
struct WaitReport {
    /// 0 if there were none.
    mean: u64,
    max: u64,
}

/// Of the cross traffic that went one way, acknowledgements of what came the other way included.
#[derive(Debug, Default, Serialize)]
pub struct CrossReport {
    packets_in: u64,
    bytes_in: u64,
    delivered: u64,
    bytes_delivered: u64,
    lost: u64,
    queue_dropped: u64,
    /// By the receiving program.
    received_bytes: u64,
}

#[derive(Debug, Serialize)]
pub struct RoleReport {
    pub name: String,
    pub host: String,
    pub pid_exit: Option<Exit>,
    /// From start to readiness; null for a role that did not become ready, and for the main role.
    pub ready_ns: Option<u64>,
    pub cpu: RoleCpu,
    pub max_rss_bytes: u64,
    /// Null where the output went elsewhere.
    pub log: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub struct RoleCpu {
    pub user_ns: u64,
    pub system_ns: u64,
    pub main_ns: u64,
    /// Threads ready to run that waited for a processor, in all, during the main role's run. Of the main role itself, whose
    /// threads are gone at its end, as last seen: every 25 ms.
    pub main_wait_ns: Option<u64>,
    /// How often its threads got a processor meanwhile.
    pub main_turns: Option<u64>,
    /// What it had used when, from the main role's start to its end; under the virtual clock its end alone.
    pub main_over_time: Vec<Point>,
}

#[derive(Debug, Serialize)]
pub struct HostReport {
    pub name: String,
    pub congestion: Option<String>,
    /// What its routes ask of TCP.
    pub tcp: Option<Tcp>,
    pub counters: Counters,
}

#[derive(Debug, Default, Serialize)]
pub struct Counters {
    pub before: BTreeMap<String, i64>,
    pub after: BTreeMap<String, i64>,
}

impl Report {
    pub fn new(id: &str, clock: Clock) -> Self {
        Self {
            h123: "report/1",
            id: id.into(),
            clock,
            valid: false,
            reasons: vec![],
            warnings: vec![],
            started_unix_ns: crate::host::monotonic::unix_ns(),
            phases_ns: Phases::default(),
            main_began_ns: 0,
            links: vec![],
            roles: vec![],
            hosts: vec![],
            tcp_left_out: None,
            machine: MachineReport::default(),
            user_namespace: None,
        }
    }
}

impl HostReport {
    pub fn of_all(network: &Network) -> Vec<Self> {
        let hosts = network.hosts.iter().zip(&network.tcp);
        hosts
            .map(|(host, in_force)| Self {
                name: host.name.clone(),
                congestion: in_force.as_ref().map(|tcp| tcp.congestion.clone()),
                tcp: in_force.as_ref().map(|tcp| tcp.tcp),
                counters: Counters::default(),
            })
            .collect()
    }
}

/// Adds to a report that is a file already.
pub fn add_warning(file: &Path, message: &Message) -> Result<()> {
    let mut report: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    if let Some(warnings) = report["warnings"].as_array_mut() {
        warnings.push(serde_json::to_value(message)?);
    }
    write_atomically(&report, file)
}

impl LinkReport {
    pub fn of_all(network: &Network, trial: &Trial) -> Vec<Self> {
        let links = trial.links.iter().zip(&network.links);
        links.map(|(link, emulated)| Self::new(&link.name, link.kind, emulated.as_ref().map(|e| &e.link))).collect()
    }

    fn new(name: &str, kind: LinkKind, link: Option<&EmulatedLink>) -> Self {
        Self {
            name: name.into(),
            kind,
            realtime: link.map(|l| l.realtime),
            stamps: link.map(|l| l.stamps),
            draws: link.map(|_| h123_link::DRAWS),
            check: None,
            directions: None,
            cross: None,
            stalls: None,
            packets_left_out: None,
            frames_left_out: None,
            frames_unread: None,
        }
    }
}

impl CrossReport {
    pub fn new(ledger: &Ledger, received_bytes: u64) -> Self {
        let (tally, released) = &ledger.cross;
        Self {
            packets_in: tally.packets_in,
            bytes_in: tally.bytes_in,
            delivered: released.packets,
            bytes_delivered: released.bytes,
            lost: tally.lost,
            queue_dropped: tally.queue_dropped,
            received_bytes,
        }
    }
}

impl From<Ledger> for DirectionReport {
    fn from(ledger: Ledger) -> Self {
        let tally = ledger.tally;
        Self {
            packets_in: tally.packets_in,
            bytes_in: tally.bytes_in,
            delivered: ledger.released.packets,
            bytes_delivered: ledger.released.bytes,
            ipv6_bytes_delivered: ledger.released.ipv6_bytes,
            duplicated: tally.duplicated,
            lost: tally.lost,
            queue_dropped: tally.queue_dropped,
            ecn_capable: tally.ecn_capable,
            marked: tally.marked,
            blocked: tally.blocked,
            policed: tally.policed,
            too_large: tally.too_large,
            thinned: tally.thinned,
            reordered_near: tally.reordered_near,
            reordered_far: tally.reordered_far,
            in_flight: tally.in_flight(ledger.released.packets),
            drop_set: tally.drop_set(),
            queue_ns: WaitReport {
                mean: tally.waited_ns.checked_div(tally.passed).unwrap_or(0),
                max: tally.longest_wait_ns,
            },
            lateness_ns: ledger.lateness.report(),
        }
    }
}

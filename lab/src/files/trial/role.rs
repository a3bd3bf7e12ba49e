//! A role: one program of a trial, and what it may have.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use h123_link::LONGEST_NS;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use serde::Deserialize;

use super::names::known_host;
use crate::files::log;
use crate::files::roots::Roots;

/// A command on a host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    pub name: String,
    pub host: String,
    pub kind: RoleKind,
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Services only: when the next role may start.
    #[serde(default)]
    pub ready: Option<Ready>,
    /// Services only: time between SIGTERM and SIGKILL.
    #[serde(default)]
    pub stop_timeout_ns: Option<u64>,
    /// Main only: the longest it may take.
    #[serde(default)]
    pub timeout_ns: Option<u64>,
    /// It may open sockets in the network that the lab was started in.
    #[serde(default)]
    pub outside: bool,
    /// It looks names up with the resolver of its host.
    #[serde(default)]
    pub resolver: bool,
    /// Those that it and its children may run on, by the kernel's numbers; none: all that the lab may.
    #[serde(default)]
    pub processors: Vec<usize>,
    /// It is a person's own program, and has what the lab was started with: the variables and what is in `/tmp`.
    #[serde(default)]
    pub inherits: bool,
    /// Folders of the machine in which what it writes stays.
    #[serde(default)]
    pub writes: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleKind {
    Service,
    Main,
}

/// What makes a service ready: all of it, within the timeout.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    #[serde(default)]
    pub tcp: Vec<u16>,
    #[serde(default)]
    pub udp: Vec<u16>,
    /// Where the ports must be open; sockets of no particular address are, too. Without one any will do.
    #[serde(default)]
    pub address: Option<IpAddr>,
    /// Whether a connection to the first TCP port must have been accepted: some programs open their ports long before.
    #[serde(default)]
    pub accepts: bool,
    #[serde(default)]
    pub line: Option<String>,
    /// Further TCP ports, which may be open at any address.
    #[serde(default)]
    pub besides: Vec<u16>,
    /// How long it may listen in other places alone before it is given up; without it, as long as anything may take.
    #[serde(default)]
    pub elsewhere_ns: Option<u64>,
    #[serde(default)]
    pub timeout_ns: Option<u64>,
}

impl Role {
    pub fn validate(&self, hosts: &[String], roots: &Roots) -> Result<(), String> {
        known_host(&self.host, hosts)?;
        log::names_a_file("a role", &self.name)?;
        match self.kind {
            RoleKind::Main if self.ready.is_some() || self.stop_timeout_ns.is_some() => {
                return Err("\"ready\" and \"stop_timeout_ns\" belong to services, not to the main role".into());
            }
            RoleKind::Service if self.timeout_ns.is_some() => {
                return Err("\"timeout_ns\" belongs to the main role; a service has \"stop_timeout_ns\" and \"ready.timeout_ns\"".into());
            }
            _ => {}
        }
        let ready_ns = self.ready.as_ref().and_then(|ready| ready.timeout_ns);
        let longest = self.timeout_ns.max(self.stop_timeout_ns).max(ready_ns);
        if longest > Some(LONGEST_NS) {
            return Err(format!("a timeout is at most {LONGEST_NS} ns, 115 days"));
        }
        let mut texts = self.command.iter().chain(self.env.keys()).chain(self.env.values());
        if texts.any(|text| text.contains('\0')) {
            return Err("no program can be given a text that contains a NUL (\\u0000)".into());
        }
        let Some(program) = self.command.first() else {
            return Err("its command is empty".into());
        };
        if !roots.has_program(program) {
            return Err(format!(
                "its command \"{program}\" does not exist or is not executable: install it, or give its absolute path"
            ));
        }
        if let Some(bad) = self.writes.iter().find(|f| !f.is_absolute() || !f.is_dir()) {
            return Err(format!("it writes into {}, which is not the absolute path of a folder", bad.display()));
        }
        if let Some(missing) = self.processors.iter().find(|&&n| !may_run_on(n)) {
            return Err(format!("it runs on processor {missing}, which does not exist, or which the lab may not use"));
        }
        Ok(())
    }

    /// What it may run on; none: all that the lab may.
    pub fn cpu_set(&self) -> Option<CpuSet> {
        let mut cpu_set = CpuSet::new();
        for &processor in &self.processors {
            cpu_set.set(processor).expect("validated: one of the lab's");
        }
        (!self.processors.is_empty()).then_some(cpu_set)
    }
}

fn may_run_on(processor: usize) -> bool {
    let usable = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    usable.is_set(processor).unwrap_or(false)
}

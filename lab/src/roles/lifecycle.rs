//! The roles of a trial: started on their hosts, waited for, watched, stopped, described.

mod description;
mod main_role;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::files::log;
use crate::files::message::Message;
use crate::files::trial::{Role, RoleKind};
use crate::host::account::ProcessorWait;
use crate::host::monotonic::{kernel_clock, now_ns};
use crate::host::outside::Outside;
use crate::link::network::Network;
use crate::roles::ending::Exit;
use crate::roles::launch::{Launch, Streams};
use crate::roles::nameserver;
use crate::roles::process::{Event, Processes};
use crate::roles::ready::{Open, Readiness};
use crate::roles::tcp_account::TcpAccount;
use crate::roles::usage::Usage;

const READY_TIMEOUT_NS: u64 = 10_000_000_000;
const STOP_TIMEOUT_NS: u64 = 3_000_000_000;
/// Between two looks at a service that is getting ready.
const READY_POLL_NS: u64 = 4_000_000;
/// A command that opens no port counts as ready when it has computed nothing for so long, or at the latest after the
/// longer time (`exec` only): on a busy machine one that will open a port may need seconds to do so.
const GRACE_NS: u64 = 1_000_000_000;
const LONGEST_GRACE_NS: u64 = 8_000_000_000;
/// Exit status by which a role says that it cannot do what is asked.
const UNSUPPORTED: i32 = 127;

/// Where the roles' output goes, and with it who looks at them.
pub enum Setting {
    /// `run`: working directory and logs in this folder.
    Folder(PathBuf),
    /// `exec`: the main role has the terminal, the services standard error; readiness is guessed.
    Terminal,
}

impl Setting {
    /// Where files of the trial go, if it leaves any.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Setting::Folder(dir) => Some(dir),
            Setting::Terminal => None,
        }
    }
}

/// All of a trial, as far as they were started.
pub struct Roles<'a> {
    setting: &'a Setting,
    /// The network that the lab was started in, if a role needs it.
    outside: Option<&'a Outside>,
    processes: Processes,
    /// Of each role that was started, in order.
    started: Vec<Started<'a>>,
    usage: Usage,
    /// When to look again at what the main role's threads have waited.
    waiting_due_ns: u64,
    tcp: Option<TcpAccount>,
}

struct Started<'a> {
    role: &'a Role,
    /// Among the processes.
    index: usize,
    ready_ns: Option<u64>,
    main_waiting: Option<ProcessorWait>,
}

impl<'a> Roles<'a> {
    pub fn new(setting: &'a Setting, outside: Option<&'a Outside>) -> Result<Self> {
        Ok(Self {
            setting,
            outside,
            processes: Processes::new()?,
            started: vec![],
            usage: Usage::default(),
            waiting_due_ns: 0,
            tcp: None,
        })
    }

    /// Starts a service and waits until it is ready.
    pub fn bring_up(&mut self, role: &'a Role, network: &mut Network) -> Result<(), Message> {
        let started = now_ns();
        let host = network.position(&role.host);
        let others = Open::on(&mut network.hosts[host]).map_err(Message::setup_failed)?;
        let index = self
            .start(role, network)
            .map_err(|e| Message::new("server-exited", format!("role {}: {e:#}", role.name)))?;
        let timeout = role.ready.as_ref().and_then(|r| r.timeout_ns).unwrap_or(READY_TIMEOUT_NS);
        let mut readiness = self.readiness(role, others).map_err(Message::setup_failed)?;
        let (mut used, mut quiet_since) = (0, started);
        loop {
            let missing = readiness.missing(&mut network.hosts[host]).map_err(Message::setup_failed)?;
            let elapsed = now_ns() - started;
            let used_now = self.processes.cpu_ns()[index];
            if used_now != used {
                (used, quiet_since) = (used_now, now_ns());
            }
            let quiet = now_ns() - quiet_since > GRACE_NS || elapsed > LONGEST_GRACE_NS;
            let guessed = matches!(self.setting, Setting::Terminal) && quiet;
            if missing.is_empty() || guessed {
                self.started.last_mut().expect("just started").ready_ns = Some(elapsed);
                return Ok(());
            }
            if elapsed > timeout || readiness.elsewhere_too_long(elapsed) {
                let detail = format!(
                    "role {} was not ready after {:.1} s: waiting for {}{}{}",
                    role.name,
                    elapsed as f64 / 1e9,
                    missing.join(" and "),
                    readiness.instead(),
                    self.tail(role)
                );
                return Err(Message::new("server-not-ready", detail));
            }
            match self.processes.wait(now_ns() + READY_POLL_NS).map_err(Message::setup_failed)? {
                Event::Deadline => {}
                Event::Interrupted => return Err(interrupted()),
                Event::Ended(which) if which == index && self.may_end(index) => {
                    self.started.last_mut().expect("just started").ready_ns = Some(now_ns() - started);
                    return Ok(());
                }
                Event::Ended(which) => return Err(self.service_ended(which)),
            }
        }
    }

    /// Lets the services wait until then.
    pub fn stand_by(&mut self, until_ns: u64) -> Result<(), Message> {
        match self.processes.wait(until_ns).map_err(Message::setup_failed)? {
            Event::Deadline => Ok(()),
            Event::Interrupted => Err(interrupted()),
            Event::Ended(which) => Err(self.service_ended(which)),
        }
    }

    /// Runs the main role, which begins now, and looks at what all roles use meanwhile, and at their connections.
    pub fn run_main(
        &mut self,
        role: &'a Role,
        network: &Network,
        begin_ns: u64,
        tcp: Option<TcpAccount>,
    ) -> Result<(), Message> {
        self.tcp = tcp;
        self.usage = Usage::begin(kernel_clock(), begin_ns, self.used());
        let outcome = self.follow_main(role, network);
        let used = self.used();
        self.usage.look(now_ns(), used);
        if let Some(tcp) = &mut self.tcp {
            tcp.end(network);
        }
        outcome
    }

    /// Writes TCP's account into the trial's folder, if there is one; returns how many rows it lacks.
    pub fn save_tcp(&self) -> Result<Option<u64>> {
        match (&self.tcp, self.setting.folder()) {
            (Some(tcp), Some(folder)) => tcp.save(folder),
            _ => Ok(None),
        }
    }

    /// What each role's threads have waited for a processor so far.
    pub fn waiting(&mut self) -> Vec<ProcessorWait> {
        let indices = self.started.iter().map(|s| s.index);
        indices.map(|i| self.processes.waiting(i)).collect()
    }

    /// Notes what the services waited since; the main role's threads are gone.
    pub fn note_waiting(&mut self, before: Vec<ProcessorWait>) {
        for (started, before) in self.started.iter_mut().zip(before) {
            started.main_waiting = Some(self.processes.waiting(started.index).since(before));
        }
    }

    /// In the reverse order of their start.
    pub fn stop_all(&mut self) -> Result<()> {
        for started in self.started.iter().rev() {
            let grace = match started.role.kind {
                RoleKind::Main => 0,
                RoleKind::Service => started.role.stop_timeout_ns.unwrap_or(STOP_TIMEOUT_NS),
            };
            self.processes.stop(started.index, grace)?;
        }
        self.processes.stop_strays()
    }

    pub fn kill_all(&mut self) {
        self.processes.kill_all();
    }

    /// CPU time of each role so far.
    fn used(&mut self) -> Vec<u64> {
        let used = self.processes.cpu_ns();
        self.started.iter().map(|s| used[s.index]).collect()
    }

    /// With `exec`, a server that ends well does so by intent.
    fn may_end(&self, index: usize) -> bool {
        matches!(self.setting, Setting::Terminal) && self.exit(index).is_some_and(|e| e.code == Some(0))
    }

    fn service_ended(&self, index: usize) -> Message {
        let started = self.started.iter().find(|s| s.index == index);
        match (started, self.exit(index)) {
            (Some(started), Some(exit)) => self.failure("server-exited", started.role, exit),
            _ => Message::new("server-exited", "a service ended"),
        }
    }

    fn failure(&self, code: &'static str, role: &Role, exit: Exit) -> Message {
        if exit.code == Some(UNSUPPORTED) {
            return Message::new(
                "unsupported",
                format!("role {} says it cannot do this here ({exit}){}", role.name, self.tail(role)),
            );
        }
        Message::new(code, format!("role {} ended with {exit}{}", role.name, self.tail(role)))
    }

    fn exit(&self, index: usize) -> Option<Exit> {
        self.processes.get(index).ending.as_ref().map(|e| e.exit)
    }

    fn start(&mut self, role: &'a Role, network: &Network) -> Result<usize> {
        let (dir, streams) = match self.setting {
            Setting::Folder(dir) => (Some(dir.clone()), Streams::Log(File::create(dir.join(log::file(&role.name)))?)),
            Setting::Terminal if role.kind == RoleKind::Main => (None, Streams::Ours),
            Setting::Terminal => (None, Streams::StandardError),
        };
        let namespace = network.host(&role.host).namespace();
        let launch = Launch {
            namespace,
            command: &role.command,
            env: &role.env,
            cpu_set: role.cpu_set(),
            outside: self.outside.filter(|_| role.outside),
            resolver: role.resolver.then(nameserver::configuration).transpose()?,
            dir,
            inherits: role.inherits,
            confined: matches!(self.setting, Setting::Folder(_)),
            streams,
        };
        let index = self.processes.start(launch)?;
        self.started.push(Started { role, index, ready_ns: None, main_waiting: None });
        Ok(index)
    }

    fn readiness(&self, role: &Role, others: Open) -> Result<Readiness> {
        match self.setting {
            Setting::Folder(dir) => Readiness::declared(
                role.ready.clone().unwrap_or_default(),
                Some(&dir.join(log::file(&role.name))),
                others,
            ),
            Setting::Terminal => Ok(Readiness::any_socket()),
        }
    }

    /// The last lines of a role's log, to be appended to a message.
    fn tail(&self, role: &Role) -> String {
        match self.setting {
            Setting::Folder(dir) => log::tail(&dir.join(log::file(&role.name))),
            Setting::Terminal => String::new(),
        }
    }
}

fn interrupted() -> Message {
    Message::new("interrupted", "a signal ended the trial")
}

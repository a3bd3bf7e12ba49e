//! The roles of a trial: started on their hosts, waited for, watched, stopped, described.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::files::log;
use crate::files::message::Message;
use crate::files::trial::{Role, RoleKind};
use crate::host::account::Waiting;
use crate::host::monotonic::{kernel_clock, now_ns};
use crate::host::outside::Outside;
use crate::link::network::Network;
use crate::roles::nameserver;
use crate::roles::process::{Event, Exit, Launch, Processes, Streams};
use crate::roles::ready::{Open, Readiness};
use crate::roles::report::{RoleCpu, RoleReport};
use crate::roles::tcp_account::TcpAccount;
use crate::roles::usage::Usage;

const READY_TIMEOUT_NS: u64 = 10_000_000_000;
const STOP_TIMEOUT_NS: u64 = 3_000_000_000;
/// Between two looks at a service that is getting ready.
const READY_POLL_NS: u64 = 4_000_000;
/// Between two looks at what the main role's threads have waited for a processor, at first: there may be hundreds.
const WAITING_POLL_NS: u64 = 25_000_000;
/// A command that opens no port counts as ready when it has computed nothing for so long, or at the latest after the
/// longer time (`exec` only): on a busy machine one that will open a port may need seconds to do so.
const GRACE_NS: u64 = 1_000_000_000;
const LONGEST_GRACE_NS: u64 = 8_000_000_000;
/// Of the processes that did not end with their roles.
const LEFTOVERS_SHOWN: usize = 5;
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
    main_waiting: Option<Waiting>,
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
        let timeout = role
            .ready
            .as_ref()
            .and_then(|r| r.timeout_ns)
            .unwrap_or(READY_TIMEOUT_NS);
        let mut readiness = self
            .readiness(role, others)
            .map_err(Message::setup_failed)?;
        let (mut used, mut quiet_since) = (0, started);
        loop {
            let missing = readiness
                .missing(&mut network.hosts[host])
                .map_err(Message::setup_failed)?;
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
            match self
                .processes
                .wait(now_ns() + READY_POLL_NS)
                .map_err(Message::setup_failed)?
            {
                Event::Deadline => {}
                Event::Interrupted => return Err(interrupted()),
                Event::Ended(which) if which == index && self.may_end(index) => {
                    self.started.last_mut().expect("just started").ready_ns =
                        Some(now_ns() - started);
                    return Ok(());
                }
                Event::Ended(which) => return Err(self.service_ended(which)),
            }
        }
    }

    /// Lets the services wait until then.
    pub fn stand_by(&mut self, until_ns: u64) -> Result<(), Message> {
        match self
            .processes
            .wait(until_ns)
            .map_err(Message::setup_failed)?
        {
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
    pub fn waiting(&mut self) -> Vec<Waiting> {
        let indices = self.started.iter().map(|s| s.index);
        indices.map(|i| self.processes.waiting(i)).collect()
    }

    /// Notes what the services waited since; the main role's threads are gone.
    pub fn note_waiting(&mut self, before: Vec<Waiting>) {
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

    pub fn describe(&self) -> Vec<RoleReport> {
        let started = self.started.iter().enumerate();
        started
            .map(|(position, started)| self.describe_role(position, started))
            .collect()
    }

    /// Services that did not end when they were asked to.
    pub fn killed(&self) -> Vec<Message> {
        let services = self
            .started
            .iter()
            .filter(|s| s.role.kind == RoleKind::Service);
        services
            .filter(|s| {
                self.exit(s.index)
                    .is_some_and(|e| e.stopped && e.signal == Some(libc::SIGKILL))
            })
            .map(|s| {
                let grace = s.role.stop_timeout_ns.unwrap_or(STOP_TIMEOUT_NS);
                let detail = format!(
                    "role {} still ran {:.1} s after SIGTERM, and was killed",
                    s.role.name,
                    grace as f64 / 1e9
                );
                Message::new("killed", detail)
            })
            .collect()
    }

    /// Keeps the logs short that are too long to be kept.
    pub fn shorten_logs(&self) -> Vec<Message> {
        let Setting::Folder(dir) = self.setting else {
            return vec![];
        };
        let mut said = vec![];
        for started in &self.started {
            let name = &started.role.name;
            match log::shorten(&dir.join(log::file(name))) {
                Ok(None) => {}
                Ok(Some(size)) => said.push(Message::new(
                    "log-cut",
                    format!(
                        "role {name} wrote {size} bytes of log, of which the middle was left out"
                    ),
                )),
                Err(error) => said.push(Message::new(
                    "log-cut",
                    format!("the log of role {name}: {error}"),
                )),
            }
        }
        said
    }

    /// What still ran when its role had ended.
    pub fn left_behind(&self) -> Option<Message> {
        let left = &self.processes.left_behind;
        let mut said: Vec<_> = left.values().take(LEFTOVERS_SHOWN).cloned().collect();
        if left.len() > said.len() {
            said.push(format!("{} more", left.len() - said.len()));
        }
        (!said.is_empty()).then(|| {
            let detail = format!(
                "still ran when its role had ended, and was killed: {}",
                said.join("; ")
            );
            Message::new("left-behind", detail)
        })
    }

    fn follow_main(&mut self, role: &'a Role, network: &Network) -> Result<(), Message> {
        let index = self
            .start(role, network)
            .map_err(|e| Message::new("client-failed", format!("role {}: {e:#}", role.name)))?;
        let deadline = role
            .timeout_ns
            .map_or(u64::MAX, |t| now_ns().saturating_add(t));
        loop {
            let look = deadline.min(self.look_at_main(index, network));
            match self.processes.wait(look).map_err(Message::setup_failed)? {
                Event::Ended(which) if which == index => return self.main_ended(index, role),
                Event::Ended(which) if self.may_end(which) => {}
                Event::Ended(which) => return Err(self.service_ended(which)),
                Event::Interrupted => return Err(interrupted()),
                Event::Deadline if now_ns() < deadline => {}
                Event::Deadline => {
                    let seconds = role.timeout_ns.unwrap_or(0) as f64 / 1e9;
                    return Err(Message::new(
                        "client-timeout",
                        format!(
                            "role {} did not end within {seconds:.1} s{}",
                            role.name,
                            self.tail(role)
                        ),
                    ));
                }
            }
        }
    }

    /// Looks at what the main role's threads have waited, what all roles have used and how connections are; returns when to
    /// look again. Where processing takes no time, only connections tell anything.
    fn look_at_main(&mut self, index: usize, network: &Network) -> u64 {
        if !self.usage.takes_time() {
            return self.look_at_connections(network);
        }
        if now_ns() >= self.waiting_due_ns {
            // Its threads take what they have waited with them: it is read while they live.
            let waiting = self.processes.waiting(index);
            let known = &mut self.started.last_mut().expect("just started").main_waiting;
            *known = (*known).max(Some(waiting));
            self.waiting_due_ns = now_ns() + self.usage.pace_ns(now_ns(), WAITING_POLL_NS);
        }
        if now_ns() >= self.usage.due_ns() {
            let used = self.used();
            self.usage.look(now_ns(), used);
        }
        self.look_at_connections(network);
        // Connections wait for the next of these: to wake up for them alone would cost more than to look at them.
        self.usage.due_ns().min(now_ns() + WAITING_POLL_NS)
    }

    /// Looks at how connections are, if it is time to; returns when to look again.
    fn look_at_connections(&mut self, network: &Network) -> u64 {
        let Some(tcp) = &mut self.tcp else {
            return u64::MAX;
        };
        if now_ns() >= tcp.due_ns() {
            tcp.look(network);
        }
        tcp.due_ns()
    }

    /// CPU time of each role so far.
    fn used(&mut self) -> Vec<u64> {
        let used = self.processes.cpu_ns();
        self.started.iter().map(|s| used[s.index]).collect()
    }

    fn main_ended(&self, index: usize, role: &Role) -> Result<(), Message> {
        match self.exit(index) {
            Some(Exit { code: Some(0), .. }) => Ok(()),
            Some(exit) => Err(self.failure("client-failed", role, exit)),
            None => Ok(()),
        }
    }

    /// With `exec`, a server that ends well does so by intent.
    fn may_end(&self, index: usize) -> bool {
        matches!(self.setting, Setting::Terminal)
            && self.exit(index).is_some_and(|e| e.code == Some(0))
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
                format!(
                    "role {} says it cannot do this here ({exit}){}",
                    role.name,
                    self.tail(role)
                ),
            );
        }
        Message::new(
            code,
            format!("role {} ended with {exit}{}", role.name, self.tail(role)),
        )
    }

    fn exit(&self, index: usize) -> Option<Exit> {
        self.processes.get(index).ending.as_ref().map(|e| e.exit)
    }

    fn start(&mut self, role: &'a Role, network: &Network) -> Result<usize> {
        let (dir, streams) = match self.setting {
            Setting::Folder(dir) => (
                Some(dir.clone()),
                Streams::Log(File::create(dir.join(log::file(&role.name)))?),
            ),
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
        self.started.push(Started {
            role,
            index,
            ready_ns: None,
            main_waiting: None,
        });
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

    fn describe_role(&self, position: usize, started: &Started) -> RoleReport {
        let ending = self.processes.get(started.index).ending.as_ref();
        let usage = self.usage.of(position);
        RoleReport {
            name: started.role.name.clone(),
            host: started.role.host.clone(),
            pid_exit: ending.map(|e| e.exit),
            ready_ns: started.ready_ns,
            cpu: RoleCpu {
                user_ns: ending.map_or(0, |e| e.cpu.user_ns),
                system_ns: ending.map_or(0, |e| e.cpu.system_ns),
                main_ns: usage.last().map_or(0, |(_, used)| *used),
                main_wait_ns: started.main_waiting.map(|w| w.wait_ns),
                main_turns: started.main_waiting.map(|w| w.turns),
                main_over_time: usage,
            },
            max_rss_bytes: ending.map_or(0, |e| e.max_rss_bytes),
            log: matches!(self.setting, Setting::Folder(_)).then(|| log::file(&started.role.name)),
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

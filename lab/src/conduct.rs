//! The order of a trial: hosts and links up, links checked, services up, main role, all down.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Result;

use crate::account::{Machine, Waiting, counters};
use crate::clock::now_ns;
use crate::guest;
use crate::log;
use crate::network::Network;
use crate::process::{Event, Exit, Launch, Processes, Streams};
use crate::ready::Readiness;
use crate::report::{Counters, Remark, Report, RoleCpu, RoleReport, Ways};
use crate::trial::{Clock, Role, RoleKind, Trial};
use crate::usage::Usage;
use crate::watch::Watch;

const READY_TIMEOUT_NS: u64 = 10_000_000_000;
const STOP_TIMEOUT_NS: u64 = 3_000_000_000;
/// Between two looks at a service that is getting ready.
const READY_POLL_NS: u64 = 4_000_000;
/// Between two looks at what the main role's threads have waited for a processor.
const WAITING_POLL_NS: u64 = 25_000_000;
/// Times that a link may be checked before a trial.
const CHECKS: usize = 3;
/// A command that opens no port counts as ready after this time (`exec` only).
const GRACE_NS: u64 = 1_000_000_000;
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

/// Executes the trial. Whatever goes wrong is a reason in the report.
pub fn conduct(trial: &Trial, setting: &Setting) -> Report {
    let mut report = Report::new(&trial.id, guest::clock());
    // Under the virtual clock nothing is ever late.
    let watch = (guest::clock() == Clock::Wall).then(Watch::begin);
    let result = Processes::new()
        .map_err(setup_failed)
        .and_then(|processes| {
            let mut conductor = Conductor {
                trial,
                setting,
                processes,
                started: vec![],
                usage: Usage::default(),
                report: &mut report,
            };
            conductor.perform()
        });
    report.machine.stalls = watch.and_then(Watch::end);
    report.reasons.extend(result.err());
    report.valid = report.reasons.is_empty();
    report
}

struct Conductor<'a> {
    trial: &'a Trial,
    setting: &'a Setting,
    processes: Processes,
    /// Of each role that was started, in order.
    started: Vec<Started<'a>>,
    usage: Usage,
    report: &'a mut Report,
}

struct Started<'a> {
    role: &'a Role,
    /// Among the processes.
    index: usize,
    ready_ns: Option<u64>,
    main_waiting: Option<Waiting>,
}

impl<'a> Conductor<'a> {
    fn perform(&mut self) -> Result<(), Remark> {
        let begin = now_ns();
        let mut network = Network::build(self.trial).map_err(setup_failed)?;
        self.describe(&mut network);
        self.report.phases_ns.setup = now_ns() - begin;
        let result = self
            .check(&mut network)
            .and_then(|()| self.play(&mut network));
        let begin = now_ns();
        let stopped = self.stop_all().map_err(setup_failed);
        self.describe_roles();
        self.describe_left_behind();
        self.processes.kill_all();
        drop(network);
        self.report.phases_ns.teardown = now_ns() - begin;
        result.and(stopped)
    }

    fn describe(&mut self, network: &mut Network) {
        self.report.warnings.append(&mut network.warnings);
        self.report.hosts = network.describe_hosts();
        self.report.links = network.describe_links(self.trial);
    }

    fn check(&mut self, network: &mut Network) -> Result<(), Remark> {
        if !self.trial.check {
            return Ok(());
        }
        let begin = now_ns();
        for (index, link) in self.trial.links.iter().enumerate() {
            let mut checked = network.check(index, link).map_err(setup_failed)?;
            for _ in 1..CHECKS {
                // A link that is wrong is wrong again; a machine that stalled for a moment is not.
                let Some(failed) = checked.take_if(|c| !c.passed) else {
                    break;
                };
                let detail = format!("{}: {}", link.name, failed.failures.join("; "));
                self.report
                    .warnings
                    .push(Remark::new("link-check-repeated", detail));
                checked = network.check(index, link).map_err(setup_failed)?;
            }
            let omissions = checked.iter().flat_map(|c| &c.omissions);
            let unchecked = omissions
                .map(|what| Remark::new("link-unchecked", format!("{}: {what}", link.name)));
            self.report.warnings.extend(unchecked);
            self.report.links[index].check = checked;
        }
        self.report.phases_ns.check = now_ns() - begin;
        let failures = self.report.links.iter().flat_map(|link| {
            link.check
                .iter()
                .flat_map(|c| &c.failures)
                .map(move |failure| format!("{}: {failure}", link.name))
        });
        match failures.collect::<Vec<_>>() {
            failures if failures.is_empty() => Ok(()),
            failures => Err(Remark::new("link-check-failed", failures.join("; "))),
        }
    }

    /// From the first service's start to the main role's end.
    fn play(&mut self, network: &mut Network) -> Result<(), Remark> {
        let begin = now_ns();
        for role in self.trial.services() {
            let outcome = self.bring_up(role, network);
            self.report.phases_ns.ready = now_ns() - begin;
            outcome?;
        }
        self.take_counters(network, |c| &mut c.before)?;
        for emulated in network.links.iter_mut().flatten() {
            let course = emulated.course.clone();
            emulated.link.begin(&course).map_err(setup_failed)?;
        }
        let services_before: Vec<Waiting> = self
            .started
            .iter()
            .map(|s| self.processes.waiting(s.index))
            .collect();
        let machine = Machine::now();
        let begin = now_ns();
        self.usage = Usage::begin(guest::clock(), begin, self.used());
        let outcome = self.run_main(network);
        self.usage.look(now_ns(), self.used());
        self.report.phases_ns.main = now_ns() - begin;
        self.report.main_began_ns = begin;
        self.report.machine = Machine::now().since(&machine);
        for (started, before) in self.started.iter_mut().zip(services_before) {
            started.main_waiting = Some(self.processes.waiting(started.index).since(before));
        }
        self.take_counters(network, |c| &mut c.after)?;
        let read = self.read_links(network);
        outcome.and(read)
    }

    /// CPU time of each role so far.
    fn used(&self) -> Vec<u64> {
        let indices = self.started.iter().map(|s| s.index);
        indices.map(|i| self.processes.cpu_ns(i)).collect()
    }

    fn bring_up(&mut self, role: &'a Role, network: &mut Network) -> Result<(), Remark> {
        let started = now_ns();
        let index = self
            .start(role, network)
            .map_err(|e| Remark::new("server-exited", format!("role {}: {e:#}", role.name)))?;
        let timeout = role
            .ready
            .as_ref()
            .and_then(|r| r.timeout_ns)
            .unwrap_or(READY_TIMEOUT_NS);
        let mut readiness = self.readiness(role).map_err(setup_failed)?;
        let host = network.position(&role.host);
        loop {
            let missing = readiness
                .missing(&mut network.hosts[host])
                .map_err(setup_failed)?;
            let elapsed = now_ns() - started;
            let guessed = matches!(self.setting, Setting::Terminal) && elapsed > GRACE_NS;
            if missing.is_empty() || guessed {
                self.started.last_mut().expect("just started").ready_ns = Some(elapsed);
                return Ok(());
            }
            if elapsed > timeout {
                let detail = format!(
                    "role {} was not ready after {:.1} s: waiting for {}{}",
                    role.name,
                    timeout as f64 / 1e9,
                    missing.join(" and "),
                    self.tail(role)
                );
                return Err(Remark::new("server-not-ready", detail));
            }
            match self
                .processes
                .wait(now_ns() + READY_POLL_NS)
                .map_err(setup_failed)?
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

    fn run_main(&mut self, network: &Network) -> Result<(), Remark> {
        let role = self.trial.main();
        let index = self
            .start(role, network)
            .map_err(|e| Remark::new("client-failed", format!("role {}: {e:#}", role.name)))?;
        let deadline = role
            .timeout_ns
            .map_or(u64::MAX, |t| now_ns().saturating_add(t));
        loop {
            // Its threads take what they have waited with them: it is read while they live.
            let waiting = self.processes.waiting(index);
            let known = &mut self.started.last_mut().expect("just started").main_waiting;
            *known = (*known).max(Some(waiting));
            if now_ns() >= self.usage.due_ns() {
                self.usage.look(now_ns(), self.used());
            }
            let look = deadline
                .min(now_ns() + WAITING_POLL_NS)
                .min(self.usage.due_ns());
            match self.processes.wait(look).map_err(setup_failed)? {
                Event::Ended(which) if which == index => return self.main_ended(index, role),
                Event::Ended(which) if self.may_end(which) => {}
                Event::Ended(which) => return Err(self.service_ended(which)),
                Event::Interrupted => return Err(interrupted()),
                Event::Deadline if now_ns() < deadline => {}
                Event::Deadline => {
                    let seconds = role.timeout_ns.unwrap_or(0) as f64 / 1e9;
                    return Err(Remark::new(
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

    fn main_ended(&self, index: usize, role: &Role) -> Result<(), Remark> {
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

    fn service_ended(&self, index: usize) -> Remark {
        let started = self.started.iter().find(|s| s.index == index);
        match (started, self.exit(index)) {
            (Some(started), Some(exit)) => self.failure("server-exited", started.role, exit),
            _ => Remark::new("server-exited", "a service ended"),
        }
    }

    fn failure(&self, code: &'static str, role: &Role, exit: Exit) -> Remark {
        if exit.code == Some(UNSUPPORTED) {
            return Remark::new(
                "unsupported",
                format!(
                    "role {} says it cannot do this here ({exit}){}",
                    role.name,
                    self.tail(role)
                ),
            );
        }
        Remark::new(
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
            dir,
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

    fn readiness(&self, role: &Role) -> Result<Readiness> {
        match self.setting {
            Setting::Folder(dir) => Readiness::declared(
                role.ready.clone().unwrap_or_default(),
                Some(&dir.join(log::file(&role.name))),
            ),
            Setting::Terminal => Ok(Readiness::any_socket()),
        }
    }

    fn take_counters(
        &mut self,
        network: &mut Network,
        which: fn(&mut Counters) -> &mut std::collections::BTreeMap<String, i64>,
    ) -> Result<(), Remark> {
        for (host, report) in network.hosts.iter_mut().zip(&mut self.report.hosts) {
            *which(&mut report.counters) = counters(&host.counters().map_err(setup_failed)?);
        }
        Ok(())
    }

    /// Ends the measured course of every link.
    fn read_links(&mut self, network: &mut Network) -> Result<(), Remark> {
        let mut overrun = vec![];
        for (emulated, report) in network.links.iter_mut().zip(&mut self.report.links) {
            let Some(emulated) = emulated else { continue };
            let base = emulated.base.clone();
            let turn = emulated.link.begin(&base).map_err(setup_failed)?;
            let [up, down] = turn.ledgers;
            let missed = up.overrun + down.overrun;
            if missed > 0 {
                overrun.push(format!(
                    "{}: its thread stalled for so long that the kernel dropped {missed} packets before it",
                    report.name
                ));
            }
            report.stalls = Some(up.stalls.clone().join(down.stalls.clone()));
            report.directions = Some(Ways {
                up: up.into(),
                down: down.into(),
            });
            if let (Some(packets), Setting::Folder(dir)) = (turn.packets, self.setting) {
                let left_out = packets.save(dir, &report.name).map_err(setup_failed)?;
                self.report.warnings.extend(left_out);
            }
        }
        if overrun.is_empty() {
            Ok(())
        } else {
            Err(Remark::new("link-overrun", overrun.join("; ")))
        }
    }

    fn stop_all(&mut self) -> Result<()> {
        for started in self.started.iter().rev() {
            let grace = match started.role.kind {
                RoleKind::Main => 0,
                RoleKind::Service => started.role.stop_timeout_ns.unwrap_or(STOP_TIMEOUT_NS),
            };
            self.processes.stop(started.index, grace)?;
        }
        self.processes.stop_strays()
    }

    fn describe_left_behind(&mut self) {
        let left = &self.processes.left_behind;
        let mut said: Vec<_> = left.values().take(LEFTOVERS_SHOWN).cloned().collect();
        if left.len() > said.len() {
            said.push(format!("{} more", left.len() - said.len()));
        }
        if !said.is_empty() {
            let detail = format!(
                "still ran when its role had ended, and was killed: {}",
                said.join("; ")
            );
            self.report
                .warnings
                .push(Remark::new("left-behind", detail));
        }
    }

    fn describe_roles(&mut self) {
        self.report.roles = self
            .started
            .iter()
            .enumerate()
            .map(|(position, started)| self.describe_role(position, started))
            .collect();
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

fn setup_failed(error: anyhow::Error) -> Remark {
    Remark::new("setup-failed", format!("{error:#}"))
}

fn interrupted() -> Remark {
    Remark::new("interrupted", "a signal ended the trial")
}

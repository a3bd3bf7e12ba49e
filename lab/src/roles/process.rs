//! The processes of the roles, and everything they leave behind: this process is their PID 1.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::unistd::Pid;

use crate::host::account::{ProcessorWait, command_of, cpu_of, is_zombie, session_of};
use crate::host::monotonic::now_ns;
use crate::roles::ending::{Ending, reap_one};
use crate::roles::launch::Launch;
use crate::roles::process_tree::ProcessTree;

/// What a role has left running gets this long to follow it.
const PARTING_NS: u64 = 100_000_000;
const PARTING_POLL_NS: u64 = 5_000_000;

/// All roles' processes. Each role is a session of its own, so that what it leaves behind can be told from others'.
pub struct Processes {
    signals: SignalFd,
    running: Vec<Process>,
    tree: ProcessTree,
    /// CPU time of reaped orphans, by their role's process.
    orphans: HashMap<i32, u64>,
    pub interrupted: bool,
    /// Commands of processes that did not end with their roles, by id.
    pub left_behind: BTreeMap<i32, String>,
}

pub struct Process {
    pid: Pid,
    pub ending: Option<Ending>,
    /// The lab has asked it to stop.
    stopped: bool,
    /// Its end has been told by `wait`.
    told: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The process with this index.
    Ended(usize),
    Interrupted,
    Deadline,
}

impl Processes {
    /// Needs SIGCHLD and SIGTERM blocked.
    pub fn new() -> Result<Self> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.add(Signal::SIGTERM);
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = SignalFd::with_flags(&mask, flags).context("creating a signalfd")?;
        Ok(Self {
            signals,
            running: vec![],
            tree: ProcessTree::default(),
            orphans: HashMap::new(),
            interrupted: false,
            left_behind: BTreeMap::new(),
        })
    }

    /// Starts a process; returns its index.
    pub fn start(&mut self, launch: Launch) -> Result<usize> {
        let pid = launch.spawn()?;
        self.tree.add(pid.as_raw());
        self.running.push(Process { pid, ending: None, stopped: false, told: false });
        Ok(self.running.len() - 1)
    }

    pub fn get(&self, index: usize) -> &Process {
        &self.running[index]
    }

    /// Waits for the next event. Ends are told once each; an interrupt is told every time.
    pub fn wait(&mut self, deadline_ns: u64) -> Result<Event> {
        loop {
            self.take_signals()?;
            self.reap();
            if self.interrupted {
                return Ok(Event::Interrupted);
            }
            if let Some(index) = self.running.iter().position(|p| p.ending.is_some() && !p.told) {
                self.running[index].told = true;
                return Ok(Event::Ended(index));
            }
            let now = now_ns();
            if now >= deadline_ns {
                return Ok(Event::Deadline);
            }
            self.sleep(deadline_ns - now)?;
        }
    }

    /// Ends a process: SIGTERM to it and its group, SIGKILL after the grace; then what is left of its session.
    pub fn stop(&mut self, index: usize, grace_ns: u64) -> Result<()> {
        let pid = self.running[index].pid;
        if self.running[index].ending.is_none() {
            self.running[index].stopped = true;
            signal_group(pid, Signal::SIGTERM);
            if !self.wait_for(index, now_ns().saturating_add(grace_ns))? {
                signal_group(pid, Signal::SIGKILL);
                self.wait_for(index, u64::MAX)?;
            }
        }
        self.end_leftovers(|process| session_of(process) == Some(pid.as_raw()))
    }

    /// Ends what no role's end has ended: processes in sessions of their own.
    pub fn stop_strays(&mut self) -> Result<()> {
        let us = std::process::id() as i32;
        self.end_leftovers(|process| process != us)
    }

    /// Kills those of the living processes that do not end by themselves within a moment, and keeps in mind what they were.
    fn end_leftovers(&mut self, ours: impl Fn(i32) -> bool) -> Result<()> {
        let deadline = now_ns() + PARTING_NS;
        let living = || {
            let all = crate::host::account::processes();
            let left: Vec<i32> = all.filter(|&p| ours(p) && !is_zombie(p)).collect();
            left
        };
        let mut left = living();
        while !left.is_empty() && now_ns() < deadline && !self.interrupted {
            self.sleep(PARTING_POLL_NS)?;
            self.take_signals()?;
            self.reap();
            left = living();
        }
        for process in left {
            self.left_behind.entry(process).or_insert_with(|| command_of(process));
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
        Ok(())
    }

    /// CPU time so far, ns, of each role by its index: of its living processes, of children they waited for, of orphans.
    pub fn cpu_ns(&mut self) -> Vec<u64> {
        let living = self.tree.living();
        let of = |process: &Process| {
            let role = process.pid.as_raw();
            let ended = process.ending.as_ref().map_or(0, |e| e.cpu.total_ns());
            let its = living.iter().filter(|(_, whose)| *whose == role);
            let living: u64 = its.map(|(pid, _)| cpu_of(*pid)).sum();
            ended + living + self.orphans.get(&role).copied().unwrap_or(0)
        };
        self.running.iter().map(of).collect()
    }

    /// What the role's living threads have waited for a processor so far.
    pub fn waiting(&mut self, index: usize) -> ProcessorWait {
        let role = self.running[index].pid.as_raw();
        let living = self.tree.living().into_iter();
        ProcessorWait::of(living.filter_map(|(pid, whose)| (whose == role).then_some(pid)))
    }

    /// Ends everything that is left but this process.
    pub fn kill_all(&mut self) {
        // ESRCH: nothing is left.
        let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
        while reap_one(0).is_some() {}
    }

    /// Waits for one process whatever else happens; false if the deadline came first.
    fn wait_for(&mut self, index: usize, deadline_ns: u64) -> Result<bool> {
        loop {
            self.take_signals()?;
            self.reap();
            if self.running[index].ending.is_some() {
                self.running[index].told = true;
                return Ok(true);
            }
            let now = now_ns();
            if now >= deadline_ns {
                return Ok(false);
            }
            self.sleep(deadline_ns - now)?;
        }
    }

    fn sleep(&self, ns: u64) -> Result<()> {
        let mut events = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        let timeout = TimeSpec::from_duration(std::time::Duration::from_nanos(ns));
        match ppoll(&mut events, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn take_signals(&mut self) -> Result<()> {
        while let Some(signal) = self.signals.read_signal()? {
            self.interrupted |= signal.ssi_signo == Signal::SIGTERM as u32;
        }
        Ok(())
    }

    fn reap(&mut self) {
        while let Some(dead) = reap_one(libc::WNOHANG) {
            let role = self.running.iter_mut().find(|p| p.pid == dead.pid && p.ending.is_none());
            match role {
                Some(process) => process.ending = Some(dead.ending(process.stopped)),
                None => {
                    if let Some(role) = self.tree.role_of_session(dead.session) {
                        *self.orphans.entry(role).or_default() += dead.cpu.total_ns();
                    }
                }
            }
        }
    }
}

/// Signals the process and, where it leads one, its group. It may have ended meanwhile.
fn signal_group(pid: Pid, signal: Signal) {
    if kill(Pid::from_raw(-pid.as_raw()), signal).is_err() {
        let _ = kill(pid, signal);
    }
}

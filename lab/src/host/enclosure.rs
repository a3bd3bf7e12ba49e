//! The enclosure: PID, mount, network, IPC and UTS namespaces of the lab's own, in which everything runs.
//!
//! The process the user started stays outside and waits. Its child is PID 1 inside: when that ends, by
//! itself or because the one outside was killed, the kernel ends every process in the enclosure, and with the
//! last of them go the network namespaces, devices and mounts. Nothing is ever given a name outside.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Context;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, dup2_stderr, fork, getppid, pipe};

use crate::files::refusal::Refusal;
use crate::host::privilege;

/// Signals that end a trial early.
const INTERRUPTS: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// Runs `body` as PID 1 of a new enclosure and returns its exit status, or 128 + n after signal n.
///
/// `body` runs with all signals blocked; a SIGTERM asks it to end early.
/// Must be called before the program starts any thread.
pub fn run(die_with_parent: bool, body: impl FnOnce() -> u8) -> Result<u8, Refusal> {
    watched(die_with_parent, Some(CloneFlags::CLONE_NEWPID), body)
}

/// The same without namespaces: `body` runs in a process of its own, on the machine as it is.
pub fn run_without(die_with_parent: bool, body: impl FnOnce() -> u8) -> Result<u8, Refusal> {
    watched(die_with_parent, None, body)
}

/// Whether there can be an enclosure here, tried with all that `body` does in it; if not, why.
pub fn try_out(body: impl FnOnce() -> u8) -> Result<(), String> {
    let (heard, said) = pipe().map_err(|e| e.to_string())?;
    // SAFETY: no thread has been started yet, so the child may do anything.
    match unsafe { fork() }.map_err(|e| e.to_string())? {
        ForkResult::Parent { child } => {
            drop(said);
            let mut complaint = String::new();
            let _ = File::from(heard).read_to_string(&mut complaint);
            match waitpid(child, None) {
                Ok(WaitStatus::Exited(_, 0)) => Ok(()),
                _ => Err(complaint.trim().trim_start_matches("h123-lab: ").into()),
            }
        }
        ForkResult::Child => {
            let _ = dup2_stderr(&said);
            drop((heard, said));
            let status = run(true, body).unwrap_or_else(complain);
            std::process::exit(status.into());
        }
    }
}

fn watched(die_with_parent: bool, apart: Option<CloneFlags>, body: impl FnOnce() -> u8) -> Result<u8, Refusal> {
    let parent = getppid();
    if apart.is_some() {
        privilege::acquire()?;
    }
    if die_with_parent {
        set_pdeathsig(Signal::SIGKILL)
            .map_err(|e| Refusal::machine(format!("cannot follow the parent process: {e}")))?;
        if getppid() != parent {
            return Err(Refusal::machine("the parent process has ended"));
        }
    }
    SigSet::all().thread_block().expect("a full signal set is valid");
    let (outside, lifeline) = pipe().map_err(|e| Refusal::machine(format!("cannot create a pipe: {e}")))?;
    apart.map_or(Ok(()), unshare).map_err(privilege::no_namespaces)?;
    // SAFETY: no thread has been started yet, so the child may do anything.
    match unsafe { fork() }.map_err(|e| Refusal::machine(format!("cannot fork: {e}")))? {
        ForkResult::Parent { child } => {
            drop(outside);
            let status = wait_outside(child);
            drop(lifeline);
            status
        }
        ForkResult::Child => {
            drop(lifeline);
            let entered = follow(&outside).and_then(|()| apart.map_or(Ok(()), |_| enter()));
            let status = entered.map_or_else(complain, |()| body());
            std::process::exit(status.into());
        }
    }
}

fn complain(refusal: Refusal) -> u8 {
    eprintln!("h123-lab: {refusal}");
    refusal.status
}

/// Waits for the enclosure and passes signals on to it: the first asks, the second kills.
fn wait_outside(child: Pid) -> Result<u8, Refusal> {
    let mut waited_for = SigSet::empty();
    INTERRUPTS.into_iter().for_each(|s| waited_for.add(s));
    waited_for.add(Signal::SIGCHLD);
    let mut interrupt = None;
    loop {
        let signal = waited_for.wait().expect("a set of valid signals");
        if signal != Signal::SIGCHLD {
            let order = if interrupt.is_none() { Signal::SIGTERM } else { Signal::SIGKILL };
            interrupt = Some(signal);
            // The enclosure may have ended already: then SIGCHLD is on its way.
            let _ = kill(child, order);
            continue;
        }
        let status = match waitpid(child, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, status)) => Ok(status as u8),
            Ok(WaitStatus::Signaled(_, signal, _)) => Err(Refusal::killed(signal as u8)),
            _ => continue,
        };
        return match interrupt {
            Some(signal) => Ok(128 + signal as u8),
            None => status,
        };
    }
}

/// Ties the child's life to the process outside.
fn follow(outside: &OwnedFd) -> Result<(), Refusal> {
    set_pdeathsig(Signal::SIGKILL).map_err(|e| Refusal::machine(format!("cannot follow the process outside: {e}")))?;
    // The process outside may have ended before the line above: then its end of the pipe is closed.
    let mut ends = [PollFd::new(outside.as_fd(), PollFlags::POLLIN)];
    if poll(&mut ends, PollTimeout::ZERO) != Ok(0) {
        return Err(Refusal::machine("the process outside has ended"));
    }
    Ok(())
}

/// Leaves the machine's namespaces.
fn enter() -> Result<(), Refusal> {
    let apart =
        CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS;
    unshare(apart).map_err(privilege::no_namespaces)?;
    arrange_mounts().map_err(|e| Refusal::machine(format!("cannot arrange the lab's mounts: {e:#}")))
}

fn arrange_mounts() -> anyhow::Result<()> {
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing).context("making / private")?;
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), safe, nothing).context("mounting /proc")
}

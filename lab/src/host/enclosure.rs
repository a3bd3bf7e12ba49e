//! The enclosure: PID, mount, network, IPC and UTS namespaces of the lab's own, in which everything runs.
//!
//! The process the user started stays outside and waits. Its child is PID 1 inside: when that ends, by
//! itself or because the one outside was killed, the kernel ends every process in the enclosure, and with the
//! last of them go the network namespaces, devices and mounts. Nothing is ever given a name outside.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, Uid, fork, getppid, pipe};

use crate::files::refusal::Refusal;

/// Signals that end a trial early.
const INTERRUPTS: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Runs `body` as PID 1 of a new enclosure and returns its exit status, or 128 + n after signal n.
///
/// `body` runs with all signals blocked; a SIGTERM asks it to end early.
/// Must be called before the program starts any thread.
pub fn run(die_with_parent: bool, body: impl FnOnce() -> u8) -> Result<u8, Refusal> {
    let parent = getppid();
    if die_with_parent {
        set_pdeathsig(Signal::SIGKILL)
            .map_err(|e| Refusal::machine(format!("cannot follow the parent process: {e}")))?;
        if getppid() != parent {
            return Err(Refusal::machine("the parent process has ended"));
        }
    }
    require_root()?;
    SigSet::all()
        .thread_block()
        .expect("a full signal set is valid");
    let (outside, lifeline) =
        pipe().map_err(|e| Refusal::machine(format!("cannot create a pipe: {e}")))?;
    unshare(CloneFlags::CLONE_NEWPID).map_err(no_namespaces)?;
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
            let status = enter(&outside).map_or_else(complain, |()| body());
            std::process::exit(status.into());
        }
    }
}

fn complain(refusal: Refusal) -> u8 {
    eprintln!("h123-lab: {refusal}");
    refusal.status
}

pub fn require_root() -> Result<(), Refusal> {
    if Uid::effective().is_root() {
        return Ok(());
    }
    Err(Refusal::machine(
        "running a lab needs root, because only root may create network namespaces: use sudo",
    ))
}

fn no_namespaces(error: Errno) -> Refusal {
    Refusal::machine(format!(
        "cannot create namespaces ({error}): this needs CAP_SYS_ADMIN; in a container, run it with --privileged"
    ))
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
            let order = if interrupt.is_none() {
                Signal::SIGTERM
            } else {
                Signal::SIGKILL
            };
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

/// The child's part: tie its life to the process outside, leave the machine's namespaces.
fn enter(outside: &OwnedFd) -> Result<(), Refusal> {
    set_pdeathsig(Signal::SIGKILL)
        .map_err(|e| Refusal::machine(format!("cannot follow the process outside: {e}")))?;
    // The process outside may have ended before the line above: then its end of the pipe is closed.
    let mut ends = [PollFd::new(outside.as_fd(), PollFlags::POLLIN)];
    if poll(&mut ends, PollTimeout::ZERO) != Ok(0) {
        return Err(Refusal::machine("the process outside has ended"));
    }
    let apart = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    unshare(apart).map_err(no_namespaces)?;
    arrange_mounts()
        .map_err(|e| Refusal::machine(format!("cannot arrange the lab's mounts: {e:#}")))
}

fn arrange_mounts() -> anyhow::Result<()> {
    let nothing: Option<&str> = None;
    mount(
        nothing,
        "/",
        nothing,
        MsFlags::MS_REC | MsFlags::MS_PRIVATE,
        nothing,
    )
    .context("making / private")?;
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), safe, nothing).context("mounting /proc")
}

/// Has what is added to the temporary folders go with the lab.
pub fn cover_temporary() -> anyhow::Result<()> {
    temporary().try_for_each(|place| cover(place, |_| true))
}

/// The same, but what is in them is hidden unless it leads to one of these.
pub fn cover_temporary_but(needed: &[&Path]) -> anyhow::Result<()> {
    let leads = |entry: &Path| needed.iter().any(|path| path.starts_with(entry));
    temporary().try_for_each(|place| cover(place, leads))
}

fn temporary() -> impl Iterator<Item = &'static Path> {
    ["/tmp", "/var/tmp"]
        .map(Path::new)
        .into_iter()
        .filter(|place| place.is_dir())
}

/// Makes a file or folder appear as `target`, in the enclosure's own /tmp. What the machine has there is hidden.
pub fn bind(source: &Path, target: &Path) -> anyhow::Result<()> {
    // A link would lead out of it.
    let _ = std::fs::remove_file(target);
    if !target.exists() {
        if source.is_dir() {
            std::fs::create_dir(target)?;
        } else {
            File::create(target)?;
        }
    }
    let nothing: Option<&str> = None;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(source), target, nothing, flags, nothing)
        .with_context(|| format!("mounting {}", source.display()))
}

/// Covers a folder with a fresh tmpfs and binds back into it what stands there already and is `kept`, so that its path
/// keeps its meaning and what the roles add goes with the lab.
fn cover(place: &Path, kept: impl Fn(&Path) -> bool) -> anyhow::Result<()> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let covered = open(place, flags, Mode::empty())
        .with_context(|| format!("opening {}", place.display()))?;
    let beneath = PathBuf::from(format!("/proc/self/fd/{}", covered.as_raw_fd()));
    // A relative working directory would stay on what is covered.
    let here = std::env::current_dir();
    mount(
        Some("tmpfs"),
        place,
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some("mode=1777"),
    )
    .with_context(|| format!("mounting {}", place.display()))?;
    for entry in std::fs::read_dir(&beneath)?.flatten() {
        // Others may be removing their files at this moment: what has gone need not be kept.
        let target = place.join(entry.file_name());
        if kept(&target) {
            let _ = keep(&entry.path(), &target);
        }
    }
    // It may have been taken away.
    let _ = here.map(std::env::set_current_dir);
    Ok(())
}

/// Makes what `source` names appear as `target`, too.
fn keep(source: &Path, target: &Path) -> anyhow::Result<()> {
    let kind = source.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        return Ok(symlink(source.read_link()?, target)?);
    }
    if kind.is_dir() {
        std::fs::create_dir(target)?;
    } else {
        File::create(target)?;
    }
    let nothing: Option<&str> = None;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    Ok(mount(Some(source), target, nothing, flags, nothing)?)
}

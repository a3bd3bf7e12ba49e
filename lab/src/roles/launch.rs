//! How the process of a role starts: on its host, with what it may have.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, CpuSet, sched_setaffinity, setns};
use nix::sys::signal::SigSet;
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Pid, setsid};

use crate::files::surroundings;
use crate::host::outside::{self, Outside};
use crate::host::{confinement, sysfs};
use crate::roles::nameserver;

/// What to start.
pub struct Launch<'a> {
    pub namespace: BorrowedFd<'a>,
    pub command: &'a [String],
    pub env: &'a BTreeMap<String, String>,
    /// Where it may run; none: wherever the lab may.
    pub cpu_set: Option<CpuSet>,
    /// What the process may have of the network that the lab was started in.
    pub outside: Option<&'a Outside>,
    /// The file that names the resolver it is to ask; none: the machine's own.
    pub resolver: Option<&'a CStr>,
    pub dir: Option<PathBuf>,
    /// Whether it has the variables that we have, instead of the fixed ones.
    pub inherits: bool,
    /// Whether it may do to the machine only what servers need.
    pub confined: bool,
    pub streams: Streams,
}

pub enum Streams {
    /// Standard input closed, both outputs into this file.
    Log(File),
    /// Standard input closed, both outputs to our standard error.
    StandardError,
    /// All three are ours; the process stays in our session, to be reached by the terminal.
    Ours,
}

impl Launch<'_> {
    /// Starts it.
    pub fn spawn(self) -> Result<Pid> {
        let (program, arguments) = self.command.split_first().context("an empty command")?;
        let mut command = Command::new(program);
        command.args(arguments);
        if !self.inherits {
            command.env_clear().envs(surroundings::variables(program));
        }
        command.envs(self.env);
        if let Some(dir) = self.dir {
            command.current_dir(dir);
        }
        let own_session = !matches!(self.streams, Streams::Ours);
        match self.streams {
            Streams::Log(log) => command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log),
            Streams::StandardError => command.stdin(Stdio::null()).stdout(std::io::stderr()).stderr(Stdio::inherit()),
            Streams::Ours => &mut command,
        };
        let namespace = self.namespace.as_raw_fd();
        let outside = self.outside.map(Outside::as_raw_fd);
        let cpu_set = self.cpu_set;
        let (inherits, confined) = (self.inherits, self.confined);
        let resolver = self.resolver.map(CStr::to_owned);
        if let Some(descriptor) = outside {
            command.env(outside::VARIABLE, descriptor.to_string());
        }
        // SAFETY: only system calls; the namespace stays open during the call to spawn.
        unsafe {
            command.pre_exec(move || {
                setns(BorrowedFd::borrow_raw(namespace), CloneFlags::CLONE_NEWNET)?;
                sysfs::renew()?;
                resolver.as_deref().map_or(Ok(()), nameserver::appoint)?;
                if let Some(cpu_set) = &cpu_set {
                    sched_setaffinity(Pid::from_raw(0), cpu_set)?;
                }
                outside.map_or(Ok(()), outside::keep_open)?;
                if !inherits {
                    umask(Mode::from_bits_truncate(surroundings::UMASK));
                }
                if confined {
                    confinement::confine(outside.is_some())?;
                }
                if own_session {
                    setsid()?;
                }
                // Ours are all blocked, and the mask is inherited.
                SigSet::all().thread_unblock()?;
                Ok(())
            });
        }
        let child = command.spawn().with_context(|| format!("starting {program}"))?;
        Ok(Pid::from_raw(child.id() as i32))
    }
}

//! The network that the lab was started in, for roles that reach what runs there. They get a descriptor of it and open
//! their sockets in it: nothing is laid, routed or set on the machine, and with the descriptors all of it is gone.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use anyhow::{Context, Result};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::host::namespace;

/// In a role's environment: the number of its descriptor.
pub const VARIABLE: &str = "H123_OUTSIDE";

pub struct Outside(OwnedFd);

impl Outside {
    /// That of the calling process, before it leaves it.
    pub fn here() -> Result<Self> {
        let file = File::open("/proc/self/ns/net").context("opening this network namespace")?;
        Ok(Self(file.into()))
    }

    /// That a role was given.
    pub fn inherited() -> Result<Self> {
        let text = std::env::var(VARIABLE).context("only a role that is \"outside\" has it")?;
        let descriptor: RawFd = text.parse().with_context(|| format!("{VARIABLE}={text}"))?;
        fcntl_open(descriptor).with_context(|| format!("{VARIABLE}={text}"))?;
        // SAFETY: it is open, and nobody else in this process knows of it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    /// Runs `work` there, on a thread of its own: the sockets that it opens stay there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        namespace::within(self.0.as_fd(), work)
    }

    pub fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// For a process that is about to become a role: a system call and nothing else.
pub fn keep_open(descriptor: RawFd) -> std::io::Result<()> {
    // SAFETY: the descriptor is open in the process that starts the role.
    let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    fcntl(descriptor, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}

fn fcntl_open(descriptor: RawFd) -> Result<()> {
    // SAFETY: fcntl says so where it is not open.
    let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    fcntl(descriptor, FcntlArg::F_GETFD)?;
    Ok(())
}

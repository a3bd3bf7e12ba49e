//! How processes end: they are reaped, and what they used is read.

use nix::unistd::Pid;
use serde::Serialize;

use crate::host::account::{CpuTime, session_of};

/// How a process ended, and what it had used.
#[derive(Debug, Clone)]
pub struct Ending {
    pub exit: Exit,
    pub cpu: CpuTime,
    pub max_rss_bytes: u64,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// The lab stopped it.
    pub stopped: bool,
}

/// A process that was reaped.
pub struct Dead {
    pub pid: Pid,
    pub session: i32,
    status: i32,
    pub cpu: CpuTime,
    max_rss_bytes: u64,
}

impl Dead {
    pub fn ending(self, stopped: bool) -> Ending {
        let exited = libc::WIFEXITED(self.status);
        Ending {
            exit: Exit {
                code: exited.then(|| libc::WEXITSTATUS(self.status)),
                signal: (!exited).then(|| libc::WTERMSIG(self.status)),
                stopped,
            },
            cpu: self.cpu,
            max_rss_bytes: self.max_rss_bytes,
        }
    }
}

/// Reaps any child. Its session is read while it is still a zombie.
pub fn reap_one(options: i32) -> Option<Dead> {
    // SAFETY: all-zero is valid for both, which outlive the calls.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let peek = libc::WEXITED | libc::WNOWAIT | options;
    let pid = unsafe {
        match libc::waitid(libc::P_ALL, 0, &mut info, peek) {
            0 => info.si_pid(),
            _ => return None,
        }
    };
    if pid == 0 {
        return None;
    }
    let session = session_of(pid).unwrap_or(0);
    let mut status = 0;
    // SAFETY: as above.
    let reaped = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
    (reaped == pid).then(|| Dead {
        pid: Pid::from_raw(pid),
        session,
        status,
        cpu: CpuTime::of(&usage),
        max_rss_bytes: usage.ru_maxrss as u64 * 1024,
    })
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit status {code}"),
            (_, Some(signal)) => write!(f, "signal {signal}"),
            _ => write!(f, "unknown status"),
        }
    }
}

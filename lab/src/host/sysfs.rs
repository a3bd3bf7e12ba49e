//! What a role finds at `/sys`: the devices of its own host. The machine's `/sys` shows those of the machine, whatever
//! network namespace the reader is in.

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{chdir, fchdir};

const CGROUPS: &str = "/sys/fs/cgroup";

/// Covers `/sys`, for the calling process and its children, with that of its network namespace, read-only. Only system
/// calls: for use between fork and exec.
pub fn renew() -> nix::Result<()> {
    let nothing: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let here = open(".", flags, Mode::empty())?;
    // Mounted in there, and so covered too: it is kept, because runtimes read their limits of memory and processors in it.
    let grouped = chdir(CGROUPS).is_ok();
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let read_only = safe | MsFlags::MS_RDONLY;
    match mount(Some("sysfs"), "/sys", Some("sysfs"), read_only, nothing) {
        Ok(()) if grouped => {
            let all = MsFlags::MS_BIND | MsFlags::MS_REC;
            mount(Some("."), CGROUPS, nothing, all, nothing)?;
        }
        // A container that hides parts of its own /sys may not mount another: it stays as it is.
        Ok(()) | Err(Errno::EPERM) => {}
        Err(error) => return Err(error),
    }
    fchdir(here)
}

//! Real-time priority for the threads whose punctuality is measured or measures.

use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use crate::host::privilege;

/// The link goes before those that watch and those that probe it.
pub const LINK: i32 = 50;
pub const WATCH: i32 = 45;
pub const PROBE: i32 = 40;

/// Gives the calling thread a real-time priority; false where the machine refuses.
/// Processes started by the thread do not inherit it.
pub fn prefer(priority: i32) -> bool {
    // Matters only where real time is refused; the smallest slack is always allowed.
    let _ = set_timerslack(1);
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameter outlives the call; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &parameter) == 0 }
}

/// Whether the machine grants it, tried on a thread of its own.
pub fn granted() -> bool {
    std::thread::spawn(|| prefer(PROBE)).join().unwrap_or(false)
}

/// Keeps the process in memory, so that no page fault delays the link; false where the machine refuses.
pub fn lock_memory() -> bool {
    // A user's limit would be met later, by whatever asks for memory then.
    let limit = getrlimit(Resource::RLIMIT_MEMLOCK).map_or(0, |(soft, _)| soft);
    if privilege::in_user_namespace() && limit != RLIM_INFINITY {
        return false;
    }
    // SAFETY: takes only flags.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) == 0 }
}

//! The one processor that a virtual kernel shares with its programs. They take turns, thousands of times a second, each
//! waking the other and going to sleep: on one processor that is a switch, between two an interrupt and a processor that
//! has to wake. So they stay together, and move together where another processor may have more time for them.

use std::fs;

use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::host::account::{processes, session_of};
use crate::host::monotonic::now_ns;

/// A virtual kernel never waits for time to pass: with less of a processor than this, something else has it.
const CROWDED: f64 = 0.75;

pub struct SharedProcessor {
    /// Those that we may use.
    processors: Vec<usize>,
    taken: usize,
}

impl SharedProcessor {
    pub fn choose() -> Self {
        let usable = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let processors: Vec<usize> = (0..CpuSet::count()).filter(|&cpu| usable.is_set(cpu).unwrap_or(false)).collect();
        let taken = any_of(&processors);
        Self { processors, taken }
    }

    /// For a process that is about to start: a system call and nothing else. Its children inherit the choice.
    pub fn take(set: &CpuSet) -> std::io::Result<()> {
        Ok(sched_setaffinity(Pid::from_raw(0), set)?)
    }

    pub fn set(&self) -> CpuSet {
        let mut set = CpuSet::new();
        // One of those that the kernel named.
        let _ = set.set(self.taken);
        set
    }

    /// Where the session has got no more than `share` of a processor, it moves to any, perhaps the same: two virtual
    /// kernels that meet on one processor and both moved to the other would meet again.
    pub fn reconsider(&mut self, session: i32, share: f64) {
        let chosen = any_of(&self.processors);
        if share >= CROWDED || chosen == self.taken {
            return;
        }
        self.taken = chosen;
        let set = self.set();
        for process in processes().filter(|&pid| session_of(pid) == Some(session)) {
            for thread in threads(process) {
                // It may have ended meanwhile.
                let _ = sched_setaffinity(Pid::from_raw(thread), &set);
            }
        }
    }
}

fn threads(process: i32) -> impl Iterator<Item = libc::pid_t> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// By the last digits of the time, which are chance enough.
fn any_of(processors: &[usize]) -> usize {
    let chance = (now_ns() / 64) as usize;
    processors.get(chance % processors.len().max(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use nix::unistd::setsid;

    use super::*;

    /// In a session of its own, and on that processor.
    fn sleeper(processor: &SharedProcessor) -> Child {
        let set = processor.set();
        let mut command = Command::new("sleep");
        // SAFETY: only system calls.
        unsafe {
            command.arg("60").pre_exec(move || {
                setsid()?;
                SharedProcessor::take(&set)
            });
        }
        command.spawn().unwrap()
    }

    fn allowed(pid: i32) -> Vec<usize> {
        let set = sched_getaffinity(Pid::from_raw(pid)).unwrap();
        (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap()).collect()
    }

    #[test]
    fn who_is_crowded_moves_and_nobody_else() {
        let mut processor = SharedProcessor::choose();
        let mut child = sleeper(&processor);
        let session = child.id() as i32;
        let mut visited = vec![];
        for share in [1.0, 0.1] {
            let first = processor.taken;
            for _ in 0..1000 {
                processor.reconsider(session, share);
                assert_eq!(allowed(session), [processor.taken]);
                visited.push(processor.taken);
            }
            if share == 1.0 {
                assert!(visited.iter().all(|&taken| taken == first));
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        visited.sort_unstable();
        visited.dedup();
        assert_eq!(visited, processor.processors);
    }
}

//! Watches the processors: a thread on each asks for it every few milliseconds, before all that a trial runs but its
//! links. When it comes late, so would have whatever the trial had to do there: the host took the processor away, or
//! something of higher priority had it. Stalls shorter than the period are seen now and then, longer ones always.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::clock::{now_ns, sleep_until};
use crate::realtime;
use crate::stalls::Stalls;

/// Costs half a percent of each processor; labs that run at the same time watch each for itself.
const PERIOD_NS: u64 = 4_000_000;

pub struct Watch {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Option<Stalls>>>,
}

impl Watch {
    /// Begins to watch all processors that this process may use.
    pub fn begin() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let usable = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let threads = (0..CpuSet::count())
            .filter(|&cpu| usable.is_set(cpu).unwrap_or(false))
            .filter_map(|cpu| {
                let over = over.clone();
                let watcher = std::thread::Builder::new().name(format!("watch-{cpu}"));
                watcher.spawn(move || watch(cpu, &over)).ok()
            })
            .collect();
        Self { over, threads }
    }

    /// The stalls of each processor; None where the machine refuses the priority that it takes to see them.
    pub fn end(self) -> Option<Vec<Stalls>> {
        self.over.store(true, Ordering::Relaxed);
        let watched = self.threads.into_iter();
        watched.map(|thread| thread.join().ok().flatten()).collect()
    }
}

fn watch(cpu: usize, over: &AtomicBool) -> Option<Stalls> {
    let mut here = CpuSet::new();
    here.set(cpu).ok()?;
    sched_setaffinity(Pid::from_raw(0), &here).ok()?;
    if !realtime::prefer(realtime::WATCH) {
        return None;
    }
    let mut stalls = Stalls::default();
    while !over.load(Ordering::Relaxed) {
        let due = now_ns() + PERIOD_NS;
        sleep_until(due);
        stalls.record(due, now_ns());
    }
    Some(stalls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_that_is_taken_away_is_seen() {
        let watch = Watch::begin();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let from = now_ns();
        std::thread::spawn(move || {
            if !realtime::prefer(realtime::WATCH + 1) {
                return;
            }
            // As long as real-time threads may have a processor without the kernel's throttling them.
            while now_ns() < from + 30_000_000 {}
        })
        .join()
        .unwrap();
        let to = now_ns();
        let Some(stalls) = watch.end() else {
            return assert!(
                !realtime::prefer(realtime::WATCH),
                "no stalls although real time is granted"
            );
        };
        let longest = stalls.iter().map(|s| s.within(from, to)).max().unwrap();
        assert!(
            longest > 15_000_000,
            "{longest} ns of stalls seen while 30 ms were taken"
        );
    }
}

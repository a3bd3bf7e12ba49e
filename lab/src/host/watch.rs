//! Watches the processors: a thread on each asks for it every few milliseconds, before all that a trial runs but its
//! links. When it comes late, so would have whatever the trial had to do there: the host took the processor away, or
//! something of higher priority had it. Stalls shorter than the period are seen now and then, longer ones always.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::host::monotonic::{now_ns, sleep_until};
use crate::host::realtime;
use crate::host::stalls::Stalls;

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
        let taken = std::thread::spawn(take_a_processor).join().unwrap();
        let stalls = watch.end();
        let (Some((from, to)), Some(stalls)) = (taken, stalls) else {
            return assert!(!realtime::prefer(realtime::WATCH), "no stalls although real time is granted");
        };
        let longest = stalls.iter().map(|s| s.within(from, to)).max().unwrap();
        assert!(longest > (to - from) / 2, "{longest} ns of stalls seen while {} ns were taken", to - from);
    }

    /// From when to when the first one was: for as long as real-time threads may have one without the kernel's throttling
    /// them. The time begins with the priority, for which a busy machine lets a new thread wait.
    fn take_a_processor() -> Option<(u64, u64)> {
        let usable = sched_getaffinity(Pid::from_raw(0)).ok()?;
        let cpu = (0..CpuSet::count()).find(|&cpu| usable.is_set(cpu).unwrap_or(false))?;
        let mut here = CpuSet::new();
        here.set(cpu).ok()?;
        // Links of other labs have a higher priority still: on all processors it would give way to them, and take none.
        sched_setaffinity(Pid::from_raw(0), &here).ok()?;
        if !realtime::prefer(realtime::WATCH + 1) {
            return None;
        }
        let from = now_ns();
        while now_ns() < from + 30_000_000 {}
        Some((from, now_ns()))
    }
}

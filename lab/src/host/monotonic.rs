//! The monotonic clock, in nanoseconds: the same for every host of the lab.

use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

use crate::files::trial::Clock;

pub fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC exists on every Linux"))
}

pub fn unix_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::CLOCK_REALTIME).expect("CLOCK_REALTIME exists on every Linux"))
}

/// What the time of day is ahead of the monotonic clock. Of several readings the one that took least time: between the
/// two clocks a reading may be interrupted.
pub fn unix_offset_ns() -> i64 {
    let reading = |_| {
        let before = now_ns();
        let unix = unix_ns();
        let after = now_ns();
        (after - before, unix as i64 - ((before + after) / 2) as i64)
    };
    let (_, offset) = (0..5).map(reading).min().expect("five readings");
    offset
}

/// Sleeps until a time of the monotonic clock; returns at once if it has passed.
pub fn sleep_until(at_ns: u64) {
    let at = TimeSpec::from_duration(Duration::from_nanos(at_ns));
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &at).is_err() {}
}

/// What the clock of this kernel is.
pub fn kernel_clock() -> Clock {
    let line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let travels = line.split_whitespace().any(|w| w == "time-travel=inf-cpu");
    if travels { Clock::Virtual } else { Clock::Wall }
}

pub fn nanoseconds(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

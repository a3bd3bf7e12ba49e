//! The time of all samples.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has a monotonic clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Blocks until then. A thread's sleep is exact to some 50 µs, the runtime's only to a millisecond.
pub fn sleep_until(time: u64) {
    std::thread::sleep(Duration::from_nanos(time.saturating_sub(now())));
}

/// Returns then, as exactly.
pub async fn until(time: u64) {
    if time > now() {
        let slept = tokio::task::spawn_blocking(move || sleep_until(time));
        slept.await.expect("a sleep ends by itself");
    }
}

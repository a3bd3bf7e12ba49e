//! `noise`: what the machine does at the moment, without any trial.

use std::time::Duration;

use serde::Serialize;

use crate::host::account::Machine;
use crate::host::watch::Watch;

/// Shares of all processors' time, 0 to 1.
#[derive(Serialize)]
struct Noise {
    /// In which a processor was not to be had; null where the machine refuses the priority to see it.
    stalled: Option<f64>,
    /// In which something else ran.
    busy: f64,
}

/// Prints the shares seen within so many milliseconds; exit status 0.
pub fn noise(ms: u64) -> u8 {
    let before = Machine::now();
    let watch = Watch::begin();
    std::thread::sleep(Duration::from_millis(ms));
    let stalls = watch.end();
    let usage = Machine::now().since(&before);
    let whole = (usage.wall_ns * usage.cpus as u64) as f64;
    let noise = Noise {
        stalled: stalls.map(|all| all.iter().map(|one| one.within(0, u64::MAX)).sum::<u64>() as f64 / whole),
        busy: usage.busy_ns.saturating_sub(usage.lab_ns) as f64 / whole,
    };
    println!("{}", serde_json::to_string(&noise).expect("shares are plain data"));
    0
}

//! Notices that virtual time stands still or crawls: processors are at work, and something in there never waits.

use std::time::Instant;

use crate::clock::heartbeat::Heartbeat;
use crate::files::message::Message;

/// Processor time without a moment passing after which something in there must be spinning.
const CPU_PATIENCE_S: u64 = 30;
/// Real time without a sign of life and without work; a busy machine may not come to it for long.
const PATIENCE_S: u64 = 120;
/// Processor time that any trial may take,
const FREE_CPU_S: u64 = 180;
/// and for each packet besides: six times what the dearest took of all that were measured (bench/virtual_cost.py). For
/// programs that spin on system calls the kernel lets time pass, a tick every 10 000 calls; they come to no end in hours.
const CPU_OF_PACKET_NS: u64 = 5_000_000;
const SECOND_NS: u64 = 1_000_000_000;

pub struct Watchdog {
    last: Heartbeat,
    /// Whether there was a heartbeat since the last look.
    alive: bool,
    since: Instant,
    /// Processor time at the last sign of life, and at the last look.
    cpu_then_ns: u64,
    cpu_ns: u64,
}

impl Watchdog {
    pub fn new() -> Self {
        Self { last: Heartbeat::default(), alive: true, since: Instant::now(), cpu_then_ns: 0, cpu_ns: 0 }
    }

    pub fn hear(&mut self, heartbeat: Heartbeat) {
        self.last = heartbeat;
        self.alive = true;
    }

    /// The last virtual time that was told.
    pub fn now_ns(&self) -> u64 {
        self.last.now_ns
    }

    /// The processor time used since the last look, of `cpu_ns` used in all; an error where something spins.
    pub fn look(&mut self, cpu_ns: u64, at: Instant) -> Result<u64, Message> {
        // Less, where a process has ended that nobody has waited for yet.
        let used_ns = cpu_ns.saturating_sub(self.cpu_ns);
        self.cpu_ns = cpu_ns;
        let found = if std::mem::take(&mut self.alive) {
            self.since = at;
            self.cpu_then_ns = cpu_ns;
            self.crawls()
        } else {
            self.stands_still(at)
        };
        match found {
            None => Ok(used_ns),
            Some(detail) => {
                let moment = self.now_ns() as f64 / SECOND_NS as f64;
                let detail = format!("virtual time {detail}; it is {moment:.3} s");
                Err(Message::new("time-stalled", detail))
            }
        }
    }

    fn stands_still(&self, at: Instant) -> Option<String> {
        let real_s = at.duration_since(self.since).as_secs();
        let cpu_s = self.cpu_ns.saturating_sub(self.cpu_then_ns) / SECOND_NS;
        if cpu_s > CPU_PATIENCE_S {
            Some(format!(
                "has stood still for {cpu_s} s of processor time: a program computes and never waits; run it with `clock: wall`"
            ))
        } else if real_s > PATIENCE_S && cpu_s == 0 {
            Some(format!("has stood still for {real_s} s, and the kernel does nothing"))
        } else {
            None
        }
    }

    fn crawls(&self) -> Option<String> {
        let packets = self.last.packets;
        let allowed_ns = FREE_CPU_S * SECOND_NS + packets.saturating_mul(CPU_OF_PACKET_NS);
        (self.cpu_ns > allowed_ns).then(|| {
            format!(
                "crawls: {} s of processor time for {packets} packets; a program asks the kernel again and again instead of \
                 waiting; run it with `clock: wall`",
                self.cpu_ns / SECOND_NS
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn detail(found: Result<u64, Message>) -> String {
        found.expect_err("something spins").detail
    }

    fn heartbeat(packets: u64) -> Heartbeat {
        Heartbeat { now_ns: 2_500_000_000, packets }
    }

    #[test]
    fn work_with_signs_of_life_is_let_be() {
        let (mut watchdog, at) = (Watchdog::new(), Instant::now());
        watchdog.hear(heartbeat(100_000));
        assert_eq!(watchdog.look(600 * SECOND_NS, at).ok(), Some(600 * SECOND_NS));
        watchdog.hear(heartbeat(100_001));
        assert_eq!(watchdog.look(601 * SECOND_NS, at).ok(), Some(SECOND_NS));
    }

    #[test]
    fn time_that_stands_still_is_told_by_processor_time() {
        let (mut watchdog, at) = (Watchdog::new(), Instant::now());
        watchdog.hear(heartbeat(10));
        assert!(watchdog.look(SECOND_NS, at).is_ok());
        let later = at + Duration::from_secs(500);
        assert!(watchdog.look(31 * SECOND_NS, later).is_ok());
        let found = detail(watchdog.look(32 * SECOND_NS, later));
        assert!(found.contains("computes and never waits"), "{found}");
        assert!(found.ends_with("it is 2.500 s"), "{found}");
    }

    #[test]
    fn a_kernel_that_does_nothing_is_told_by_real_time() {
        let (mut watchdog, at) = (Watchdog::new(), Instant::now());
        assert!(watchdog.look(SECOND_NS, at).is_ok());
        let found = detail(watchdog.look(SECOND_NS, at + Duration::from_secs(121)));
        assert!(found.contains("does nothing"), "{found}");
    }

    #[test]
    fn time_that_crawls_is_told_by_processor_time_a_packet() {
        let (mut watchdog, at) = (Watchdog::new(), Instant::now());
        watchdog.hear(heartbeat(1000));
        assert!(watchdog.look(185 * SECOND_NS, at).is_ok());
        watchdog.hear(heartbeat(1000));
        let found = detail(watchdog.look(186 * SECOND_NS, at));
        assert!(found.contains("186 s of processor time for 1000 packets"), "{found}");
    }
}

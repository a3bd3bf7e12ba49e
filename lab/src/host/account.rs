//! Accounting: CPU time of roles and of the machine, counters of the hosts.

use std::collections::BTreeMap;
use std::fs;

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};
use serde::Serialize;

use crate::host::monotonic::{nanoseconds, now_ns};
use crate::host::stalls::Stalls;

/// Characters of a command line.
const COMMAND_SHOWN: usize = 200;

/// CPU time, ns.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuTime {
    pub user_ns: u64,
    pub system_ns: u64,
}

impl CpuTime {
    pub fn of(usage: &libc::rusage) -> Self {
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1_000;
        Self { user_ns: ns(usage.ru_utime), system_ns: ns(usage.ru_stime) }
    }

    pub fn total_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// All processes of the enclosure.
pub fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The session of a process, zombies included.
pub fn session_of(pid: i32) -> Option<i32> {
    Some(Relations::of(pid)?.session)
}

pub fn is_zombie(pid: i32) -> bool {
    Relations::of(pid).is_some_and(|relations| relations.zombie)
}

/// Whose a process is.
#[derive(Debug, Clone, Copy)]
pub struct Relations {
    pub parent: i32,
    pub session: i32,
    pub zombie: bool,
}

impl Relations {
    pub fn of(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        Some(Self { parent: stat.field(4)?, session: stat.field(6)?, zombie: stat.field::<char>(3)? == 'Z' })
    }
}

/// The command line of a process, cut short; empty if it has gone.
pub fn command_of(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace('\0', " ");
    words.trim_end().chars().take(COMMAND_SHOWN).collect()
}

/// CPU time of a session's living processes and of the children they have waited for, ns.
pub fn cpu_of_session(session: i32) -> u64 {
    let living = processes().filter(|&pid| Relations::of(pid).is_some_and(|its| its.session == session && !its.zombie));
    living.map(cpu_of).sum()
}

/// CPU time of a living process and of the children it has waited for, ns; 0 if it has gone.
///
/// It is read from its CPU clock, exactly; waited-for children from `/proc`, in ticks of 10 ms.
pub fn cpu_of(pid: i32) -> u64 {
    let tick_ns = 1_000_000_000 / ticks_per_second();
    let read = || {
        let stat = Stat::read(pid)?;
        let clock = clock_getcpuclockid(Pid::from_raw(pid)).ok()?;
        let own = nanoseconds(clock_gettime(clock).ok()?);
        Some(own + (stat.field::<u64>(16)? + stat.field::<u64>(17)?) * tick_ns)
    };
    read().unwrap_or(0)
}

/// What threads that were ready to run have waited for a processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessorWait {
    /// In all.
    pub wait_ns: u64,
    /// How often one of them got a processor.
    pub turns: u64,
}

impl ProcessorWait {
    /// Of these processes' living threads. One takes its share with it when it ends, so a difference may be too small.
    pub fn of(processes: impl IntoIterator<Item = i32>) -> Self {
        let threads = |pid| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        processes
            .into_iter()
            .flat_map(|pid| threads(pid).flatten())
            .filter_map(|thread| Self::read(&thread.path().join("schedstat")))
            .fold(Self::default(), |sum, one| Self { wait_ns: sum.wait_ns + one.wait_ns, turns: sum.turns + one.turns })
    }

    pub fn since(self, before: Self) -> Self {
        Self { wait_ns: self.wait_ns.saturating_sub(before.wait_ns), turns: self.turns.saturating_sub(before.turns) }
    }

    fn read(schedstat: &std::path::Path) -> Option<Self> {
        let text = fs::read_to_string(schedstat).ok()?;
        let mut numbers = text.split_whitespace().skip(1).map(str::parse);
        Some(Self { wait_ns: numbers.next()?.ok()?, turns: numbers.next()?.ok()? })
    }
}

/// `/proc/<pid>/stat`; fields are numbered as in proc(5).
struct Stat(String);

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the command in parentheses, which may hold anything.
        Some(Self(text.rsplit_once(')')?.1.to_string()))
    }

    fn field<T: std::str::FromStr>(&self, number: usize) -> Option<T> {
        self.0.split_whitespace().nth(number - 3)?.parse().ok()
    }
}

fn ticks_per_second() -> u64 {
    sysconf(SysconfVar::CLK_TCK).ok().flatten().map_or(100, |n| n as u64)
}

/// The counters of `/proc/net/snmp` and `netstat` that are not zero, as `Proto.Name`.
pub fn counters(text: &str) -> BTreeMap<String, i64> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.chunks_exact(2).flat_map(|pair| {
        let (protocol, names) = pair[0].split_once(':').unwrap_or((pair[0], ""));
        let values = pair[1].split_once(':').map_or("", |(_, v)| v);
        let values = values.split_whitespace().map(str::parse::<i64>);
        names
            .split_whitespace()
            .zip(values)
            .filter_map(move |(name, value)| Some((format!("{protocol}.{name}"), value.ok()?)))
    });
    pairs.filter(|(_, value)| *value != 0).collect()
}

/// The counters of UDP over IPv6 in `/proc/net/snmp6` that are not zero, named as those of UDP are.
pub fn udp6_counters(text: &str) -> BTreeMap<String, i64> {
    let counter = |line: &str| {
        let (name, value) = line.strip_prefix("Udp6")?.split_once(char::is_whitespace)?;
        Some((format!("Udp.{name}"), value.trim().parse().ok()?))
    };
    let all = text.lines().filter_map(counter);
    all.filter(|(_, value)| *value != 0).collect()
}

/// The whole machine's time so far, ns.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    at_ns: u64,
    busy_ns: u64,
    steal_ns: u64,
    /// Of this process: links, watchers, and what looks after the roles.
    lab_ns: u64,
    /// None where the kernel keeps no pressure information.
    cpu_pressure_ns: Option<u64>,
}

/// What the machine did during the main role's run, as in the report.
#[derive(Debug, Default, Serialize)]
pub struct MachineReport {
    pub cpus: usize,
    pub wall_ns: u64,
    pub busy_ns: u64,
    pub steal_ns: u64,
    pub lab_ns: u64,
    pub cpu_pressure_ns: Option<u64>,
    /// Times in which a processor was not to be had, a list for each, from the trial's beginning to its end; null where
    /// the machine refuses the priority to see them, and under the virtual clock, which has none.
    pub stalls: Option<Vec<Stalls>>,
}

impl Machine {
    pub fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        // user nice system idle iowait irq softirq steal
        let tick_ns = 1_000_000_000 / ticks_per_second();
        let ticks: Vec<u64> =
            stat.lines().next().unwrap_or("").split_whitespace().skip(1).filter_map(|v| v.parse().ok()).collect();
        let of = |columns: &[usize]| columns.iter().filter_map(|&i| ticks.get(i)).sum::<u64>() * tick_ns;
        Self {
            at_ns: now_ns(),
            busy_ns: of(&[0, 1, 2, 5, 6]),
            steal_ns: of(&[7]),
            lab_ns: process_cpu_ns(),
            cpu_pressure_ns: cpu_pressure_ns(),
        }
    }

    pub fn since(&self, start: &Self) -> MachineReport {
        MachineReport {
            cpus: cpus(),
            wall_ns: self.at_ns - start.at_ns,
            busy_ns: self.busy_ns.saturating_sub(start.busy_ns),
            steal_ns: self.steal_ns.saturating_sub(start.steal_ns),
            lab_ns: self.lab_ns.saturating_sub(start.lab_ns),
            stalls: None,
            cpu_pressure_ns: self
                .cpu_pressure_ns
                .zip(start.cpu_pressure_ns)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

pub fn process_cpu_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(0, nanoseconds)
}

/// Of the calling thread.
pub fn thread_cpu_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0, nanoseconds)
}

pub fn cpus() -> usize {
    sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten().map_or(1, |n| n as usize)
}

fn cpu_pressure_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let some = text.lines().find(|line| line.starts_with("some"))?;
    let total_us: u64 = some.split_once("total=")?.1.trim().parse().ok()?;
    Some(total_us * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_carry_their_protocol_and_leave_zeros_out() {
        let text = "Tcp: InSegs MaxConn RetransSegs\nTcp: 12 -1 0\nUdp: RcvbufErrors\nUdp: 3\n";
        let expected = [("Tcp.InSegs", 12), ("Tcp.MaxConn", -1), ("Udp.RcvbufErrors", 3)];
        assert_eq!(counters(text), expected.map(|(k, v)| (k.to_string(), v)).into());
        let ipv6 = "Ip6InReceives    \t9\nUdp6InErrors  \t0\nUdp6RcvbufErrors \t3\nUdpLite6InErrors\t2\n";
        assert_eq!(udp6_counters(ipv6), [("Udp.RcvbufErrors".to_string(), 3)].into());
    }

    #[test]
    fn threads_that_share_a_processor_wait_for_it() {
        let us = [std::process::id() as i32];
        let mut one = nix::sched::CpuSet::new();
        one.set(nix::sched::sched_getcpu().unwrap()).unwrap();
        let before = ProcessorWait::of(us);
        std::thread::scope(|scope| {
            let give_up_at = now_ns() + 30_000_000_000;
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(move || {
                        nix::sched::sched_setaffinity(Pid::from_raw(0), &one).unwrap();
                        // Read while both are alive. Where others keep the processor, it takes longer until both run.
                        loop {
                            let waited = ProcessorWait::of(us).since(before).wait_ns;
                            if waited > 10_000_000 || now_ns() > give_up_at {
                                return waited;
                            }
                        }
                    })
                })
                .collect();
            let waited = threads.into_iter().map(|t| t.join().unwrap()).max().unwrap();
            assert!(waited > 10_000_000, "{waited}");
        });
    }

    #[test]
    fn own_cpu_time_grows_with_work() {
        let session = session_of(std::process::id() as i32).unwrap();
        let before = cpu_of_session(session);
        let until = now_ns() + 20_000_000;
        while now_ns() < until {}
        assert!(cpu_of_session(session) > before + 5_000_000);
    }
}

//! `doctor`: what this machine can do for a lab, each thing with its remedy.

use std::fs;

use serde::Serialize;

use crate::commands::ways::{self, Privileges};
use crate::host::account;
use crate::host::namespace::Host;
use crate::host::privilege::{self, Obstacle};
use crate::host::realtime;
use crate::link::tun;
use crate::link::tun::Tun;

/// Receive buffers that hold a burst of a fast QUIC connection.
const UDP_BUFFER: u64 = 2_500_000;

#[derive(Serialize)]
struct Finding {
    name: &'static str,
    ok: bool,
    detail: String,
    /// What to do; empty where nothing needs to be done.
    remedy: String,
    /// No lab can run here without it.
    needed: bool,
}

const BE_ROOT: &str = "sudo $(command -v h123), for the most accurate links";
const CONTAINER: &str = "in a container, run it with --privileged (CAP_SYS_ADMIN and CAP_NET_ADMIN)";

/// What no lab can do without.
const NEEDED: [&str; 2] = ["namespaces", "tun"];

/// Prints the findings; exit status 0 if a lab can run here, 3 if not.
pub fn doctor(json: bool) -> u8 {
    // Namespaces are tried on threads, so that this process stays where it is.
    let findings = [root(), namespaces(), tun(), priority(), congestion(), buffers(), processors()];
    if json {
        println!("{}", serde_json::to_string_pretty(&findings).expect("findings are plain data"));
    } else {
        findings.iter().for_each(Finding::print);
    }
    if findings.iter().all(|f| f.ok || !f.needed) { 0 } else { 3 }
}

impl Finding {
    fn new(name: &'static str, result: Result<String, String>, remedy: &str) -> Self {
        let (ok, detail) = match result {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        Self {
            name,
            ok,
            detail,
            remedy: if ok { String::new() } else { remedy.into() },
            needed: NEEDED.contains(&name),
        }
    }

    fn print(&self) {
        println!("{:<4} {:<12} {}", if self.ok { "ok" } else { "NO" }, self.name, self.detail);
        if !self.ok {
            println!("{:<17} -> {}", "", self.remedy);
        }
    }
}

fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

fn root() -> Finding {
    let result = if is_root() { Ok("running as root".into()) } else { Err("not root".to_string()) };
    Finding::new("root", result, BE_ROOT)
}

fn namespaces() -> Finding {
    let found = match ways::best() {
        Privileges::Root => {
            Host::create("doctor").map(|_| "network namespaces can be created".into()).map_err(|e| format!("{e:#}"))
        }
        Privileges::UserNamespace => Ok("network namespaces can be created, in a user namespace".to_string()),
        Privileges::VirtualClock => Err(Obstacle::find().detail),
    };
    let remedy = if found.is_err() && !is_root() { Obstacle::find().remedy } else { CONTAINER.into() };
    Finding::new("namespaces", found, &remedy)
}

fn tun() -> Finding {
    if let Err(closed) = tun::openable() {
        return Finding::new("tun", Err(closed.detail), closed.remedy);
    }
    if !privilege::privileged() {
        return Finding::new("tun", Ok("/dev/net/tun can be opened".into()), "");
    }
    let made = Host::create("doctor").and_then(|host| host.within(|| Tun::create("h123-doctor")));
    let made = made.map(|_| "TUN devices with checksum offload can be created".into());
    Finding::new("tun", made.map_err(|e| format!("{e:#}")), CONTAINER)
}

fn priority() -> Finding {
    let granted = std::thread::spawn(|| realtime::prefer(realtime::PROBE)).join().unwrap_or(false);
    let result = if granted {
        Ok("SCHED_FIFO is granted".into())
    } else {
        Err("SCHED_FIFO is refused: links release packets late when the machine is busy".to_string())
    };
    Finding::new(
        "real-time",
        result,
        "run as root outside a cgroup-v1 cpu group; in a container, --cap-add SYS_NICE --ulimit rtprio=99",
    )
}

fn congestion() -> Finding {
    let read = |name| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default().trim().to_string();
    let available = read("tcp_available_congestion_control");
    let detail = format!("TCP has {available}; this machine's default is {}", read("tcp_congestion_control"));
    let complete = ["cubic", "reno", "bbr"].iter().all(|name| available.split_whitespace().any(|a| a == *name));
    Finding::new(
        "congestion",
        if complete { Ok(detail) } else { Err(detail) },
        "modprobe tcp_cubic tcp_bbr (needed only for studies that name the missing controller)",
    )
}

fn buffers() -> Finding {
    let read = |name: &str| -> u64 {
        fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0)
    };
    let (receive, send) = (read("rmem_max"), read("wmem_max"));
    let detail = format!("UDP sockets can buffer {receive} bytes to receive and {send} bytes to send");
    let enough = receive.min(send) >= UDP_BUFFER;
    Finding::new(
        "buffers",
        if enough { Ok(detail) } else { Err(detail) },
        "sysctl -w net.core.rmem_max=7500000 net.core.wmem_max=7500000 (QUIC servers drop packets otherwise)",
    )
}

fn processors() -> Finding {
    let cpus = account::cpus();
    let detail = format!("{cpus} processors online");
    Finding::new(
        "processors",
        if cpus >= 2 { Ok(detail) } else { Err(detail) },
        "with one processor, the link, server and client compete for it: use at least two",
    )
}

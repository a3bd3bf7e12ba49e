//! What TCP does in the calling thread's host by settings of its namespace, and the congestion controller that its
//! connections really get.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, getsockopt, socket, sockopt::TcpCongestion,
};

use crate::files::trial::Tcp;

const SLOW_START_AFTER_IDLE: &str = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";
const FAST_OPEN: &str = "/proc/sys/net/ipv4/tcp_fastopen";
/// Clients that ask for it have it, and whatever listens, without asking (the kernel's ip-sysctl).
const BOTH_ENDS: u32 = 0x1 | 0x2 | 0x400;
const ECN: &str = "/proc/sys/net/ipv4/tcp_ecn";
const ASK_FOR_ECN: u32 = 1;
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Sets what the trial asks for.
pub fn apply(tcp: Tcp) -> Result<()> {
    if tcp.keep_idle_window {
        fs::write(SLOW_START_AFTER_IDLE, "0").context(SLOW_START_AFTER_IDLE)?;
    }
    if tcp.fast_open {
        fs::write(FAST_OPEN, BOTH_ENDS.to_string()).context(FAST_OPEN)?;
    }
    if tcp.ecn {
        fs::write(ECN, ASK_FOR_ECN.to_string()).context(ECN)?;
    }
    Ok(())
}

/// What of these is in force; `others` has the rest.
pub fn in_force(others: Tcp) -> Result<Tcp> {
    Ok(Tcp {
        keep_idle_window: read(SLOW_START_AFTER_IDLE)? == 0,
        fast_open: read(FAST_OPEN)? & BOTH_ENDS == BOTH_ENDS,
        ecn: read(ECN)? == ASK_FOR_ECN,
        ..others
    })
}

fn read(setting: &'static str) -> Result<u32> {
    let text = fs::read_to_string(setting).context(setting)?;
    text.trim().parse().context(setting)
}

/// The controller of a connection from the calling thread's host to `peer`. It starts connecting, because only
/// then does the route choose the controller: to be called before the link carries packets.
pub fn congestion_towards(peer: IpAddr) -> Result<String> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let family = match peer {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    let socket = socket(family, SockType::Stream, flags, None)?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(SocketAddr::new(peer, 9))) {
        Ok(()) | Err(Errno::EINPROGRESS | Errno::ECONNREFUSED) => {}
        Err(error) => return Err(error).context(format!("trying the route to {peer}")),
    }
    let name = getsockopt(&socket, TcpCongestion)?;
    Ok(name.to_string_lossy().trim_end_matches('\0').to_string())
}

/// Fails if a controller is not among those of this machine.
pub fn require_congestion(name: &str) -> Result<()> {
    let available = fs::read_to_string(AVAILABLE).with_context(|| format!("reading {AVAILABLE}"))?;
    if available.split_whitespace().any(|controller| controller == name) {
        return Ok(());
    }
    bail!(
        "TCP congestion controller \"{name}\" is unknown to this machine, which has: {} (from {AVAILABLE}); choose one of these, or load it (modprobe tcp_{name})",
        available.trim()
    )
}

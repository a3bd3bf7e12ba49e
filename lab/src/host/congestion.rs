//! The TCP congestion controller that connections over a link really get.

use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, getsockopt, socket,
    sockopt::TcpCongestion,
};
use std::os::fd::AsRawFd;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The controller of a connection from the calling thread's host to `peer`. It starts connecting, because only
/// then does the route choose the controller: to be called before the link carries packets.
pub fn towards(peer: Ipv4Addr) -> Result<String> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    match connect(
        socket.as_raw_fd(),
        &SockaddrIn::from(SocketAddrV4::new(peer, 9)),
    ) {
        Ok(()) | Err(Errno::EINPROGRESS | Errno::ECONNREFUSED) => {}
        Err(error) => return Err(error).context(format!("trying the route to {peer}")),
    }
    let name = getsockopt(&socket, TcpCongestion)?;
    Ok(name.to_string_lossy().trim_end_matches('\0').to_string())
}

/// Fails if a controller is not among those of this machine.
pub fn require(name: &str) -> Result<()> {
    let available =
        std::fs::read_to_string(AVAILABLE).with_context(|| format!("reading {AVAILABLE}"))?;
    if available
        .split_whitespace()
        .any(|controller| controller == name)
    {
        return Ok(());
    }
    bail!(
        "TCP congestion controller \"{name}\" is unknown to this machine, which has: {} (from {AVAILABLE}); choose one of these, or load it (modprobe tcp_{name})",
        available.trim()
    )
}

//! Where programs of a role look names up: at the resolver of their host.

use std::ffi::CStr;
use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};

/// The resolver's address on every host.
pub const NAMESERVER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 53);
/// The file in which programs look for it, and the one in the enclosure's own `/tmp` that replaces it.
const NAMED_IN: &CStr = c"/etc/resolv.conf";
const OURS: &CStr = c"/tmp/h123-resolv.conf";

/// Writes, inside an enclosure, the file that `appoint` puts in place; its path.
pub fn configuration() -> Result<&'static CStr> {
    let path = OURS.to_str().expect("no more than ASCII");
    std::fs::write(path, format!("nameserver {}\n", NAMESERVER.ip())).with_context(|| format!("writing {path}"))?;
    Ok(OURS)
}

/// Has the calling process and its children, which have their own mounts, ask the host's resolver. Only system calls: for
/// use between fork and exec.
pub fn appoint(configuration: &CStr) -> nix::Result<()> {
    let nothing: Option<&str> = None;
    match mount(Some(configuration), NAMED_IN, nothing, MsFlags::MS_BIND, nothing) {
        // Without that file programs ask their own host by themselves.
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

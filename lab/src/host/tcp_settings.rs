//! What TCP does in the calling thread's host by settings of its namespace, which no route has.

use std::fs;

use anyhow::{Context, Result};

use crate::files::trial::Tcp;

const BEGINS_ANEW: &str = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";
const FAST_OPEN: &str = "/proc/sys/net/ipv4/tcp_fastopen";
/// Clients that ask for it have it, and whatever listens, without asking (the kernel's ip-sysctl).
const BOTH_ENDS: u32 = 0x1 | 0x2 | 0x400;

/// Makes it so.
pub fn ask(tcp: Tcp) -> Result<()> {
    if tcp.keep_idle_window {
        fs::write(BEGINS_ANEW, "0").context(BEGINS_ANEW)?;
    }
    if tcp.fast_open {
        fs::write(FAST_OPEN, BOTH_ENDS.to_string()).context(FAST_OPEN)?;
    }
    Ok(())
}

/// What is so of them, with the rest as it was found elsewhere.
pub fn found(others: Tcp) -> Result<Tcp> {
    Ok(Tcp {
        keep_idle_window: read(BEGINS_ANEW)? == 0,
        fast_open: read(FAST_OPEN)? & BOTH_ENDS == BOTH_ENDS,
        ..others
    })
}

fn read(setting: &'static str) -> Result<u32> {
    let text = fs::read_to_string(setting).context(setting)?;
    text.trim().parse().context(setting)
}

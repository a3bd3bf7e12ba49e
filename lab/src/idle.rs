//! What TCP makes of a silence in the calling thread's host: a setting of the namespace, which no route has.

use std::fs;

use anyhow::{Context, Result};

const BEGINS_ANEW: &str = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";

/// Connections go on after a silence with the window that they had.
pub fn keep_window() -> Result<()> {
    fs::write(BEGINS_ANEW, "0").context(BEGINS_ANEW)
}

/// Whether they do.
pub fn keeps_window() -> Result<bool> {
    let text = fs::read_to_string(BEGINS_ANEW).context(BEGINS_ANEW)?;
    Ok(text.trim() == "0")
}

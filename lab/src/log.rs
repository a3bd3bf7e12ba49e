//! Logs of roles: where they are, and their ends for messages.

use std::path::Path;

const TAIL_LINES: usize = 8;
const TAIL_BYTES: usize = 2000;

/// A role's log, relative to the output folder.
pub fn file(role: &str) -> String {
    format!("logs/{role}.log")
}

/// The last lines of a log, to be appended to a message.
pub fn tail(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text =
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]).into_owned();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    match lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n") {
        last if last.is_empty() => "; it printed nothing".into(),
        last => format!("; its last output: {last}"),
    }
}

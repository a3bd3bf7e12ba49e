//! Logs of roles: where they are, how long they may be, and their ends for messages.

use std::fs::{File, OpenOptions};
use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::path::Path;

/// Of a role or a link, in letters.
const LONGEST_NAME: usize = 100;
/// What is kept of a longer log: so much of its beginning, and as much of its end.
const KEPT_BYTES: u64 = 512 * 1024;
const TAIL_LINES: usize = 8;
const TAIL_BYTES: usize = 2000;

/// A role's log, relative to the output folder.
pub fn file(role: &str) -> String {
    format!("logs/{role}.log")
}

/// The last lines of a log, to be appended to a message.
pub fn tail(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]).into_owned();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    match lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n") {
        last if last.is_empty() => "; it printed nothing".into(),
        last => format!("; its last output: {last}"),
    }
}

/// Cuts the middle out of a log that is too long; returns how long it was.
pub fn shorten(log: &Path) -> Result<Option<u64>> {
    let mut file = OpenOptions::new().read(true).write(true).open(log)?;
    let size = file.metadata()?.len();
    if size <= 2 * KEPT_BYTES {
        return Ok(None);
    }
    let end = read_end(&mut file, size)?;
    file.seek(SeekFrom::Start(KEPT_BYTES))?;
    write!(file, "\n[{} bytes left out]\n", size - 2 * KEPT_BYTES)?;
    file.write_all(&end)?;
    let kept = file.stream_position()?;
    file.set_len(kept)?;
    Ok(Some(size))
}

fn read_end(file: &mut File, size: u64) -> Result<Vec<u8>> {
    let mut end = vec![];
    file.seek(SeekFrom::Start(size - KEPT_BYTES))?;
    file.take(KEPT_BYTES).read_to_end(&mut end)?;
    Ok(end)
}

/// Whether a name can become one of a file; if not, why.
pub fn names_a_file(whose: &str, name: &str) -> std::result::Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let named = (1..=LONGEST_NAME).contains(&name.len());
    if named && !name.starts_with('.') && name.chars().all(plain) {
        return Ok(());
    }
    Err(format!("{whose}'s name becomes a file name: use letters, digits, - and _, at most {LONGEST_NAME}"))
}

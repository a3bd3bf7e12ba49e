//! Files that are either whole or not there.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

/// Writes a value as JSON so that the file is either whole or not there, even if the power fails.
pub fn write_atomically(value: &impl Serialize, path: &Path) -> Result<()> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    write_whole(path, |file| {
        file.write_all(&json)?;
        file.sync_all()
    })
}

/// Writes a file that is either whole or not there. Whether it outlives a power failure, `write` decides.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    let write = || -> Result<()> {
        // Whatever a link of that name leads to is not ours.
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(partial)?;
        write(&mut file)?;
        std::fs::rename(partial, path)?;
        Ok(())
    };
    write().inspect_err(|_| drop(std::fs::remove_file(partial))).with_context(|| {
        format!("cannot write {}: free some space or make the folder writable, then run it again", path.display())
    })
}

//! The temporary folders of an enclosure: covered, so that what is added to them goes with the lab.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sys::stat::Mode;

/// Has what is added to the temporary folders go with the lab.
pub fn cover_temporary() -> anyhow::Result<()> {
    places().try_for_each(|place| cover(place, |_| true))
}

/// The same, but what is in them is hidden unless it leads to one of these.
pub fn cover_temporary_but(needed: &[&Path]) -> anyhow::Result<()> {
    let leads = |entry: &Path| needed.iter().any(|path| path.starts_with(entry));
    places().try_for_each(|place| cover(place, leads))
}

/// The temporary folders that there are.
pub fn places() -> impl Iterator<Item = &'static Path> {
    ["/tmp", "/var/tmp"].map(Path::new).into_iter().filter(|place| place.is_dir())
}

/// Makes a file or folder appear as `target`, in the enclosure's own /tmp. What the machine has there is hidden.
pub fn bind(source: &Path, target: &Path) -> anyhow::Result<()> {
    // A link would lead out of it.
    let _ = std::fs::remove_file(target);
    if !target.exists() {
        if source.is_dir() {
            std::fs::create_dir(target)?;
        } else {
            File::create(target)?;
        }
    }
    let nothing: Option<&str> = None;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(source), target, nothing, flags, nothing).with_context(|| format!("mounting {}", source.display()))
}

/// Covers a folder with a fresh tmpfs and binds back into it what stands there already and is `kept`, so that its path
/// keeps its meaning and what the roles add goes with the lab.
fn cover(place: &Path, kept: impl Fn(&Path) -> bool) -> anyhow::Result<()> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let covered = open(place, flags, Mode::empty()).with_context(|| format!("opening {}", place.display()))?;
    let beneath = PathBuf::from(format!("/proc/self/fd/{}", covered.as_raw_fd()));
    // A relative working directory would stay on what is covered.
    let here = std::env::current_dir();
    mount(Some("tmpfs"), place, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("mode=1777"))
        .with_context(|| format!("mounting {}", place.display()))?;
    for entry in std::fs::read_dir(&beneath)?.flatten() {
        // Others may be removing their files at this moment: what has gone need not be kept.
        let target = place.join(entry.file_name());
        if kept(&target) {
            let _ = keep(&entry.path(), &target);
        }
    }
    // It may have been taken away.
    let _ = here.map(std::env::set_current_dir);
    Ok(())
}

/// Makes what `source` names appear as `target`, too.
fn keep(source: &Path, target: &Path) -> anyhow::Result<()> {
    let kind = source.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        return Ok(symlink(source.read_link()?, target)?);
    }
    if kind.is_dir() {
        std::fs::create_dir(target)?;
    } else {
        File::create(target)?;
    }
    let nothing: Option<&str> = None;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    Ok(mount(Some(source), target, nothing, flags, nothing)?)
}

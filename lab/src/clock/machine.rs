//! The machine's files as a virtual kernel without an enclosure sees them: its own root is a folder with little in it
//! (`clock::site`), and this puts the machine's in its place. What the trial may write to stays writable, the rest is not.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::mount::{MsFlags, mount};
use nix::unistd::{chdir, chroot};

use crate::clock::site::{self, MACHINE, SHARED, TRIAL};
use crate::files::arrangement::{arrange, cover, written};
use crate::files::mounts::{below, handle, path_of};
use crate::files::roots::Roots;
use crate::files::surroundings::FOLDER;
use crate::files::temporary;
use crate::files::trial::Trial;

/// As deep as a path can be. Above the root there is nothing but the root.
const DEEPEST: usize = 200;
const NOTHING: Option<&str> = None;

/// Returns the trial's folder. To be called before the random numbers are seeded. In fixed surroundings it mounts one file
/// system and shows parts of it elsewhere. That takes no virtual time, as random numbers would, of which some file systems
/// draw one for each file; so a trial runs as in an enclosure, to the byte.
pub fn enter(dir: PathBuf, roots: &Roots) -> Result<PathBuf> {
    let machine = Path::new(MACHINE);
    let text = fs::read_to_string(Path::new(SHARED).join(TRIAL))?;
    let trial = Trial::trusted(&text).context("reading the trial")?;
    let shared = handle(Path::new(SHARED))?;
    // Those that we have read already: programs that are linked with them get the same.
    let libraries: Vec<_> =
        site::libraries().into_iter().filter_map(|library| Some((handle(&library).ok()?, library))).collect();
    let fixed = trial.has_fixed_surroundings();
    let there = |path: &Path| below(machine, path);
    // The kernel puts our own folder before the path: the way leads up from there.
    let up = "/..".repeat(DEEPEST);
    let flags = MsFlags::MS_NOATIME | MsFlags::MS_NOSUID;
    mount(Some("machine"), machine, Some("hostfs"), flags, Some(up.as_str()))
        .context("mounting the machine's files")?;
    for folder in written(&trial, &dir) {
        show(&there(folder), &there(folder))?;
    }
    if fixed {
        // In our own temporary folder, which then hides the machine's, where these may be.
        for (name, folder) in roots.iter() {
            show(&there(folder), &Roots::place(name))?;
            read_only(&Roots::place(name))?;
        }
        show(&there(&dir), Path::new(FOLDER))?;
        for place in temporary::places().filter(|place| there(place).is_dir()) {
            show(place, &there(place))?;
        }
    }
    read_only(machine)?;
    chdir(machine)?;
    mount(Some("."), "/", NOTHING, MsFlags::MS_MOVE, NOTHING).context("replacing the root")?;
    chroot(".")?;
    chdir("/")?;
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), safe, NOTHING).context("mounting /proc")?;
    for (ours, library) in &libraries {
        show(&path_of(ours), library)?;
    }
    if fixed {
        return Ok(FOLDER.into());
    }
    cover(&trial, roots, &dir, None)?;
    let folder = arrange(&trial, roots, dir, None)?;
    temporary::bind(&path_of(&shared), Path::new(SHARED))?;
    Ok(folder)
}

/// Makes a folder, with what is mounted in it, appear elsewhere too.
fn show(folder: &Path, place: &Path) -> Result<()> {
    mount(Some(folder), place, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)
        .with_context(|| format!("mounting {} at {}", folder.display(), place.display()))
}

fn read_only(place: &Path) -> Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_NOATIME | MsFlags::MS_NOSUID;
    mount(NOTHING, place, NOTHING, flags, NOTHING).with_context(|| format!("making {} read-only", place.display()))
}

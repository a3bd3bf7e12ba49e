//! What a trial finds on the machine: its files, which it cannot change for good, and the temporary folders, in which
//! there is only its own.

use std::path::{Path, PathBuf};

use crate::files::overlay::{self, Entered, Kept, Owner};
use crate::files::roots::{self, Roots};
use crate::files::surroundings;
use crate::files::temporary;
use crate::files::trial::Trial;

/// Has no role change the machine's files, but for the trial's folder and those that a role may write to. `kernel` is one
/// more file that is needed.
pub fn isolate(
    trial: &Trial,
    roots: &Roots,
    dir: &Path,
    kernel: Option<&Path>,
    owner: Owner,
) -> anyhow::Result<Entered> {
    let kept = |written| move |path| Kept { path, written };
    let kept: Vec<_> =
        roots.folders().chain(kernel).map(kept(false)).chain(written(trial, dir).into_iter().map(kept(true))).collect();
    let entered = overlay::enter(&kept, owner)?;
    cover(trial, roots, dir, kernel)?;
    Ok(entered)
}

/// Covers the temporary folders, but for what the trial needs of them.
pub fn cover(trial: &Trial, roots: &Roots, dir: &Path, kernel: Option<&Path>) -> anyhow::Result<()> {
    if !trial.has_fixed_surroundings() {
        return temporary::cover_temporary();
    }
    // The rest would only have to be hidden again.
    let needed: Vec<_> = roots.folders().chain([dir]).chain(kernel).collect();
    temporary::cover_temporary_but(&needed)
}

/// The folders of the machine in which what is written stays.
pub fn written<'a>(trial: &'a Trial, dir: &'a Path) -> Vec<&'a Path> {
    let folders = trial.roles.iter().flat_map(|role| &role.writes);
    folders.map(PathBuf::as_path).chain([dir]).collect()
}

/// What the roles are to find in the lab's own /tmp, besides what is at `more`; returns where the trial's folder is there.
pub fn arrange(trial: &Trial, roots: &Roots, dir: PathBuf, more: Option<&Path>) -> anyhow::Result<PathBuf> {
    roots.mount()?;
    if !trial.has_fixed_surroundings() {
        return Ok(dir);
    }
    let folder = Path::new(surroundings::FOLDER);
    temporary::bind(&dir, folder)?;
    let needed: Vec<_> = [Path::new(roots::PLACE), folder].into_iter().chain(more).collect();
    temporary::cover_temporary_but(&needed)?;
    Ok(folder.to_path_buf())
}

//! What the roles wrote that goes with the lab: said, so that a person who misses a file knows why.

use std::fs::{self, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::files::message::Message;
use crate::files::mounts::{below, path_of};

/// More are counted.
const SHOWN: usize = 5;
/// More are not even looked for.
const MOST: usize = 1000;
/// Programs get these for files that are not to stay.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// What the lab itself puts there begins so.
const OURS: [&str; 2] = ["h123-", ".h123-"];

/// Where the changes to one file system are.
pub struct Layer {
    /// Of the file system.
    pub place: PathBuf,
    pub upper: OwnedFd,
    /// As the machine has it.
    pub lower: OwnedFd,
}

/// What was changed, by path.
#[derive(Default)]
pub struct Discarded(Vec<PathBuf>);

impl Discarded {
    pub fn in_layers(&mut self, layers: &[Layer]) {
        for layer in layers {
            let upper = path_of(&layer.upper);
            if let Ok(own) = upper.metadata() {
                self.compare(&upper, &path_of(&layer.lower), &layer.place, own.dev());
            }
        }
    }

    /// What a person's own program leaves in the temporary folders, which are the lab's own, but for what leads to `kept`.
    pub fn in_temporary_folders(&mut self, kept: &[&Path]) {
        for place in TEMPORARY.map(Path::new) {
            let Ok(own) = place.metadata() else { continue };
            for (name, found) in entries(place) {
                let ours = OURS.iter().any(|start| name.starts_with(start));
                let path = place.join(&name);
                let leads = kept.iter().any(|kept| kept.starts_with(&path));
                // What is of another file system was there before; of a link nothing tells.
                let before = found.dev() != own.dev() || found.is_symlink();
                if !ours && !before && !leads {
                    self.add(path);
                }
            }
        }
    }

    pub fn message(mut self) -> Option<Message> {
        self.0.sort();
        let mut texts: Vec<_> = self.0.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
        let more = self.0.len() - texts.len();
        if more > 0 {
            let bound = if self.0.len() == MOST { " or more" } else { "" };
            texts.push(format!("{more}{bound} others"));
        }
        (!texts.is_empty()).then(|| {
            let detail = format!("written only in the lab, and discarded with it: {}", texts.join(", "));
            Message::new("files-discarded", detail)
        })
    }

    /// Files that are new or others in `upper`, or gone; a new folder stands for all in it. What is of another file system
    /// than `own` is a layer of its own, or none.
    fn compare(&mut self, upper: &Path, lower: &Path, place: &Path, own: u64) {
        for (name, found) in entries(upper) {
            if found.dev() != own {
                continue;
            }
            let (upper, lower) = (upper.join(&name), lower.join(&name));
            if let Ok(target) = fs::read_link(&upper)
                && fs::read_link(&lower).is_ok_and(|before| before == target)
            {
                continue;
            }
            let before = lower.symlink_metadata().ok();
            match before {
                Some(before) if before.is_dir() && found.is_dir() => {
                    self.compare(&upper, &lower, &place.join(name), own);
                }
                // Who opens a file to write gets a copy, even if nothing is written.
                Some(before) if alike(&before, &found) => {}
                None if is_gap(&found) => {}
                _ => self.add(below(place, Path::new(&name))),
            }
        }
    }

    fn add(&mut self, path: PathBuf) {
        if self.0.len() < MOST {
            self.0.push(path);
        }
    }
}

fn entries(folder: &Path) -> Vec<(String, Metadata)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        Some((name, entry.metadata().ok()?))
    });
    named.collect()
}

fn alike(before: &Metadata, now: &Metadata) -> bool {
    let facts = |of: &Metadata| {
        let when = (of.mtime(), of.mtime_nsec());
        (of.mode(), of.uid(), of.gid(), of.len(), when)
    };
    facts(before) == facts(now)
}

/// By which an overlay remembers that something is not there.
fn is_gap(found: &Metadata) -> bool {
    found.file_type().is_char_device() && found.rdev() == 0
}

//! What is mounted where, as the kernel lists it for this process.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

pub struct Mount {
    pub place: PathBuf,
    /// Of file system.
    pub kind: String,
    /// A descriptor of its root, which no later mount can hide.
    pub root: OwnedFd,
}

/// What a tree of files is put together from.
pub enum Part {
    /// Of a folder in which there are other mounts nothing but itself.
    Folder(Mount),
    Link(PathBuf, PathBuf),
    Mount(Mount),
}

/// All that can be reached by their paths, each after what it is mounted in.
pub fn all() -> anyhow::Result<Vec<Mount>> {
    let table = fs::read("/proc/self/mountinfo").context("reading /proc/self/mountinfo")?;
    let lines = table.split(|&byte| byte == b'\n').filter_map(parse);
    Ok(lines.filter_map(reachable).collect())
}

/// The same, but no part has another mount in it: in a user namespace the kernel hands on a folder only if nothing is
/// mounted below it, because what is covered must stay so. `whole` are those that are taken with all in them.
pub fn apart(mounts: Vec<Mount>, whole: impl Fn(&Mount) -> bool) -> Vec<Part> {
    let places: BTreeSet<PathBuf> = mounts.iter().map(|mount| mount.place.clone()).collect();
    let mut taken: Vec<PathBuf> = vec![];
    let mut parts = vec![];
    for mount in mounts {
        if taken.iter().any(|above| mount.place.starts_with(above)) {
            continue;
        }
        if whole(&mount) {
            taken.push(mount.place.clone());
            parts.push(Part::Mount(mount));
        } else {
            divide(mount, &places, &mut parts);
        }
    }
    parts
}

fn divide(mount: Mount, places: &BTreeSet<PathBuf>, parts: &mut Vec<Part>) {
    let within = |place: &PathBuf| place.starts_with(&mount.place) && *place != mount.place;
    if !places.iter().any(within) {
        return parts.push(Part::Mount(mount));
    }
    let entries: Vec<_> = fs::read_dir(path_of(&mount.root)).into_iter().flatten().flatten().collect();
    let (above, kind) = (mount.place.clone(), mount.kind.clone());
    parts.push(Part::Folder(mount));
    for entry in entries {
        let place = above.join(entry.file_name());
        if let Ok(target) = fs::read_link(entry.path()) {
            parts.push(Part::Link(place, target));
        } else if !places.contains(&place)
            && let Ok(root) = handle(&entry.path())
        {
            let kind = kind.clone();
            divide(Mount { place, kind, root }, places, parts);
        }
    }
}

/// Opens without any right to read or write: for use in a path.
pub fn handle(place: &Path) -> nix::Result<OwnedFd> {
    open(place, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())
}

/// A path of what a descriptor is open at.
pub fn path_of(descriptor: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd()).into()
}

struct Line {
    id: u64,
    place: PathBuf,
    kind: String,
}

/// `id parent device root place options [tags] - kind source options`, see proc_pid_mountinfo(5).
fn parse(line: &[u8]) -> Option<Line> {
    let mut words = line.split(|&byte| byte == b' ');
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let id = text(words.next()?).parse().ok()?;
    let place = unescape(words.nth(3)?);
    words.find(|word| *word == b"-")?;
    let kind = text(words.next()?);
    Some(Line { id, place, kind })
}

/// A space, tab, newline or backslash is written as its octal number: `\040`.
fn unescape(word: &[u8]) -> PathBuf {
    let mut plain = vec![];
    let mut rest = word;
    while let [first, after @ ..] = rest {
        let number = after.get(..3).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        match (first, number) {
            (b'\\', Some(byte)) => {
                plain.push(byte);
                rest = &after[3..];
            }
            _ => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(plain).into()
}

/// None where another mount hides it.
fn reachable(line: Line) -> Option<Mount> {
    let root = handle(&line.place).ok()?;
    let facts = fs::read_to_string(format!("/proc/self/fdinfo/{}", root.as_raw_fd())).ok()?;
    let found = facts.lines().find_map(|fact| fact.strip_prefix("mnt_id:"))?.trim();
    (found.parse() == Ok(line.id)).then_some(Mount { place: line.place, kind: line.kind, root })
}

/// A place below another root.
pub fn below(root: &Path, place: &Path) -> PathBuf {
    let inner = place.strip_prefix("/").unwrap_or(place);
    if inner.as_os_str().as_bytes().is_empty() {
        return root.to_path_buf();
    }
    root.join(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read_whatever_is_in_its_path() {
        let line = parse(b"36 35 98:0 /a\\040b /mnt/c\\040\\134d rw,noatime master:1 x:2 - ext4 /dev/root rw").unwrap();
        assert_eq!((line.id, line.place.as_path(), line.kind.as_str()), (36, Path::new("/mnt/c \\d"), "ext4"));
        assert!(parse(b"").is_none() && parse(b"36 35 98:0 / /").is_none());
    }

    #[test]
    fn the_root_is_found_first_and_its_files_are_below_it() {
        let all = all().unwrap();
        assert!(all.iter().any(|mount| mount.place == Path::new("/")));
        assert!(path_of(&all[0].root).exists());
        assert_eq!(below(Path::new("/new"), Path::new("/")), Path::new("/new"));
        assert_eq!(below(Path::new("/new"), Path::new("/etc/x")), Path::new("/new/etc/x"));
    }
}

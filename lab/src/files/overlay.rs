//! The machine's files as a trial has them: all can be read and changed, and no change reaches the machine.
//!
//! Each file system has an overlay, whose upper layer is in memory. Sockets and pipes of the machine have no other end in
//! there, because the overlay's are other files. A few folders are kept: what is written there stays.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use anyhow::Context;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, chroot, pivot_root};

use crate::files::discarded::Layer;
use crate::files::mounts::{self, Mount, Part, below, handle, path_of};

/// Where it is put together. What is there is opened before.
const SCRATCH: &str = "/tmp";
/// Those of the kernel's own, in which no program keeps files.
const KERNELS: [&str; 17] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "sysfs",
    "tracefs",
];
/// Read-only by their kind.
const IMAGES: [&str; 4] = ["cramfs", "erofs", "iso9660", "squashfs"];
/// What servers open in `/dev`, and the lab itself.
const DEVICES: [&str; 7] = ["null", "zero", "full", "random", "urandom", "tty", "net/tun"];
const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];
const NOTHING: Option<&str> = None;
/// With what is mounted in it.
const WHOLE: MsFlags = MsFlags::MS_BIND.union(MsFlags::MS_REC);

/// A folder or file that is the machine's own in a trial.
pub struct Kept<'a> {
    pub path: &'a Path,
    /// Whether what is written there stays. Otherwise nothing can be written.
    pub written: bool,
}

/// Whose privileges there are to put it together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Root,
    /// Of a user namespace: folders come one by one, and files that belong to others cannot be changed.
    Namespace,
}

/// What came of it.
#[derive(Default)]
pub struct Entered {
    /// What gets the changes.
    pub layers: Vec<Layer>,
    /// Whether the kernel refused an overlay of files that should have one: they can be read alone.
    pub refused: bool,
}

/// Replaces all files of the calling process, in mounts of its own. Its `/proc` stays as it is.
pub fn enter(kept: &[Kept], owner: Owner) -> anyhow::Result<Entered> {
    let here = std::env::current_dir();
    let mounts = mounts::all()?;
    let parts = match owner {
        Owner::Root => mounts.into_iter().map(Part::Mount).collect(),
        Owner::Namespace => mounts::apart(mounts, is_kernels),
    };
    let mut kept: Vec<_> = kept
        .iter()
        .map(|kept| Ok((kept, handle(kept.path)?)))
        .collect::<nix::Result<_>>()
        .context("opening what a trial keeps")?;
    // A folder comes after those that it is in.
    kept.sort_by_key(|(kept, _)| kept.path.components().count());
    let [proc, dev] = ["/proc", "/dev"].map(|place| handle(Path::new(place)));
    mount_new("tmpfs", Path::new(SCRATCH), "mode=700")?;
    let root = Path::new(SCRATCH).join("root");
    fs::create_dir(&root)?;
    if owner == Owner::Namespace {
        // Of parts: they need something to stand in that can become a root.
        mount_new("tmpfs", &root, "mode=755")?;
    }
    let mut assembly = Assembly { root: &root, owner, entered: Entered::default() };
    for (number, part) in parts.into_iter().enumerate() {
        assembly.add(part, number).with_context(|| format!("covering file system {number}"))?;
    }
    let entered = assembly.entered;
    bind(&proc?, &root.join("proc"), WHOLE)?;
    devices(&dev?, &root.join("dev"))?;
    for (kept, own) in kept {
        let place = below(&root, kept.path);
        // In memory of the machine's that is hidden, such as /dev/shm.
        if !place.exists() {
            fs::create_dir_all(&place)?;
        }
        bind(&own, &place, WHOLE)?;
        if !kept.written {
            read_only(&place)?;
        }
    }
    change_root(&root)?;
    // It may have been taken away.
    let _ = here.map(std::env::set_current_dir);
    Ok(entered)
}

/// Whether it is one that no program keeps files in.
fn is_kernels(mount: &Mount) -> bool {
    let folders = ["/proc", "/dev", "/sys"];
    folders.iter().any(|folder| mount.place.starts_with(folder)) || KERNELS.contains(&mount.kind.as_str())
}

struct Assembly<'a> {
    root: &'a Path,
    owner: Owner,
    entered: Entered,
}

impl Assembly<'_> {
    fn add(&mut self, part: Part, number: usize) -> anyhow::Result<()> {
        match part {
            Part::Folder(folder) => {
                let place = below(self.root, &folder.place);
                fs::create_dir_all(&place)?;
                let mode = path_of(&folder.root).metadata()?.mode() & 0o7777 | 0o700;
                fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
                self.entered.layers.push(Layer { place: folder.place, upper: handle(&place)?, lower: folder.root });
            }
            Part::Link(place, target) => symlink(target, below(self.root, &place))?,
            Part::Mount(mount) => self.carry(mount, number)?,
        }
        Ok(())
    }

    /// One file system, or part of one.
    fn carry(&mut self, original: Mount, number: usize) -> anyhow::Result<()> {
        let place = below(self.root, &original.place);
        let kind = path_of(&original.root).metadata()?.file_type();
        let is_in = |folder: &str| original.place.starts_with(folder);
        let mut how = MsFlags::MS_BIND;
        if self.owner == Owner::Namespace {
            make_place(&place, kind.is_dir())?;
            if is_kernels(&original) {
                how = WHOLE;
            }
        }
        // Sockets and pipes have an end on the machine.
        if is_in("/proc") || is_in("/dev") || !(kind.is_dir() || kind.is_file()) {
            return Ok(());
        }
        let covered = kind.is_dir()
            && !is_in("/sys")
            && !KERNELS.contains(&original.kind.as_str())
            && !IMAGES.contains(&original.kind.as_str());
        if covered {
            if let Ok(upper) = cover(&original, &place, number, self.owner) {
                self.entered.layers.push(Layer { place: original.place, upper, lower: original.root });
                return Ok(());
            }
            self.entered.refused = true;
        }
        // Where its place is not there, what it is in was hidden; a kernel's own cannot always be mounted twice.
        let carried = bind(&original.root, &place, how).and_then(|()| read_only(&place));
        match carried {
            Err(error) if original.place == Path::new("/") => Err(error),
            _ => Ok(()),
        }
    }
}

/// In a folder that is put together from parts, where something is mounted.
fn make_place(place: &Path, folder: bool) -> std::io::Result<()> {
    if place.exists() {
        Ok(())
    } else if folder {
        fs::create_dir_all(place)
    } else {
        File::create(place).map(drop)
    }
}

/// Mounts an overlay of it; the folder that gets its changes.
fn cover(original: &Mount, place: &Path, number: usize, owner: Owner) -> anyhow::Result<OwnedFd> {
    let own = Path::new(SCRATCH).join(number.to_string());
    let [upper, work] = ["upper", "work"].map(|name| own.join(name));
    let lower = path_of(&original.root);
    fs::create_dir(&own)?;
    fs::create_dir(&work)?;
    fs::create_dir(&upper)?;
    let metadata = lower.metadata()?;
    let mut options = format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
    match owner {
        Owner::Root => chown(&upper, Some(metadata.uid()), Some(metadata.gid()))?,
        Owner::Namespace => options.push_str(",userxattr"),
    }
    fs::set_permissions(&upper, metadata.permissions())?;
    mount_new("overlay", place, &options)?;
    Ok(handle(&upper)?)
}

/// The few that programs open: not the disks, the memory and the log of the machine.
fn devices(machine: &OwnedFd, place: &Path) -> anyhow::Result<()> {
    mount_new("tmpfs", place, "mode=755")?;
    // Those below need not be there.
    for folder in ["net", "pts", "shm"] {
        fs::create_dir(place.join(folder))?;
    }
    for name in DEVICES {
        if let Ok(device) = handle(&path_of(machine).join(name)) {
            File::create(place.join(name))?;
            bind(&device, &place.join(name), MsFlags::MS_BIND)?;
        }
    }
    if let Ok(terminals) = handle(&path_of(machine).join("pts")) {
        bind(&terminals, &place.join("pts"), WHOLE)?;
    }
    for (target, name) in LINKS {
        symlink(target, place.join(name))?;
    }
    mount_new("tmpfs", &place.join("shm"), "mode=1777")
}

fn mount_new(kind: &str, place: &Path, options: &str) -> anyhow::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some(kind), place, Some(kind), flags, Some(options))
        .with_context(|| format!("mounting {kind} at {}", place.display()))
}

fn bind(what: &OwnedFd, place: &Path, flags: MsFlags) -> anyhow::Result<()> {
    mount(Some(&path_of(what)), place, NOTHING, flags, NOTHING).with_context(|| format!("mounting {}", place.display()))
}

/// A user namespace must leave `noexec` where it is.
fn read_only(place: &Path) -> anyhow::Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(NOTHING, place, NOTHING, flags, NOTHING)
        .or_else(|_| {
            let flags = flags | MsFlags::MS_NOEXEC;
            mount(NOTHING, place, NOTHING, flags, NOTHING)
        })
        .with_context(|| format!("making {} read-only", place.display()))
}

/// The old root is out of reach after this.
fn change_root(root: &Path) -> anyhow::Result<()> {
    chdir(root)?;
    match pivot_root(".", ".") {
        Ok(()) => umount2(".", MntFlags::MNT_DETACH)?,
        // The first one, of a machine that runs from its initramfs, cannot be replaced.
        Err(Errno::EINVAL) => {
            mount(Some("."), "/", NOTHING, MsFlags::MS_MOVE, NOTHING)?;
            chroot(".")?;
        }
        Err(error) => return Err(error).context("replacing the root"),
    }
    Ok(chdir("/")?)
}

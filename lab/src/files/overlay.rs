//! The machine's files as a trial has them: all can be read and changed, and no change reaches the machine.
//!
//! Each file system has an overlay, whose upper layer is in memory. Sockets and pipes of the machine have no other end in
//! there, because the overlay's are other files. A few folders are kept: what is written there stays.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::Path;

use anyhow::Context;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, chroot, pivot_root};

use crate::files::discarded::Layer;
use crate::files::mounts::{self, Mount, below, handle, path_of};

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
const DEVICES: [&str; 7] = [
    "null", "zero", "full", "random", "urandom", "tty", "net/tun",
];
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

/// Replaces all files of the calling process, in mounts of its own, and returns the layers that get their changes. Its
/// `/proc` stays as it is.
pub fn enter(kept: &[Kept]) -> anyhow::Result<Vec<Layer>> {
    let here = std::env::current_dir();
    let mounts = mounts::all()?;
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
    let mut layers = vec![];
    for (number, found) in mounts.into_iter().enumerate() {
        layers.extend(
            carry(found, &root, number)
                .with_context(|| format!("covering file system {number}"))?,
        );
    }
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
    Ok(layers)
}

/// One file system; the layer that gets its changes, if it can be changed.
fn carry(original: Mount, root: &Path, number: usize) -> anyhow::Result<Option<Layer>> {
    let place = below(root, &original.place);
    let kind = path_of(&original.root).metadata()?.file_type();
    let is_in = |folder: &str| original.place.starts_with(folder);
    // Socket and pipes have an end on the machine.
    if is_in("/proc") || is_in("/dev") || !(kind.is_dir() || kind.is_file()) {
        return Ok(None);
    }
    let covered = kind.is_dir()
        && !is_in("/sys")
        && !KERNELS.contains(&original.kind.as_str())
        && !IMAGES.contains(&original.kind.as_str());
    if covered && let Ok(upper) = cover(&original, &place, number) {
        return Ok(Some(Layer {
            place: original.place,
            upper,
            lower: original.root,
        }));
    }
    // Where its place is not there, what it is in was hidden; a kernel's own cannot always be mounted twice.
    let carried = bind(&original.root, &place, MsFlags::MS_BIND).and_then(|()| read_only(&place));
    match carried {
        Err(error) if original.place == Path::new("/") => Err(error),
        _ => Ok(None),
    }
}

/// Mounts an overlay of it; the folder that gets its changes.
fn cover(original: &Mount, place: &Path, number: usize) -> anyhow::Result<OwnedFd> {
    let own = Path::new(SCRATCH).join(number.to_string());
    let [upper, work] = ["upper", "work"].map(|name| own.join(name));
    let lower = path_of(&original.root);
    fs::create_dir(&own)?;
    fs::create_dir(&work)?;
    fs::create_dir(&upper)?;
    let metadata = lower.metadata()?;
    chown(&upper, Some(metadata.uid()), Some(metadata.gid()))?;
    fs::set_permissions(&upper, metadata.permissions())?;
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
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
    mount(Some(&path_of(what)), place, NOTHING, flags, NOTHING)
        .with_context(|| format!("mounting {}", place.display()))
}

fn read_only(place: &Path) -> anyhow::Result<()> {
    let flags = MsFlags::MS_BIND
        | MsFlags::MS_REMOUNT
        | MsFlags::MS_RDONLY
        | MsFlags::MS_NOSUID
        | MsFlags::MS_NODEV;
    mount(NOTHING, place, NOTHING, flags, NOTHING)
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

//! Where a virtual kernel finds what it needs: in an enclosure, or on a machine that allows none. There the kernel sees a
//! folder of its own as its root, and reaches the machine's files from within (`clock::machine`).

use std::ffi::CStr;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::mkdtemp;

use crate::files::refusal::Refusal;
use crate::files::roots::Roots;
use crate::files::surroundings;

/// Where the kernel's file is bound in the enclosure's own /tmp: its path shifts its addresses.
pub const KERNEL: &str = "/tmp/h123-kernel";
/// The folder in which the two sides find each other's files, as the kernel has it.
pub const SHARED: &str = "/tmp/.h123-virtual";
/// The trial's file, in that folder.
pub const TRIAL: &str = "trial.json";
/// Where the machine's files are mounted first, in a root that has nothing of them.
pub const MACHINE: &str = "/machine";
/// Of the virtual machine, MiB; it takes from ours only what is used.
pub const MEMORY_MIB: u64 = 1024;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// What the C library of the first program reads; without it, it goes another way and takes another time.
const MAPS: &str = "/proc/self/maps";
const CACHE_OF_LIBRARIES: &str = "/etc/ld.so.cache";

/// All paths are the machine's, or the enclosure's.
pub struct Site {
    pub kernel: PathBuf,
    /// The folder that both sides share.
    pub shared: PathBuf,
    /// Where the kernel's memory is a file.
    pub memory: PathBuf,
    /// What the kernel sees as its root; none: all that we see.
    pub root: Option<PathBuf>,
}

impl Site {
    pub fn enclosed() -> Self {
        Self { kernel: KERNEL.into(), shared: SHARED.into(), memory: "/tmp".into(), root: None }
    }
}

/// The folder of a kernel without an enclosure; it goes with this.
pub struct BareMachine {
    root: PathBuf,
    kernel: PathBuf,
    memory: PathBuf,
}

impl BareMachine {
    pub fn make(kernel: &Path, roots: &Roots) -> Result<Self, Refusal> {
        let made = Self::folder().and_then(|root| {
            let bare = Self { root, kernel: kernel.into(), memory: memory_folder()? };
            bare.furnish(roots)?;
            Ok(bare)
        });
        made.map_err(|error| Refusal::machine(format!("cannot make room for the virtual kernel: {error}")))
    }

    pub fn site(&self) -> Site {
        Site {
            kernel: self.kernel.clone(),
            shared: self.inside(Path::new(SHARED)),
            memory: self.memory.clone(),
            root: Some(self.root.clone()),
        }
    }

    fn folder() -> std::io::Result<PathBuf> {
        let made = mkdtemp(&std::env::temp_dir().join("h123-virtual-XXXXXX"))?;
        made.canonicalize()
    }

    /// The folders that the kernel mounts others at, and the libraries that its first program is linked with: ours.
    fn furnish(&self, roots: &Roots) -> std::io::Result<()> {
        for place in [MACHINE, "/tmp", "/var/tmp", surroundings::FOLDER] {
            fs::create_dir_all(self.inside(Path::new(place)))?;
        }
        // In an enclosure it is there, and each file counts: covering it takes a random number.
        File::create(self.inside(Path::new(KERNEL)))?;
        // In an enclosure it finds one that is not its own either.
        fs::create_dir_all(self.inside(Path::new("/proc/self")))?;
        fs::copy(MAPS, self.inside(Path::new(MAPS)))?;
        for (name, _) in roots.iter() {
            fs::create_dir_all(self.inside(&Roots::place(name)))?;
        }
        for library in libraries() {
            let place = self.inside(&library);
            fs::create_dir_all(place.parent().expect("a library is in a folder"))?;
            fs::copy(&library, &place)?;
            // As one that was read since it was changed: to note that, the kernel would take time.
            let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH).set_accessed(SystemTime::now() + DAY);
            File::options().write(true).open(&place)?.set_times(times)?;
        }
        Ok(())
    }

    fn inside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").expect("it is absolute"))
    }
}

impl Drop for BareMachine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A folder with room for all memory, from which it can be mapped as code; one in memory is wanted most.
fn memory_folder() -> std::io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places =
        ["/dev/shm".into()].into_iter().chain(runtime).chain([std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()]);
    let fits = |place: &PathBuf| {
        let writable = nix::unistd::access(place, nix::unistd::AccessFlags::W_OK).is_ok();
        statvfs(place).is_ok_and(|facts| {
            let free = facts.blocks_available() * facts.fragment_size();
            writable && !facts.flags().contains(FsFlags::ST_NOEXEC) && free >> 20 > MEMORY_MIB
        })
    };
    places.into_iter().find(fits).ok_or_else(|| {
        std::io::Error::other(format!(
            "no temporary folder has {MEMORY_MIB} MiB free and is mounted without noexec: set TMPDIR to one that has"
        ))
    })
}

/// Those that this program is linked with, by the paths at which they were found, and what they were found by; none if it is
/// static.
pub fn libraries() -> Vec<PathBuf> {
    unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, found: *mut libc::c_void) -> libc::c_int {
        // SAFETY: both are valid during the call, and `found` is the list below.
        let (name, found) = unsafe {
            let name = (*info).dlpi_name;
            (if name.is_null() { c"" } else { CStr::from_ptr(name) }, &mut *found.cast::<Vec<PathBuf>>())
        };
        let path = PathBuf::from(name.to_string_lossy().into_owned());
        if path.is_absolute() {
            found.push(path);
        }
        0
    }
    let mut found = vec![];
    // SAFETY: the list outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    let cache = PathBuf::from(CACHE_OF_LIBRARIES);
    if !found.is_empty() && cache.exists() {
        found.push(cache);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_machine_has_what_this_program_is_linked_with_and_goes() {
        let bare = BareMachine::make(Path::new("/bin/true"), &Roots::none(Path::new("/"))).unwrap();
        let root = bare.root.clone();
        for library in libraries() {
            assert!(bare.inside(&library).is_file(), "{}", library.display());
        }
        assert!(bare.site().shared.starts_with(&root));
        drop(bare);
        assert!(!root.exists());
    }
}

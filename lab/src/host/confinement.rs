//! What a role may not do to the machine: change settings of its kernel, or use more of root's privileges than servers
//! need. Only system calls: for use between fork and exec.

use std::ffi::CStr;
use std::io;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};

/// What is left of root's privileges, by the kernel's numbers (linux/capability.h): to give up root for a worker, to
/// read keys, to listen at a low port, to send packets of any kind, to set up its own host, to ask for more open files.
const KEPT: [u32; 17] = [
    0,  // CHOWN
    1,  // DAC_OVERRIDE
    2,  // DAC_READ_SEARCH
    3,  // FOWNER
    4,  // FSETID
    5,  // KILL
    6,  // SETGID
    7,  // SETUID
    8,  // SETPCAP
    10, // NET_BIND_SERVICE
    12, // NET_ADMIN
    13, // NET_RAW
    14, // IPC_LOCK
    18, // SYS_CHROOT
    23, // SYS_NICE
    24, // SYS_RESOURCE
    31, // SETFCAP
];
/// To open sockets in another network namespace.
const SYS_ADMIN: u32 = 21;
const SETTINGS: [&CStr; 4] = [c"/proc/sys", c"/proc/sysrq-trigger", c"/proc/irq", c"/proc/bus"];

/// Of the calling process, in mounts of its own, and its children; one that reaches `outside` must be able to go there.
pub fn confine(outside: bool) -> io::Result<()> {
    SETTINGS.iter().try_for_each(|place| read_only(place))?;
    let kept = KEPT.iter().chain(outside.then_some(&SYS_ADMIN));
    let kept = kept.fold(0u64, |set, capability| set | 1 << capability);
    for capability in (0..64).filter(|capability| kept & (1 << capability) == 0) {
        // SAFETY: takes numbers alone.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } != 0 {
            match Errno::last() {
                Errno::EINVAL => break, // the kernel knows no more of them
                error => return Err(error.into()),
            }
        }
    }
    // Nothing that it starts gets more, whatever the files' bits say.
    nix::sys::prctl::set_no_new_privs()?;
    Ok(())
}

fn read_only(place: &CStr) -> nix::Result<()> {
    let nothing: Option<&CStr> = None;
    match mount(Some(place), place, nothing, MsFlags::MS_BIND, nothing) {
        Ok(()) => {}
        // This kernel has no such thing.
        Err(Errno::ENOENT) => return Ok(()),
        Err(error) => return Err(error),
    }
    let flags = MsFlags::MS_BIND
        | MsFlags::MS_REMOUNT
        | MsFlags::MS_RDONLY
        | MsFlags::MS_NOSUID
        | MsFlags::MS_NODEV
        | MsFlags::MS_NOEXEC;
    mount(nothing, place, nothing, flags, nothing)
}

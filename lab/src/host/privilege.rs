//! The privileges with which a lab makes namespaces: those of root, or of a user namespace of its own.

use std::fs;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Gid, Uid, fork};

use crate::files::refusal::Refusal;

/// CAP_NET_ADMIN and CAP_SYS_ADMIN, by the kernel's numbers.
const NEEDED: u64 = 1 << 12 | 1 << 21;
/// What `/proc/self/uid_map` says outside all user namespaces.
const EVERYBODY: [&str; 3] = ["0", "0", "4294967295"];

/// Whether this process may make namespaces and set up networks as it is.
pub fn privileged() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = field(&status, "CapEff:").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    effective.is_some_and(|set| set & NEEDED == NEEDED)
}

/// Whether there is a filter for system calls, which may forbid what the privileges would allow.
pub fn filtered() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    field(&status, "Seccomp:") == Some("2")
}

/// Whether this process is in a user namespace, where some of root's privileges are worth nothing.
pub fn in_user_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    // A kernel without user namespaces has no such file.
    !map.is_empty() && !map.split_whitespace().eq(EVERYBODY)
}

/// Sees to it that this process may make namespaces: it moves to a user namespace of its own unless it may already. Must
/// be called before the program starts any thread.
pub fn acquire() -> Result<(), Refusal> {
    if privileged() {
        return Ok(());
    }
    move_to_user_namespace().map_err(no_namespaces)
}

fn move_to_user_namespace() -> Result<(), Errno> {
    let (user, group) = (Uid::effective(), Gid::effective());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    for (file, text) in
        [("setgroups", "deny".into()), ("uid_map", format!("0 {user} 1")), ("gid_map", format!("0 {group} 1"))]
    {
        let written = fs::write(format!("/proc/self/{file}"), text);
        written.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EPERM)))?;
    }
    Ok(())
}

pub fn no_namespaces(error: Errno) -> Refusal {
    let Obstacle { detail, remedy } = Obstacle::find();
    Refusal::machine(format!("cannot create namespaces ({error}): {detail}; {remedy}"))
}

/// What keeps a process from namespaces, as far as the machine tells, and how to open them.
pub struct Obstacle {
    pub detail: String,
    pub remedy: String,
}

impl Obstacle {
    pub fn find() -> Self {
        let switches = [
            ("kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1".to_string()),
            ("user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=10000".to_string()),
            (
                "kernel/apparmor_restrict_unprivileged_userns",
                "1",
                "load the profile of `h123 doctor --apparmor`".to_string(),
            ),
        ];
        for (name, closed, remedy) in switches {
            let set = fs::read_to_string(format!("/proc/sys/{name}"));
            if set.is_ok_and(|value| value.trim() == closed) {
                let name = name.replace('/', ".");
                return Self { detail: format!("{name} is {closed} here"), remedy };
            }
        }
        if allowed() && masked() {
            return Self {
                detail: "parts of /proc are masked, as in containers".into(),
                remedy: "start podman with --security-opt 'unmask=/proc/*'".into(),
            };
        }
        if filtered() {
            return Self {
                detail: "a filter for system calls refuses namespaces".into(),
                remedy: "start the container with podman or --privileged".into(),
            };
        }
        Self {
            detail: "no CAP_SYS_ADMIN, and the kernel allows no user namespaces".into(),
            remedy: "use sudo; in a container, --privileged".into(),
        }
    }
}

/// Whether this process could make a user namespace, tried in a child.
fn allowed() -> bool {
    // SAFETY: the child makes one system call and ends.
    match unsafe { fork() } {
        Ok(ForkResult::Child) => unsafe { libc::_exit(unshare(CloneFlags::CLONE_NEWUSER).is_err().into()) },
        Ok(ForkResult::Parent { child }) => {
            matches!(waitpid(child, None), Ok(WaitStatus::Exited(_, 0)))
        }
        Err(_) => false,
    }
}

/// Whether something is mounted below /proc: then the kernel lets no user namespace mount a /proc of its own.
fn masked() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut places = mounts.lines().filter_map(|mount| mount.split(' ').nth(4));
    places.any(|place| place.starts_with("/proc/"))
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_status_are_found_by_their_names() {
        let status = "Name:\tx\nCapEff:\t0000000000201000\nSeccomp:\t0\n";
        assert_eq!(field(status, "CapEff:"), Some("0000000000201000"));
        assert_eq!(field(status, "Seccomp:"), Some("0"));
        assert_eq!(field(status, "Absent:"), None);
    }
}

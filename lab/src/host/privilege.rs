//! The privileges with which a lab makes namespaces: those of root, or of a user namespace of its own.

use std::fs;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid};

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
    for (file, text) in [
        ("setgroups", "deny".into()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        let written = fs::write(format!("/proc/self/{file}"), text);
        written.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EPERM)))?;
    }
    Ok(())
}

pub fn no_namespaces(error: Errno) -> Refusal {
    let Obstacle { detail, remedy } = Obstacle::find();
    Refusal::machine(format!(
        "cannot create namespaces ({error}): {detail}; {remedy}"
    ))
}

/// What keeps a process from namespaces, as far as the machine tells, and how to open them.
pub struct Obstacle {
    pub detail: String,
    pub remedy: String,
}

impl Obstacle {
    pub fn find() -> Self {
        let program = std::env::current_exe().unwrap_or_default();
        let switches = [
            (
                "kernel/unprivileged_userns_clone",
                "0",
                "sudo sysctl -w kernel.unprivileged_userns_clone=1".to_string(),
            ),
            (
                "user/max_user_namespaces",
                "0",
                "sudo sysctl -w user.max_user_namespaces=10000".to_string(),
            ),
            (
                "kernel/apparmor_restrict_unprivileged_userns",
                "1",
                format!(
                    "load the profile that `h123 doctor --apparmor` prints, which lets {} make them",
                    program.display()
                ),
            ),
        ];
        for (name, closed, remedy) in switches {
            let set = fs::read_to_string(format!("/proc/sys/{name}"));
            if set.is_ok_and(|value| value.trim() == closed) {
                let name = name.replace('/', ".");
                return Self {
                    detail: format!("{name} is {closed} here"),
                    remedy,
                };
            }
        }
        if filtered() {
            return Self {
                detail: "a filter for system calls, as containers have, refuses them".into(),
                remedy: "start the container with --privileged, or with podman, which allows them"
                    .into(),
            };
        }
        Self {
            detail: "this needs CAP_SYS_ADMIN, or a kernel that allows user namespaces".into(),
            remedy: "use sudo; in a container, run it with --privileged".into(),
        }
    }
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

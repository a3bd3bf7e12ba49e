//! The kernel's table of TCP connections, which all namespaces share unless they have one of their own. Whoever asks for
//! all connections of a host (inet_diag.rs, ready.rs) makes the kernel walk the whole table: on a machine with much memory
//! that takes milliseconds.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, unshare};

/// Of a host's own table: walked in about a microsecond, as a trial under the virtual clock does ten thousand times.
const ENTRIES: u64 = 256;
/// How many entries the tables of this namespace's children have, from Linux 6.1 on.
const OF_CHILDREN: &str = "tcp_child_ehash_entries";
/// What the kernel computes from a new namespace's table: limits that a host is to have whatever its table.
const DERIVED: [&str; 2] = ["tcp_max_syn_backlog", "tcp_max_tw_buckets"];

/// Puts the calling thread into a new network namespace, with a small table of its own where the one that it would share
/// is large and the kernel has such tables. They are asked for in the parent, so the parent is a namespace made for that:
/// no setting of one that others use is ever changed.
pub fn unshare_network() -> Result<()> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    if !is_large() || write(OF_CHILDREN, ENTRIES).is_err() {
        return Ok(());
    }
    let before = DERIVED.map(read);
    unshare(CloneFlags::CLONE_NEWNET)?;
    for (name, value) in DERIVED.into_iter().zip(before) {
        write(name, value?)?;
    }
    Ok(())
}

fn is_large() -> bool {
    read("tcp_ehash_entries").is_ok_and(|entries| entries.unsigned_abs() > ENTRIES)
}

/// Of a table that is shared the kernel gives the size as a negative number.
fn read(name: &str) -> Result<i64> {
    let path = path(name);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(text.trim().parse()?)
}

fn write(name: &str, value: impl ToString) -> Result<()> {
    let path = path(name);
    fs::write(&path, value.to_string()).with_context(|| path.display().to_string())
}

/// In the calling thread's namespace.
fn path(name: &str) -> PathBuf {
    Path::new("/proc/sys/net/ipv4").join(name)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::host::namespace::Host;

    /// Of the calling thread's namespace: the table's size, and what is derived from it.
    fn settings() -> (i64, [i64; 2]) {
        let entries = read("tcp_ehash_entries").unwrap();
        (entries, DERIVED.map(|name| read(name).unwrap()))
    }

    /// On a thread in a namespace of its own, which stands for a machine whose children have tables as the kernel makes
    /// them by itself. Needs root, like the lab.
    fn on_a_machine(work: impl FnOnce() + Send) {
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET).unwrap();
                work();
            });
            thread.join().unwrap();
        });
    }

    fn of_a_plain_namespace() -> (i64, [i64; 2]) {
        thread::scope(|scope| {
            let plain = || {
                unshare(CloneFlags::CLONE_NEWNET).unwrap();
                settings()
            };
            scope.spawn(plain).join().unwrap()
        })
    }

    fn small_tables_are_known() -> bool {
        let known = path(OF_CHILDREN).exists();
        if !known {
            eprintln!("skipped: this kernel has no {OF_CHILDREN}, hosts share the machine's table");
        }
        known
    }

    #[test]
    fn a_host_has_a_small_table_and_the_limits_of_a_large_one() {
        if !small_tables_are_known() {
            return;
        }
        on_a_machine(|| {
            let (shared, limits) = of_a_plain_namespace();
            let host = Host::create("table").unwrap();
            let (own, its_limits) = host.within(|| Ok(settings())).unwrap();
            assert_eq!(its_limits, limits);
            if shared.unsigned_abs() > ENTRIES {
                assert_eq!(own, ENTRIES as i64);
            } else {
                assert_eq!(own, shared, "a small table is shared as ever");
            }
        });
    }

    #[test]
    fn the_namespace_that_hosts_are_made_in_keeps_its_settings() {
        if !small_tables_are_known() {
            return;
        }
        on_a_machine(|| {
            write(OF_CHILDREN, 2 * ENTRIES).unwrap();
            let before = settings();
            let host = Host::create("table").unwrap();
            assert_eq!(read(OF_CHILDREN).unwrap(), 2 * ENTRIES as i64);
            assert_eq!(settings(), before);
            let (own, limits) = host.within(|| Ok(settings())).unwrap();
            assert_eq!((own, limits), (ENTRIES as i64, of_a_plain_namespace().1));
        });
    }
}

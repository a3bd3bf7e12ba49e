//! Where a virtual kernel lies in memory, which decides how much of it it has: the same at each boot. The machine is asked
//! not to choose at random (personality(2)). Where a filter for system calls refuses that, as containers have one, the
//! kernel is stopped before its first instruction and its heap is put where it would have been (PR_SET_MM in prctl(2)).
//! The machine may still put its stack and libraries where it likes: nothing in there depends on these.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use anyhow::{Context, Result, ensure};
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::clock::heap;

const PAGE: u64 = 4096;

/// A kernel that has been started.
pub struct StartedKernel {
    pub kernel: Child,
    /// Why its address in memory is random; none if it is the usual one.
    pub random: Option<String>,
}

/// Starts the kernel `program` that the command names.
pub fn start(mut command: Command, program: &Path) -> Result<StartedKernel> {
    let fixed = personality::get().and_then(|now| personality::set(now | Persona::ADDR_NO_RANDOMIZE));
    let random = match fixed {
        Ok(_) => None,
        Err(_) => match start_in_place(&mut command, program) {
            Ok(kernel) => {
                return Ok(StartedKernel { kernel, random: None });
            }
            Err(error) => Some(format!("{error:#}")),
        },
    };
    let kernel = command.spawn().context("starting it")?;
    Ok(StartedKernel { kernel, random })
}

fn start_in_place(command: &mut Command, program: &Path) -> Result<Child> {
    let end = end_of(&fs::read(program)?).context("it is not a program for this machine")?;
    // For this attempt alone: a process that is traced already cannot be traced by us.
    let traced = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let wanted = traced.clone();
    // SAFETY: a system call and nothing else.
    unsafe {
        command.pre_exec(move || {
            if wanted.load(std::sync::atomic::Ordering::Relaxed) {
                ptrace::traceme()?;
            }
            Ok(())
        });
    }
    let child = command.spawn();
    traced.store(false, std::sync::atomic::Ordering::Relaxed);
    let mut child = child.context("tracing it")?;
    let pid = Pid::from_raw(child.id() as i32);
    let placed = place(pid, end);
    if placed.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    placed.map(|()| child)
}

fn place(pid: Pid, end: u64) -> Result<()> {
    let state = waitpid(pid, None)?;
    let stopped = matches!(state, WaitStatus::Stopped(_, Signal::SIGTRAP));
    ensure!(stopped, "it did not start: {state:?}");
    heap::put(pid, end).context("putting its heap in its place")?;
    Ok(ptrace::detach(pid, None)?)
}

/// Where a program ends in memory: the next page after all that its header has loaded.
fn end_of(program: &[u8]) -> Option<u64> {
    let number = |at: usize, bytes: usize| {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(program.get(at..at + bytes)?);
        Some(u64::from_le_bytes(word))
    };
    if program.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let ends = (0..count).map(|index| {
        let at = usize::try_from(table.checked_add(index.checked_mul(size)?)?).ok()?;
        let loaded = number(at, 4)? == u64::from(libc::PT_LOAD);
        number(at + 16, 8)?.checked_add(number(at + 40, 8)?).filter(|_| loaded)
    });
    ends.flatten().max().map(|end| end.next_multiple_of(PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_ends_where_the_last_of_it_is_loaded() {
        let mut program = vec![0; 64 + 2 * 56];
        program[..5].copy_from_slice(b"\x7fELF\x02");
        program[32] = 64;
        (program[54], program[56]) = (56, 2);
        for (at, from, length) in [(64, 0x1000u64, 0x234u64), (120, 0x60_0000, 0x1001)] {
            program[at] = 1;
            program[at + 16..at + 24].copy_from_slice(&from.to_le_bytes());
            program[at + 40..at + 48].copy_from_slice(&length.to_le_bytes());
        }
        assert_eq!(end_of(&program), Some(0x60_2000));
        assert_eq!(end_of(b"#!/bin/sh\n"), None);
        assert_eq!(end_of(&program[..100]), None);
    }
}

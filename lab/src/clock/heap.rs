//! Puts the heap of a stopped process where it is wanted: the process itself has to ask the kernel for that, so it is made
//! to execute one system call.

use anyhow::Result;
use nix::unistd::Pid;

#[cfg(target_arch = "x86_64")]
pub fn put(pid: Pid, heap: u64) -> Result<()> {
    use std::fs;

    use anyhow::{Context, ensure};
    use nix::sys::ptrace;
    use nix::sys::wait::waitpid;

    /// `PR_SET_MM_MAP` of linux/prctl.h.
    const MAP: u64 = 14;
    /// Below the stack pointer, where the process has nothing yet.
    const BELOW: u64 = 1024;
    const SYSCALL: libc::c_long = 0x050f;

    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields: Vec<u64> = fields.split_whitespace().map(|text| text.parse().unwrap_or(0)).collect();
    // Numbered as in proc(5).
    let field = |number: usize| fields.get(number - 3).copied().context("a field of its stat");
    // `struct prctl_mm_map`: code, data, heap, stack, arguments, environment; neither an auxiliary vector nor a program.
    let map = [
        field(26)?,
        field(27)?,
        field(45)?,
        field(46)?,
        heap,
        heap,
        field(28)?,
        field(48)?,
        field(49)?,
        field(50)?,
        field(51)?,
        0,
        u64::from(u32::MAX) << 32,
    ];
    let registers = ptrace::getregs(pid)?;
    let place = (registers.rsp - BELOW) & !15;
    for (number, word) in map.iter().enumerate() {
        ptrace::write(pid, (place + 8 * number as u64) as ptrace::AddressType, *word as libc::c_long)?;
    }
    let instruction = registers.rip as ptrace::AddressType;
    let before = ptrace::read(pid, instruction)?;
    ptrace::write(pid, instruction, before & !0xffff | SYSCALL)?;
    ptrace::setregs(
        pid,
        libc::user_regs_struct {
            rax: libc::SYS_prctl as u64,
            orig_rax: u64::MAX,
            rdi: libc::PR_SET_MM as u64,
            rsi: MAP,
            rdx: place,
            r10: size_of_val(&map) as u64,
            r8: 0,
            ..registers
        },
    )?;
    ptrace::step(pid, None)?;
    waitpid(pid, None)?;
    let answer = ptrace::getregs(pid)?.rax as i64;
    ptrace::write(pid, instruction, before)?;
    ptrace::setregs(pid, registers)?;
    ensure!(answer == 0, "prctl(PR_SET_MM): {}", nix::errno::Errno::from_raw(-answer as i32));
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
pub fn put(_: Pid, _: u64) -> Result<()> {
    anyhow::bail!("there is no virtual kernel for this processor")
}

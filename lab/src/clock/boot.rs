//! The virtual clock, seen from outside: boots a user-mode kernel in which the trial runs, and watches its time pass.
//!
//! The kernel runs in an enclosure of its own, so that it ends with us and leaves nothing behind. It sees this machine's
//! files at their own paths (hostfs); its first process is this program again (`guest`), which tells us through a pipe
//! what the time is, and in a file what came of the trial.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CpuSet;
use nix::sys::prctl::{set_no_new_privs, set_pdeathsig};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{dup2_raw, pipe, setsid};

use crate::clock::guest::{COMPLAINTS, Errand, read_outcome};
use crate::clock::heartbeat::Heartbeat;
use crate::clock::layout::{self, StartedKernel};
use crate::clock::shared_processor::SharedProcessor;
use crate::clock::site::{MEMORY_MIB, SHARED, Site, TRIAL};
use crate::clock::watchdog::Watchdog;
use crate::files::atomic_file::write_atomically;
use crate::files::message::Message;
use crate::files::surroundings;
use crate::files::trial::Trial;
use crate::host::account::cpu_of_session;
use crate::host::confinement;
use crate::roles::report::{Report, add_warning};

/// Between two looks at the processor time.
const LOOK_MS: u64 = 200;
/// The kernel's own messages, in the shared folder.
const CONSOLE: &str = "console";
/// This program, in that folder.
const INIT: &str = "init";
/// Where the kernel finds the pipe for our heartbeats.
const HEARTBEATS_FD: i32 = 3;

/// How it ended.
enum KernelEnd {
    /// The trial's `run` ended with this status.
    Ran(u8),
    /// A trial that came to no end of its own, and why.
    Failed(Message),
}

/// Boots the kernel of this `site`, has it run the trial with this `file`, and returns the exit status of that `run`. A
/// kernel that fails is a failed trial: it has a report.
pub fn boot(file: &str, trial: &Trial, errand: &Errand, site: &Site) -> u8 {
    let started = start(file, trial, errand, site);
    let random = started.as_ref().ok().and_then(|kernel| kernel.random.clone());
    let end = started.and_then(|kernel| kernel.watch());
    let end = end
        .unwrap_or_else(|error| KernelEnd::Failed(Message::new("setup-failed", format!("virtual kernel: {error:#}"))));
    match end {
        KernelEnd::Ran(status) => {
            let complaints = fs::read_to_string(site.shared.join(COMPLAINTS));
            eprint!("{}", complaints.unwrap_or_default());
            random.map_or(status, |why| warn_of_chance(status, &why, errand))
        }
        KernelEnd::Failed(reason) => {
            let mut report = Report::new(&trial.id, trial.clock);
            report.reasons.push(reason);
            match write_atomically(&report, &errand.dir.join("report.json")) {
                Ok(()) => 0,
                Err(error) => {
                    eprintln!("h123-lab: {error:#}");
                    3
                }
            }
        }
    }
}

/// The trial may not repeat to the byte.
fn warn_of_chance(status: u8, why: &str, errand: &Errand) -> u8 {
    let detail = format!("the virtual kernel has a random address in memory ({why}): the trial may not repeat");
    let warning = Message::new("kernel-at-random", detail);
    if status == 0
        && let Err(error) = add_warning(&errand.dir.join("report.json"), &warning)
    {
        eprintln!("h123-lab: {error:#}");
        return 3;
    }
    status
}

struct VirtualKernel<'a> {
    shared: &'a Path,
    kernel: Child,
    /// Why its place in memory is left to chance, if it is.
    random: Option<String>,
    processor: SharedProcessor,
    heartbeats: File,
    signals: SignalFd,
}

fn start<'a>(file: &str, trial: &Trial, errand: &Errand, site: &'a Site) -> Result<VirtualKernel<'a>> {
    let shared = site.shared.as_path();
    fs::create_dir(shared).context("creating the shared folder")?;
    // A copy, so that no path with spaces or quotes has to be put on the kernel's command line.
    fs::copy("/proc/self/exe", shared.join(INIT)).context("copying this program")?;
    fs::write(shared.join(TRIAL), file).context("writing the trial")?;
    errand.write(shared)?;
    let (heartbeats, writer) = pipe().context("creating a pipe")?;
    let console = File::create(shared.join(CONSOLE))?;
    let mut command = Command::new(&site.kernel);
    command
        .args(kernel_arguments(trial, site))
        // The kernel's memory is a file in TMPDIR; what else it finds would only shift its addresses.
        .env_clear()
        .env("TMPDIR", &site.memory)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(console.try_clone()?)
        .stderr(console);
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    mask.add(Signal::SIGTERM);
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let signals = SignalFd::with_flags(&mask, flags).context("creating a signalfd")?;
    let processor = SharedProcessor::choose();
    let enclosed = site.root.is_none();
    prepare(&mut command, &writer, processor.set(), enclosed);
    let StartedKernel { kernel, random } = layout::start(command, &site.kernel)?;
    Ok(VirtualKernel { shared, kernel, random, processor, heartbeats: heartbeats.into(), signals })
}

/// What becomes part of its command line is the same at every site, because its random numbers begin with it.
fn kernel_arguments(trial: &Trial, site: &Site) -> Vec<String> {
    let fixed = [
        "root=/dev/root rootfstype=hostfs rootflags=/ rw",
        "console=tty0 con=null con0=null,fd:1 quiet",
        "time-travel=inf-cpu seccomp=on panic=-1 umid=h123",
    ];
    let mut arguments: Vec<String> = fixed.iter().flat_map(|group| group.split(' ')).map(String::from).collect();
    arguments.push(format!("mem={MEMORY_MIB}M"));
    arguments.push(format!("con1=null,fd:{HEARTBEATS_FD}"));
    arguments.push(format!("uml_dir={}/", site.shared.display()));
    if let Some(root) = &site.root {
        arguments.push(format!("hostfs={}", root.display()));
    }
    arguments.push(format!("init={SHARED}/{INIT}"));
    if let Some(start) = trial.start_unix_ns {
        arguments.push(format!("time-travel-start={start}"));
    }
    arguments.extend(["--", "guest"].map(String::from));
    arguments
}

/// The kernel has a session of its own: when it fails, it signals its whole group.
fn prepare(command: &mut Command, writer: &OwnedFd, processor: CpuSet, enclosed: bool) {
    let writer = writer.as_raw_fd();
    // SAFETY: only system calls; the descriptor stays open during the call to spawn.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            umask(Mode::from_bits_truncate(surroundings::UMASK));
            SharedProcessor::take(&processor)?;
            if enclosed {
                confinement::confine(false)?;
            } else {
                // Nothing else ends it when we are killed.
                set_pdeathsig(Signal::SIGKILL)?;
                set_no_new_privs()?;
            }
            deny_random()?;
            std::mem::forget(dup2_raw(std::os::fd::BorrowedFd::borrow_raw(writer), HEARTBEATS_FD)?);
            SigSet::all().thread_unblock()?;
            Ok(())
        });
    }
}

/// From here on `getrandom` fails: what the virtual kernel does not get from outside cannot differ from boot to boot.
/// Programs inside are not affected: their calls never come out.
fn deny_random() -> std::io::Result<()> {
    let rule = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    // The number of the call is the first word of what the filter sees.
    let mut filter = [
        rule(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        rule(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_getrandom as u32),
        rule(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        rule(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program outlives the call.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) };
    if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

impl VirtualKernel<'_> {
    /// Until the trial has run, the kernel has ended, or time has stood still for too long.
    fn watch(mut self) -> Result<KernelEnd> {
        let session = self.kernel.id() as i32;
        let mut watchdog = Watchdog::new();
        let mut unread = String::new();
        let mut look = Instant::now();
        loop {
            let mut events = [
                PollFd::new(self.heartbeats.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            poll(&mut events, PollTimeout::from(LOOK_MS as u16))?;
            let [readable, signalled] = events.map(|e| e.any().unwrap_or(false));
            if readable && let Some(heartbeat) = self.read_heartbeats(&mut unread)? {
                watchdog.hear(heartbeat);
            }
            if signalled && self.interrupted()? {
                return Ok(KernelEnd::Failed(Message::new("interrupted", "a signal ended the trial")));
            }
            if let Some(status) = self.kernel.try_wait()? {
                return Ok(ended(self.shared, status, watchdog.now_ns()));
            }
            let since = look.elapsed();
            if since < Duration::from_millis(LOOK_MS) {
                continue;
            }
            look = Instant::now();
            let used_ns = match watchdog.look(cpu_of_session(session), Instant::now()) {
                Ok(used_ns) => used_ns,
                Err(reason) => return Ok(KernelEnd::Failed(reason)),
            };
            let share = used_ns as f64 / since.as_nanos() as f64;
            self.processor.reconsider(session, share);
        }
    }

    /// The last heartbeat that was told, if any.
    fn read_heartbeats(&mut self, unread: &mut String) -> Result<Option<Heartbeat>> {
        let mut buffer = [0; 4096];
        let length = self.heartbeats.read(&mut buffer)?;
        unread.push_str(&String::from_utf8_lossy(&buffer[..length]));
        let whole = unread.rfind('\n').map_or(0, |end| end + 1);
        let mut heartbeats = unread[..whole].lines().rev();
        let last = heartbeats.find_map(Heartbeat::read);
        unread.drain(..whole);
        Ok(last)
    }

    fn interrupted(&mut self) -> Result<bool> {
        let mut interrupted = false;
        while let Some(signal) = self.signals.read_signal()? {
            interrupted |= signal.ssi_signo == Signal::SIGTERM as u32;
        }
        Ok(interrupted)
    }
}

/// What the kernel has left behind; `now_ns` is the last time it told.
fn ended(shared: &Path, status: std::process::ExitStatus, now_ns: u64) -> KernelEnd {
    let detail = match read_outcome(shared) {
        Ok(Ok(status)) => return KernelEnd::Ran(status),
        Ok(Err(detail)) => detail,
        Err(error) => format!(
            "the virtual kernel ended on its own ({status}), last active at {:.3} s, without an outcome ({error}): {}",
            now_ns as f64 / 1e9,
            [CONSOLE, COMPLAINTS].map(|file| last_words(&shared.join(file))).concat().join(" | ")
        ),
    };
    KernelEnd::Failed(Message::new("setup-failed", detail))
}

/// The last five lines of a file.
fn last_words(file: &Path) -> Vec<String> {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let skipped = lines.clone().count().saturating_sub(5);
    lines.skip(skipped).map(String::from).collect()
}

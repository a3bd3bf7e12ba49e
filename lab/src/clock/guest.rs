//! The virtual clock, seen from inside: the first process of a user-mode kernel, which runs the trial and powers off.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};

use crate::clock::heartbeat::Heartbeat;
use crate::clock::machine;
use crate::clock::site::{SHARED, TRIAL};
use crate::files::atomic_file::write_atomically;
use crate::files::refusal::Refusal;
use crate::files::roots::Roots;
use crate::host::monotonic::{now_ns, sleep_until};

/// What `run` says on standard error, in the shared folder.
pub const COMPLAINTS: &str = "complaints";
const ERRAND: &str = "errand.json";
/// Not a heartbeat: those that the one outside has not read yet when the kernel ends could hide it.
const OUTCOME: &str = "outcome.json";
/// The console that is a pipe to the one outside.
const HEARTBEATS: &str = "/dev/tty1";
/// Virtual time between two heartbeats: short beside what a watchdog waits for, even where a fast link fills it with
/// work; long beside a packet.
const BEAT_NS: u64 = 100_000_000;
const RECEIVED: &str = "/proc/net/softnet_stat";
/// As `h123-lab doctor` wants them; all else is as the kernel has it, on every machine the same.
const SYSCTLS: [(&str, &str); 2] = [("net/core/rmem_max", "7500000"), ("net/core/wmem_max", "7500000")];
const OPEN_FILES: (u64, u64) = (1024, 1_048_576);
/// A new kernel's timers expire only at its ticks, which are 10 ms apart, until a tick makes them precise.
const PRECISE_NS: u64 = 1_000_000;
const MOST_TICKS: usize = 100;

/// What is to be done in there.
#[derive(Serialize, Deserialize)]
pub struct Errand {
    /// For report and logs: absolute.
    pub dir: PathBuf,
    /// What the random numbers in there are made from.
    pub luck: String,
    /// Of the lab inside: all variables where a role inherits them.
    pub environment: BTreeMap<String, String>,
    /// What the kernel has to find by itself; none where an enclosure has arranged all files.
    pub roots: Option<Roots>,
}

/// What came of it: the exit status of `run`, or why there was none.
pub type Outcome = Result<u8, String>;

impl Errand {
    /// Into the folder that is `SHARED` inside.
    pub fn write(&self, shared: &Path) -> Result<()> {
        let file = shared.join(ERRAND);
        fs::write(&file, serde_json::to_vec(self)?).context("writing the errand")
    }

    fn read() -> Result<Self> {
        let file = Path::new(SHARED).join(ERRAND);
        Ok(serde_json::from_slice(&fs::read(file)?)?)
    }
}

/// From the folder that is `SHARED` inside. Fails if the kernel ended without one.
pub fn read_outcome(shared: &Path) -> Result<Outcome> {
    let file = shared.join(OUTCOME);
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// `guest`: everything that the first process of the virtual kernel does. Comes back only elsewhere.
pub fn guest() -> Result<u8, Refusal> {
    if std::process::id() != 1 {
        return Err(Refusal::input("`guest` is what a virtual kernel starts: use `h123-lab run --kernel`"));
    }
    let outcome = arrange().and_then(|errand| {
        await_precise_timers()?;
        run(&errand)
    });
    let outcome: Outcome = outcome.map_err(|error| format!("virtual kernel: {error:#}"));
    // All files are written back before there is an outcome.
    nix::unistd::sync();
    if let Err(error) = write_atomically(&outcome, &Path::new(SHARED).join(OUTCOME)) {
        eprintln!("h123-lab: {error:#}; it is {outcome:?}");
    }
    let _ = reboot(RebootMode::RB_POWER_OFF);
    unreachable!("the kernel is off");
}

/// Tells the one outside how far it has come here, a line each beat, for as long as it listens.
fn beat() -> std::io::Result<()> {
    let mut outside = OpenOptions::new().write(true).open(HEARTBEATS)?;
    let received = File::open(RECEIVED)?;
    let mut at_ns = now_ns();
    loop {
        let heartbeat = Heartbeat { now_ns: at_ns, packets: packets(&received)? };
        outside.write_all(format!("{heartbeat}\n").as_bytes())?;
        at_ns += BEAT_NS;
        sleep_until(at_ns);
    }
}

/// What the kernel has received, in all its namespaces: the first word of each processor's line, hexadecimal.
fn packets(received: &File) -> std::io::Result<u64> {
    let mut buffer = [0; 2048];
    let length = received.read_at(&mut buffer, 0)?;
    let buffer = String::from_utf8_lossy(&buffer[..length]);
    let counts = buffer.lines().filter_map(|line| u64::from_str_radix(line.split_whitespace().next()?, 16).ok());
    Ok(counts.sum())
}

fn arrange() -> Result<Errand> {
    // When a file was last read differs from day to day, and to note it takes time.
    let root = MsFlags::MS_REMOUNT | MsFlags::MS_NOATIME;
    mount(None::<&str>, "/", None::<&str>, root, None::<&str>).context("remounting /")?;
    let mut errand = Errand::read().context("reading the errand")?;
    if let Some(roots) = &errand.roots {
        errand.dir = machine::enter(errand.dir, roots)?;
    }
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount_new("proc", "/proc", safe, "")?;
    mount_new("sysfs", "/sys", safe, "")?;
    mount_new("devtmpfs", "/dev", MsFlags::MS_NOSUID, "")?;
    for (folder, kind, options) in [("/dev/pts", "devpts", ""), ("/dev/shm", "tmpfs", "mode=1777")] {
        fs::create_dir_all(folder)?;
        mount_new(kind, folder, safe, options)?;
    }
    for (name, value) in SYSCTLS {
        fs::write(Path::new("/proc/sys").join(name), value).with_context(|| format!("setting {name}"))?;
    }
    seed(&errand.luck).context("seeding the random numbers")?;
    setrlimit(Resource::RLIMIT_NOFILE, OPEN_FILES.0, OPEN_FILES.1)?;
    setrlimit(Resource::RLIMIT_MEMLOCK, libc::RLIM_INFINITY, libc::RLIM_INFINITY)?;
    Ok(errand)
}

/// Credits the kernel's random number generator, which has nothing from outside (`boot`), with all that it needs.
fn seed(luck: &str) -> Result<()> {
    /// `struct rand_pool_info` of linux/random.h.
    #[repr(C)]
    struct Pool {
        entropy_bits: i32,
        bytes: i32,
        buffer: [u8; 256],
    }
    nix::ioctl_write_ptr_bad!(add_entropy, nix::request_code_write!(b'R', 3, 2 * size_of::<i32>()), Pool);
    let length = luck.len().min(256);
    let mut pool = Pool { entropy_bits: 256, bytes: length as i32, buffer: [0; 256] };
    pool.buffer[..length].copy_from_slice(&luck.as_bytes()[..length]);
    let generator = File::open("/dev/random")?;
    // SAFETY: the request reads two integers and as many bytes as the second says.
    unsafe { add_entropy(generator.as_raw_fd(), &pool) }?;
    Ok(())
}

/// Waits until timers are precise. Before that, a link would deliver its first packets up to 10 ms late.
fn await_precise_timers() -> Result<()> {
    sleep_until(now_ns() + 1); // until a tick, if timers are not precise
    for _ in 0..MOST_TICKS {
        let begin_ns = now_ns();
        sleep_until(begin_ns + 1);
        if now_ns() - begin_ns < PRECISE_NS {
            return Ok(());
        }
    }
    bail!("its timers are still not precise after {MOST_TICKS} ticks")
}

/// Mounts unless the kernel has done so itself.
fn mount_new(kind: &str, folder: &str, flags: MsFlags, options: &str) -> Result<()> {
    match mount(Some(kind), folder, Some(kind), flags, Some(options)) {
        Ok(()) | Err(Errno::EBUSY) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("mounting {folder}")),
    }
}

fn run(errand: &Errand) -> Result<u8> {
    std::thread::spawn(beat);
    let complaints = File::create(Path::new(SHARED).join(COMPLAINTS))?;
    let status = Command::new("/proc/self/exe")
        .arg("run")
        .arg(Path::new(SHARED).join(TRIAL))
        .arg("--out")
        .arg(&errand.dir)
        .env_clear()
        .envs(&errand.environment)
        .current_dir(&errand.dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complaints)
        .status()
        .context("starting the trial")?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(code as u8)
}

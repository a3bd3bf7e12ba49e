//! `exec`: any two commands across one link.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::commands::cli::{Exec, Family};
use crate::files::atomic_file::write_atomically;
use crate::files::refusal::Refusal;
use crate::files::temporary;
use crate::files::trial::{Profile, Trial};
use crate::files::trial::{Role, RoleKind};
use crate::files::visible::visible;
use crate::host::enclosure;
use crate::link::tun;
use crate::roles::ending::Exit;
use crate::roles::lifecycle::Setting;
use crate::roles::report::{LinkReport, Report};
use crate::roles::trial_run::run_trial;

/// Exit status if the client never ran.
const NOT_RUN: u8 = 1;

pub fn exec(arguments: &Exec) -> Result<u8, Refusal> {
    let file = &arguments.link;
    let text =
        std::fs::read_to_string(file).map_err(|e| Refusal::input(format!("cannot read {}: {e}", file.display())))?;
    let profile: Profile =
        serde_json::from_str(&text).map_err(|e| Refusal::input(format!("{} is not a link: {e}", file.display())))?;
    let roles =
        vec![role("server", RoleKind::Service, &arguments.server), role("client", RoleKind::Main, &arguments.client)];
    let mut trial =
        Trial::of_two(profile, arguments.seed, arguments.congestion.clone(), arguments.address == Family::Ipv6, roles)?;
    let ends = trial.links[0].b.addresses();
    let server = ends.last().expect("every end has one").to_string();
    for role in &mut trial.roles {
        role.env = BTreeMap::from([("H123_SERVER".into(), server.clone())]);
    }
    let report_file = arguments.json.as_deref().map(ReportFile::open).transpose()?;
    tun::require(&trial)?;
    enclosure::run(arguments.die_with_parent, || {
        if let Err(error) = temporary::cover_temporary() {
            eprintln!("h123-lab: {error:#}");
            return NOT_RUN;
        }
        let report = run_trial(&trial, &Setting::Terminal, None);
        finish(&report, report_file.as_ref())
    })
}

/// The place for the report, open: what is written to the enclosure's own /tmp goes with it.
struct ReportFile<'a> {
    file: &'a Path,
    destination: Destination,
}

enum Destination {
    /// Of a file that is to be written whole.
    Folder(File),
    /// A device or a pipe, which must stay what it is: the report is written into it.
    Stream(File),
}

impl<'a> ReportFile<'a> {
    fn open(file: &'a Path) -> Result<Self, Refusal> {
        let refuse = |why: &dyn std::fmt::Display| Refusal::input(format!("cannot write {}: {why}", file.display()));
        if let Ok(found) = std::fs::metadata(file) {
            let kind = found.file_type();
            if kind.is_char_device() || kind.is_fifo() {
                // A pipe that nobody reads would make us wait.
                let stream = OpenOptions::new()
                    .write(true)
                    .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
                    .open(file)
                    .map_err(|e| refuse(&e))?;
                return Ok(Self { file, destination: Destination::Stream(stream) });
            }
            if !kind.is_file() {
                return Err(refuse(&"it is not a file"));
            }
        }
        if file.is_symlink() {
            return Err(refuse(&"it is a link; name the file itself"));
        }
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        file.file_name().ok_or_else(|| refuse(&"it names no file"))?;
        let folder = File::open(folder).map_err(|e| refuse(&e))?;
        Ok(Self { file, destination: Destination::Folder(folder) })
    }

    fn write(&self, link: &LinkReport) -> anyhow::Result<()> {
        match &self.destination {
            Destination::Folder(folder) => {
                let folder = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
                let name = self.file.file_name().context("it names no file")?;
                write_atomically(link, &folder.join(name))
            }
            Destination::Stream(stream) => {
                let mut json = serde_json::to_vec_pretty(link)?;
                json.push(b'\n');
                write_all(stream, &json)
            }
        }
    }
}

/// Blocks again: only the opening must not wait.
fn write_all(mut stream: &File, bytes: &[u8]) -> anyhow::Result<()> {
    fcntl(stream, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(stream.write_all(bytes)?)
}

fn role(name: &str, kind: RoleKind, command: &str) -> Role {
    Role {
        name: name.into(),
        host: name.into(),
        kind,
        command: ["sh", "-c", command].map(String::from).to_vec(),
        env: BTreeMap::new(),
        ready: None,
        stop_timeout_ns: None,
        timeout_ns: None,
        outside: false,
        resolver: false,
        processors: vec![],
        inherits: true,
        writes: vec![],
    }
}

/// Says what a person should know and returns the client's exit status.
fn finish(report: &Report, report_file: Option<&ReportFile>) -> u8 {
    // The client's own failure speaks for itself.
    let reasons = report.reasons.iter().filter(|r| r.code != "client-failed");
    for message in reasons.chain(&report.warnings) {
        eprintln!("h123-lab: {}: {}", message.code, visible(&message.detail));
    }
    if let (Some(report_file), Some(link)) = (report_file, report.links.first())
        && let Err(error) = report_file.write(link)
    {
        let (file, cause) = (visible(&report_file.file.display()), error.root_cause());
        eprintln!("h123-lab: cannot write {file}: {cause}");
        return 3;
    }
    let client = report.roles.iter().find(|role| role.name == "client").and_then(|role| role.pid_exit);
    match client {
        Some(Exit { code: Some(code), .. }) => code as u8,
        Some(Exit { signal: Some(signal), .. }) => 128 + signal as u8,
        _ => NOT_RUN,
    }
}

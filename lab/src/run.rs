//! `run`: from the trial file to `report.json`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::boot::boot;
use crate::cli::Run;
use crate::conduct::conduct;
use crate::enclosure;
use crate::guest::{self, Errand};
use crate::outside::Outside;
use crate::refusal::Refusal;
use crate::roles::Setting;
use crate::roots::Roots;
use crate::trial::{Clock, Trial};
use crate::whole::write_atomically;

pub fn run(arguments: &Run) -> Result<u8, Refusal> {
    let dir = prepare(&arguments.out)?;
    let roots = Roots::new(&dir, &arguments.roots)?;
    let trial = Trial::read(&arguments.trial, &roots)?;
    match (trial.clock, &arguments.kernel) {
        (Clock::Virtual, Some(kernel)) => run_inside(kernel, &trial, arguments, &roots, dir),
        (Clock::Virtual, None) if guest::clock() == Clock::Wall => Err(Refusal::input(
            "the trial's clock is virtual: give the virtual kernel with --kernel",
        )),
        (Clock::Wall, Some(_)) => Err(Refusal::input(
            "--kernel is for trials whose clock is virtual",
        )),
        (_, None) => run_here(arguments, &trial, &roots, &dir),
    }
}

/// In a kernel of its own, where this same program runs the same file.
fn run_inside(
    kernel: &Path,
    trial: &Trial,
    arguments: &Run,
    roots: &Roots,
    dir: PathBuf,
) -> Result<u8, Refusal> {
    let absolute = |path: &Path| {
        path.canonicalize()
            .map_err(|e| Refusal::input(format!("cannot use {}: {e}", path.display())))
    };
    let kernel = absolute(kernel)?;
    let text = |variable: (OsString, OsString)| {
        Some((
            variable.0.into_string().ok()?,
            variable.1.into_string().ok()?,
        ))
    };
    let errand = Errand {
        trial: absolute(&arguments.trial)?,
        dir,
        luck: format!("{} {}", trial.seed, trial.id),
        environment: std::env::vars_os().filter_map(text).collect(),
    };
    enclosure::run(arguments.die_with_parent, || match roots.mount() {
        Ok(()) => boot(&kernel, trial, &errand),
        Err(error) => unfit(&error),
    })
}

fn run_here(arguments: &Run, trial: &Trial, roots: &Roots, dir: &Path) -> Result<u8, Refusal> {
    enclosure::require_tun()?;
    let outside = trial.reaches_outside().then(Outside::here).transpose();
    let outside = outside.map_err(|e| Refusal::machine(format!("{e:#}")))?;
    enclosure::run(arguments.die_with_parent, || {
        let ran = roots.mount().and_then(|()| {
            let setting = Setting::Folder(dir.to_path_buf());
            let report = conduct(trial, &setting, outside.as_ref());
            write_atomically(&report, &dir.join("report.json"))
        });
        ran.map_or_else(|error| unfit(&error), |()| 0)
    })
}

fn unfit(error: &anyhow::Error) -> u8 {
    eprintln!("h123-lab: {error:#}");
    3
}

/// Creates the folder, without a report of an earlier run that could be taken for this one's.
fn prepare(out: &Path) -> Result<PathBuf, Refusal> {
    let refuse = |e| {
        Refusal::input(format!(
            "cannot use {} as the output folder: {e}",
            out.display()
        ))
    };
    fs::create_dir_all(out.join("logs")).map_err(refuse)?;
    match fs::remove_file(out.join("report.json")) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(refuse(e)),
        _ => {}
    }
    out.canonicalize().map_err(refuse)
}

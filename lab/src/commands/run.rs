//! `run`: from the trial file to `report.json`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::clock::boot::{KERNEL, boot};
use crate::clock::guest::Errand;
use crate::commands::cli::Run;
use crate::files::atomic_file::write_atomically;
use crate::files::discarded::{Discarded, Layer};
use crate::files::overlay::{self, Kept};
use crate::files::refusal::Refusal;
use crate::files::roots::{self, Roots};
use crate::files::surroundings;
use crate::files::trial::{Clock, Trial};
use crate::host::enclosure;
use crate::host::monotonic::kernel_clock;
use crate::host::outside::Outside;
use crate::link::tun;
use crate::roles::lifecycle::Setting;
use crate::roles::report;
use crate::roles::trial_run::run_trial;

const REPORT: &str = "report.json";

pub fn run(arguments: &Run) -> Result<u8, Refusal> {
    let dir = prepare(&arguments.out)?;
    let roots = Roots::new(&dir, &arguments.roots)?;
    let trial = Trial::read(&arguments.trial, &roots)?;
    match (trial.clock, &arguments.kernel) {
        (Clock::Virtual, Some(kernel)) => run_inside(kernel, &trial, arguments, &roots, dir),
        (Clock::Virtual, None) if kernel_clock() == Clock::Wall => Err(Refusal::input(
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
    let unusable = |path: &Path, e| Refusal::input(format!("cannot use {}: {e}", path.display()));
    let kernel = kernel.canonicalize().map_err(|e| unusable(kernel, e))?;
    let file = &arguments.trial;
    let file = fs::read_to_string(file).map_err(|e| unusable(file, e))?;
    enclosure::run(arguments.die_with_parent, || {
        let ran = isolate(trial, roots, &dir, Some(&kernel)).and_then(|layers| {
            enclosure::bind(&kernel, Path::new(KERNEL))?;
            let errand = Errand {
                dir: arrange(trial, roots, dir.clone())?,
                luck: format!("{} {}", trial.seed, trial.id),
                environment: environment(trial),
            };
            let status = boot(&file, trial, &errand);
            let mut discarded = Discarded::default();
            discarded.in_layers(&layers);
            if status == 0
                && let Some(message) = discarded.message()
            {
                report::add_warning(&errand.dir.join(REPORT), &message)?;
            }
            Ok(status)
        });
        ran.unwrap_or_else(|error| unfit(&error))
    })
}

fn run_here(arguments: &Run, trial: &Trial, roots: &Roots, dir: &Path) -> Result<u8, Refusal> {
    tun::require()?;
    let outside = trial.reaches_outside().then(Outside::here).transpose();
    let outside = outside.map_err(|e| Refusal::machine(format!("{e:#}")))?;
    enclosure::run(arguments.die_with_parent, || {
        let ran = isolate(trial, roots, dir, None).and_then(|layers| {
            let folder = arrange(trial, roots, dir.to_path_buf())?;
            let setting = Setting::Folder(folder.clone());
            let mut report = run_trial(trial, &setting, outside.as_ref());
            let mut discarded = Discarded::default();
            discarded.in_layers(&layers);
            if trial.roles.iter().any(|role| role.inherits) {
                discarded.in_temporary_folders(&written(trial, dir));
            }
            report.warnings.extend(discarded.message());
            write_atomically(&report, &folder.join(REPORT))
        });
        ran.map_or_else(|error| unfit(&error), |()| 0)
    })
}

/// Has no role change the machine's files, but for the trial's folder and those that a role may write to. In a virtual
/// kernel that was done outside.
fn isolate(
    trial: &Trial,
    roots: &Roots,
    dir: &Path,
    kernel: Option<&Path>,
) -> anyhow::Result<Vec<Layer>> {
    let layers = if kernel_clock() == Clock::Virtual {
        vec![]
    } else {
        let kept = |written| move |path| Kept { path, written };
        let kept: Vec<_> = roots
            .folders()
            .chain(kernel)
            .map(kept(false))
            .chain(written(trial, dir).into_iter().map(kept(true)))
            .collect();
        overlay::enter(&kept)?
    };
    if trial.has_fixed_surroundings() && kernel_clock() == Clock::Wall {
        // The rest would only have to be hidden again.
        let needed: Vec<_> = roots.folders().chain([dir]).chain(kernel).collect();
        enclosure::cover_temporary_but(&needed)?;
    } else {
        enclosure::cover_temporary()?;
    }
    Ok(layers)
}

/// The folders of the machine in which what is written stays.
fn written<'a>(trial: &'a Trial, dir: &'a Path) -> Vec<&'a Path> {
    let folders = trial.roles.iter().flat_map(|role| &role.writes);
    folders.map(PathBuf::as_path).chain([dir]).collect()
}

/// What the roles are to find in the enclosure's own /tmp; returns where the trial's folder is there.
fn arrange(trial: &Trial, roots: &Roots, dir: PathBuf) -> anyhow::Result<PathBuf> {
    roots.mount()?;
    // In a virtual kernel all this was done outside.
    if !trial.has_fixed_surroundings() || kernel_clock() == Clock::Virtual {
        return Ok(dir);
    }
    let folder = Path::new(surroundings::FOLDER);
    enclosure::bind(&dir, folder)?;
    enclosure::cover_temporary_but(&[Path::new(roots::PLACE), folder, Path::new(KERNEL)])?;
    Ok(folder.to_path_buf())
}

/// The variables of the lab inside a virtual kernel.
fn environment(trial: &Trial) -> BTreeMap<String, String> {
    if trial.has_fixed_surroundings() {
        let programs = trial.roles.iter().filter_map(|role| role.command.first());
        let path = surroundings::path(programs.map(String::as_str));
        return BTreeMap::from([("PATH".into(), path)]);
    }
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
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
    match fs::remove_file(out.join(REPORT)) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(refuse(e)),
        _ => {}
    }
    out.canonicalize().map_err(refuse)
}

//! `run`: from the trial file to `report.json`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::clock::boot::boot;
use crate::clock::guest::Errand;
use crate::clock::site::{BareMachine, KERNEL, Site};
use crate::commands::cli::Run;
use crate::commands::ways::{self, Privileges};
use crate::files::arrangement::{arrange, isolate, written};
use crate::files::atomic_file::write_atomically;
use crate::files::discarded::Discarded;
use crate::files::overlay::{Entered, Owner};
use crate::files::refusal::Refusal;
use crate::files::roots::Roots;
use crate::files::surroundings;
use crate::files::temporary;
use crate::files::trial::{Clock, Trial};
use crate::host::enclosure;
use crate::host::monotonic::kernel_clock;
use crate::host::outside::Outside;
use crate::host::privilege;
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
        (Clock::Virtual, None) if kernel_clock() == Clock::Wall => {
            Err(Refusal::input("the trial's clock is virtual: give the virtual kernel with --kernel"))
        }
        (Clock::Wall, Some(_)) => Err(Refusal::input("--kernel is for trials whose clock is virtual")),
        (_, None) => run_here(arguments, &trial, &roots, &dir),
    }
}

/// In a kernel of its own, where this same program runs the same file.
fn run_inside(kernel: &Path, trial: &Trial, arguments: &Run, roots: &Roots, dir: PathBuf) -> Result<u8, Refusal> {
    let unusable = |path: &Path, e| Refusal::input(format!("cannot use {}: {e}", path.display()));
    let kernel = kernel.canonicalize().map_err(|e| unusable(kernel, e))?;
    let file = &arguments.trial;
    let file = fs::read_to_string(file).map_err(|e| unusable(file, e))?;
    let environment = environment(trial);
    let luck = format!("{} {}", trial.seed, trial.random.as_ref().unwrap_or(&trial.id));
    if ways::best() == Privileges::VirtualClock {
        let bare = BareMachine::make(&kernel, roots)?;
        return enclosure::run_without(arguments.die_with_parent, || {
            let roots = Some(roots.clone());
            let errand = Errand { dir: dir.clone(), luck, environment, roots };
            boot(&file, trial, &errand, &bare.site())
        });
    }
    enclosure::run(arguments.die_with_parent, || {
        let ran = isolate(trial, roots, &dir, Some(&kernel), owner()).and_then(|entered| {
            temporary::bind(&kernel, Path::new(KERNEL))?;
            let errand = Errand {
                dir: arrange(trial, roots, dir.clone(), Some(Path::new(KERNEL)))?,
                luck,
                environment,
                roots: None,
            };
            let status = boot(&file, trial, &errand, &Site::enclosed());
            let mut discarded = Discarded::default();
            discarded.in_layers(&entered.layers);
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
    tun::require(trial)?;
    let outside = trial.reaches_outside().then(Outside::here).transpose();
    let outside = outside.map_err(|e| Refusal::machine(format!("{e:#}")))?;
    enclosure::run(arguments.die_with_parent, || {
        // In a virtual kernel the files were seen to outside.
        let inside = kernel_clock() == Clock::Virtual;
        let found = if inside {
            temporary::cover_temporary().map(|()| Entered::default())
        } else {
            isolate(trial, roots, dir, None, owner())
        };
        let ran = found.and_then(|entered| {
            let folder = if inside { dir.to_path_buf() } else { arrange(trial, roots, dir.to_path_buf(), None)? };
            let setting = Setting::Folder(folder.clone());
            let mut report = run_trial(trial, &setting, outside.as_ref());
            let mut discarded = Discarded::default();
            discarded.in_layers(&entered.layers);
            if trial.roles.iter().any(|role| role.inherits) {
                discarded.in_temporary_folders(&written(trial, dir));
            }
            report.warnings.extend(discarded.message());
            if let Some(namespace) = &mut report.user_namespace {
                namespace.note_files(entered.refused);
            }
            write_atomically(&report, &folder.join(REPORT))
        });
        ran.map_or_else(|error| unfit(&error), |()| 0)
    })
}

fn owner() -> Owner {
    if privilege::in_user_namespace() { Owner::Namespace } else { Owner::Root }
}

/// The variables of the lab inside a virtual kernel.
fn environment(trial: &Trial) -> BTreeMap<String, String> {
    if trial.has_fixed_surroundings() {
        let programs = trial.roles.iter().filter_map(|role| role.command.first());
        let path = surroundings::path(programs.map(String::as_str));
        return BTreeMap::from([("PATH".into(), path)]);
    }
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

fn unfit(error: &anyhow::Error) -> u8 {
    eprintln!("h123-lab: {error:#}");
    3
}

/// Creates the folder, without a report of an earlier run that could be taken for this one's.
fn prepare(out: &Path) -> Result<PathBuf, Refusal> {
    let refuse = |e| Refusal::input(format!("cannot use {} as the output folder: {e}", out.display()));
    fs::create_dir_all(out.join("logs")).map_err(refuse)?;
    match fs::remove_file(out.join(REPORT)) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(refuse(e)),
        _ => {}
    }
    out.canonicalize().map_err(refuse)
}

//! `run`: from the trial file to `report.json`.

use std::fs;
use std::path::Path;

use crate::cli::Run;
use crate::conduct::{Setting, conduct};
use crate::enclosure::{self, Tmp};
use crate::refusal::Refusal;
use crate::report::write_atomically;
use crate::trial::Trial;

pub fn run(arguments: &Run) -> Result<u8, Refusal> {
    let dir = prepare(&arguments.out)?;
    let trial = Trial::read(&arguments.trial, &dir)?;
    enclosure::run(arguments.die_with_parent, Tmp::Private, || {
        let report = conduct(&trial, &Setting::Folder(dir.clone()));
        match write_atomically(&report, &dir.join("report.json")) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("h123-lab: {error:#}");
                3
            }
        }
    })
}

/// Creates the folder, without a report of an earlier run that could be taken for this one's.
fn prepare(out: &Path) -> Result<std::path::PathBuf, Refusal> {
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

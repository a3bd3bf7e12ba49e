//! `h123-lab`: executes one trial on hosts and links of its own making.

mod check;
mod clock;
mod commands;
mod files;
#[cfg(test)]
mod fuzz;
mod host;
mod link;
mod roles;

use std::process::ExitCode;

use clap::Parser;

use crate::clock::guest;
use crate::commands::cli::{Cli, Command};
use crate::commands::{bench, doctor, exec, gateway, noise, resolver, run, validate, ways};
use crate::files::visible::visible;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Exec(arguments) => exec::exec(&arguments),
        Command::Doctor { json } => Ok(doctor::doctor(json)),
        Command::Bench { json } => bench::bench(json),
        Command::Noise { ms } => Ok(noise::noise(ms)),
        Command::Validate => validate::validate(),
        Command::Ways => Ok(ways::ways()),
        Command::Guest => guest::guest(),
        Command::Gateway(arguments) => gateway::gateway(&arguments),
        Command::Resolver(arguments) => resolver::resolver(&arguments),
    };
    match result {
        Ok(status) => status.into(),
        Err(refusal) => {
            eprintln!("h123-lab: {}", visible(&refusal));
            refusal.status.into()
        }
    }
}

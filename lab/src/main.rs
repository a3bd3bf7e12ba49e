//! `h123-lab`: executes one trial on hosts and links of its own making.

mod account;
mod arrival;
mod bench;
mod boot;
mod capture;
mod check;
mod cli;
mod clock;
mod conduct;
mod confinement;
mod congestion;
mod connection_table;
mod course;
mod cross_traffic;
mod discarded;
mod doctor;
mod emulated;
mod enclosure;
mod exec;
mod frames;
#[cfg(test)]
mod fuzz;
mod gateway;
mod guest;
mod inet_diag;
mod inspection;
mod kin;
mod lateness;
mod link;
mod log;
mod mounts;
mod namespace;
mod nat;
mod netlink;
mod network;
mod noise;
mod outside;
mod overlay;
mod packet;
mod packets;
mod passage;
mod probe;
mod process;
mod ready;
mod realtime;
mod refusal;
mod remark;
mod report;
mod resolver;
mod role;
mod roles;
mod roots;
mod run;
mod seat;
mod sign;
mod stalls;
mod surroundings;
mod sysfs;
mod tcp_account;
mod tcp_settings;
mod train;
mod trial;
mod tun;
mod usage;
mod validate;
mod visible;
mod watch;
mod watchdog;
mod ways;
mod whole;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Exec(arguments) => exec::exec(&arguments),
        Command::Doctor { json } => Ok(doctor::doctor(json)),
        Command::Bench { json } => bench::bench(json),
        Command::Noise { ms } => Ok(noise::noise(ms)),
        Command::Validate => validate::validate(),
        Command::Guest => guest::guest(),
        Command::Gateway(arguments) => gateway::gateway(&arguments),
        Command::Resolver(arguments) => resolver::resolver(&arguments),
    };
    match result {
        Ok(status) => status.into(),
        Err(refusal) => {
            eprintln!("h123-lab: {}", visible::visible(&refusal));
            refusal.status.into()
        }
    }
}

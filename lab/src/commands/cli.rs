//! The command line.

use std::net::{SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::files::roots::Root;

/// Runs commands on hosts of their own, joined by emulated links: exactly one trial, nothing left behind.
///
/// Needs root or a user namespace, and /dev/net/tun (see `h123-lab doctor`); the virtual clock needs neither. Exit status: 0 the trial was executed and its report says
/// whether it is valid; 2 a bad file or bad arguments; 3 this machine cannot run a lab; 128 + n ended by signal n.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Execute the trial of a trial.json and write report.json
    Run(Run),
    /// Run a server and a client command across one link; what they add to /tmp goes with the lab
    #[command(after_help = EXEC_EXAMPLE)]
    Exec(Exec),
    /// Say what this machine can do for a lab, and how to help it
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure how exact the links of this machine are, idle and with busy processors
    Bench {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Watch the processors for a moment: what share of their time a trial could not have had, as JSON
    Noise {
        /// How long, ms
        #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(10..=60_000))]
        ms: u64,
    },
    /// Say of trial files, one a line of standard input, whether `run` would take them
    #[command(hide = true)]
    Validate,
    /// Say as JSON which ways of running trials this machine leaves this user
    #[command(hide = true)]
    Ways,
    /// What a virtual kernel starts first
    #[command(hide = true)]
    Guest,
    /// What stands at a link's end for a server that runs elsewhere (a role that is `outside`)
    #[command(hide = true)]
    Gateway(Gateway),
    /// The DNS of a host whose roles look a server's name up (`resolver` of a role)
    #[command(hide = true)]
    Resolver(Resolver),
}

#[derive(Args)]
pub struct Resolver {
    /// The one name that it knows
    #[arg(long)]
    pub name: String,
    /// Where the server of that name is
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub at: SocketAddrV4,
    /// What its HTTPS record says that it speaks, the most wanted first
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub alpn: Vec<String>,
}

#[derive(Args)]
pub struct Gateway {
    /// Where it listens in the lab
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub at: SocketAddrV4,
    /// Where the server is, in the network that the lab was started in
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub to: SocketAddr,
    /// Where to write what the way through it adds
    #[arg(long, value_name = "FILE")]
    pub facts: PathBuf,
}

#[derive(Args)]
pub struct Run {
    /// The trial file
    pub trial: PathBuf,
    /// Folder for report.json and logs/: also the roles' working directory
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// For a trial whose clock is virtual: the user-mode kernel, built with time travel, in which it runs
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// A folder that the trial's files, and its roles, know as /tmp/h123-roots/NAME (may be given several times)
    #[arg(long = "root", value_name = "NAME=DIR", value_parser = Root::parse)]
    pub roots: Vec<Root>,
    /// End everything when the calling process ends
    #[arg(long)]
    pub die_with_parent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    Ipv4,
    Ipv6,
}

#[derive(Args)]
pub struct Exec {
    /// The link: {"kind": "emulated", "up": {"delay_ns": 25000000, ...}, "down": {...}} or {"kind": "veth"}
    #[arg(long, value_name = "LINK.json")]
    pub link: PathBuf,
    /// Of all random decisions of the link
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// TCP congestion controller on both hosts [default: this machine's]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// What H123_SERVER is an address of; both hosts have IPv4 in any case
    #[arg(long, value_enum, default_value_t = Family::Ipv4)]
    pub address: Family,
    /// Write the link's own report here
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Shell command that serves; its output goes to standard error
    #[arg(long, value_name = "CMD")]
    pub server: String,
    /// Shell command that runs when the server has opened a port, or after a second; its exit status is ours
    #[arg(long, value_name = "CMD")]
    pub client: String,
    /// End everything when the calling process ends
    #[arg(long)]
    pub die_with_parent: bool,
}

const EXEC_EXAMPLE: &str = "\
Both commands find the server's address in H123_SERVER. Example:
  echo '{\"kind\": \"emulated\", \"up\": {\"delay_ns\": 25000000}, \"down\": {\"delay_ns\": 25000000}}' > link.json
  h123-lab exec --link link.json --server 'python3 -m http.server 8000' --client 'curl -s http://$H123_SERVER:8000/'";

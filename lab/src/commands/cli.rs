//! The command line.

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::files::roots::Root;

/// Runs one trial on hosts (network namespaces) that are joined by emulated links, and leaves nothing behind.
///
/// A trial needs /dev/net/tun, and either root or a user namespace (see `h123-lab doctor`). Under the virtual clock, it
/// needs none of these.
///
/// The exit status is 0 if the trial ran (its report says whether it is valid), 2 if a file or an argument is wrong, 3
/// if this machine cannot run a lab, and 128 + n if signal n ended the lab.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run the trial that a trial.json describes, and write report.json
    Run(Run),
    /// Run a server command and a client command across one link. Files that they write to /tmp are lost
    #[command(after_help = EXEC_EXAMPLE)]
    Exec(Exec),
    /// Check what this machine can do, and show how to enable the rest
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure how closely emulated links keep to their configuration, with this machine idle and busy
    Bench {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Watch the processors for a moment, and print as JSON how much of their time was not available to a trial
    Noise {
        /// How long to watch, in milliseconds
        #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(10..=60_000))]
        ms: u64,
    },
    /// Read trial files from standard input, one per line, and print for each whether `run` would accept it
    #[command(hide = true)]
    Validate,
    /// Print as JSON in which ways this user can run trials on this machine
    #[command(hide = true)]
    Ways,
    /// Run the trial inside a virtual kernel, which starts this command first
    #[command(hide = true)]
    Guest,
    /// Forward connections from a link's end to a server outside the lab (a role with `outside`)
    #[command(hide = true)]
    Gateway(Gateway),
    /// Answer the DNS queries of a host's programs about the server's name (a role with `resolver`)
    #[command(hide = true)]
    Resolver(Resolver),
}

#[derive(Args)]
pub struct Resolver {
    /// The only name that it resolves
    #[arg(long)]
    pub name: String,
    /// Address and port of the server with that name
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub at: SocketAddrV4,
    /// IPv6 address of that server
    #[arg(long, value_name = "ADDRESS")]
    pub at6: Option<Ipv6Addr>,
    /// Protocols for the name's HTTPS record, beginning with the preferred one; none: it has no such record
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub alpn: Vec<String>,
}

#[derive(Args)]
pub struct Gateway {
    /// Address and port to listen on in the lab
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub at: SocketAddrV4,
    /// Address and port of the server, in the network where the lab was started
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub to: SocketAddr,
    /// File for the delay that the gateway adds
    #[arg(long, value_name = "FILE")]
    pub facts: PathBuf,
}

#[derive(Args)]
pub struct Run {
    /// Path of the trial.json
    pub trial: PathBuf,
    /// Folder for report.json and logs/. The trial's commands run in it
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Under the virtual clock: the user-mode kernel (built with time travel) in which the trial runs
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// Folder that the trial's files and commands refer to as /tmp/h123-roots/NAME. Can be repeated
    #[arg(long = "root", value_name = "NAME=DIR", value_parser = Root::parse)]
    pub roots: Vec<Root>,
    /// Stop everything when the calling process ends
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
    /// Link file: {"kind": "emulated", "up": {"delay_ns": 25000000, ...}, "down": {...}} or {"kind": "veth"}
    #[arg(long, value_name = "LINK.json")]
    pub link: PathBuf,
    /// Seed for all random decisions of the link
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// TCP congestion controller on both hosts [default: this machine's]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// IP version of the address in H123_SERVER. Both hosts always have IPv4
    #[arg(long, value_enum, default_value_t = Family::Ipv4)]
    pub address: Family,
    /// Write the link's report to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Shell command to run on the server's host. Its output goes to standard error
    #[arg(long, value_name = "CMD")]
    pub server: String,
    /// Shell command to run on the client's host once the server has opened a port, or has been idle for a second.
    /// h123-lab returns the exit status of this command
    #[arg(long, value_name = "CMD")]
    pub client: String,
    /// Stop everything when the calling process ends
    #[arg(long)]
    pub die_with_parent: bool,
}

const EXEC_EXAMPLE: &str = "\
In both commands, the variable H123_SERVER holds the server's address. Example:
  echo '{\"kind\": \"emulated\", \"up\": {\"delay_ns\": 25000000}, \"down\": {\"delay_ns\": 25000000}}' > link.json
  h123-lab exec --link link.json --server 'python3 -m http.server 8000' --client 'curl -s http://$H123_SERVER:8000/'";

//! workload.json: what a client is to do. Its fields are described in docs/contracts.md.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::command::{Failure, Result};
use crate::protocol::Protocol;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    h123: String,
    protocol: String,
    pub host: String,
    address: IpAddr,
    port: u16,
    /// PEM file of the trusted roots.
    pub ca: PathBuf,
    pub method: String,
    pub path: String,
    pub upload_bytes: u64,
    pub users: usize,
    requests: usize,
    /// Requests a second; none: closed loop.
    pub rate: Option<f64>,
    connections: Connections,
    pub cold: bool,
    pub warmup: usize,
    timeout_ns: u64,
    pub seed: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Connections {
    Number(usize),
    Mode(Mode),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Shared,
    PerUser,
}

impl Workload {
    /// Of HTTP/3, as all clients of this crate.
    pub fn read(file: &str) -> Result<Self> {
        let wrong = |why: String| Failure::bad_input(format!("{file}: {why}"));
        let text = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
        let workload: Self =
            serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if workload.h123 != "workload/1" {
            return Err(wrong(format!(
                "h123 is {:?}, not \"workload/1\"",
                workload.h123
            )));
        }
        if workload.users == 0 || matches!(workload.connections, Connections::Number(0)) {
            return Err(wrong("users and connections are at least 1".to_owned()));
        }
        match workload.protocol.parse()? {
            Protocol::H3 => Ok(workload),
            other => Err(Failure::unsupported(format!("protocol {other}"))),
        }
    }

    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }

    /// Of a request.
    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout_ns)
    }

    /// How many connections it asks for.
    pub fn connections(&self) -> usize {
        match self.connections {
            Connections::Number(number) => number,
            Connections::Mode(Mode::PerUser) => self.users,
            Connections::Mode(Mode::Shared) => 1,
        }
    }

    /// How many requests each user makes once the users have started.
    pub fn per_user(&self) -> usize {
        self.warmup + self.requests
    }
}

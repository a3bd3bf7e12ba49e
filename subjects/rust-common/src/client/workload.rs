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
    #[serde(rename = "h123")]
    _format: String,
    #[serde(rename = "kind")]
    _kind: String,
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
    headers: Vec<serde_json::Value>,
}

/// What of any workload tells whether it is for this client.
#[derive(Deserialize)]
struct Form {
    h123: String,
    #[serde(default)]
    kind: String,
}

const FORMAT: &str = "workload/2";
const KIND: &str = "requests";

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
        let form: Form = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if form.h123 != FORMAT {
            return Err(Failure::unsupported(format!("h123 {}", form.h123)));
        }
        if form.kind != KIND {
            return Err(Failure::unsupported(format!("kind {}", form.kind)));
        }
        let workload: Self =
            serde_json::from_slice(&text).map_err(|error| match error.to_string() {
                // serde has no type for this error.
                said if said.starts_with("unknown field") => Failure::unsupported(said),
                said => wrong(said),
            })?;
        if !workload.headers.is_empty() {
            return Err(Failure::unsupported("a workload with headers of its own"));
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

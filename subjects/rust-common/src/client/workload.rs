//! workload.json: what a client is to do. Its fields are described in docs/contracts/workload.md.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::page::{Page, Written};
use crate::command::{Failure, Result};
use crate::protocol::Protocol;

/// What is said in every kind of workload.
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
    pub users: usize,
    requests: usize,
    /// Requests a second; none: closed loop.
    pub rate: Option<f64>,
    connections: Connections,
    pub cold: bool,
    pub warmup: usize,
    timeout_ns: u64,
    pub seed: u64,
    headers: Vec<Value>,
}

/// What is said in one kind alone.
pub enum Kind {
    Requests(Repeated),
    Page(Page),
}

/// The request that is made again and again.
#[derive(Debug, Deserialize)]
pub struct Repeated {
    pub method: String,
    pub path: String,
    pub upload_bytes: u64,
}

/// What of any workload tells whether it is for this client.
#[derive(Deserialize)]
struct Form {
    h123: String,
    #[serde(default)]
    kind: String,
}

const FORMAT: &str = "workload/2";
/// The kinds, and which fields each has to itself.
const KINDS: [(&str, &[&str]); 2] = [
    ("requests", &["method", "path", "upload_bytes"]),
    ("page", &["page", "at_once", "pause_ns"]),
];

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
    pub fn read(file: &str) -> Result<(Self, Kind)> {
        let text = std::fs::read(file)
            .map_err(|error| Failure::bad_input(format!("cannot read {file}: {error}")))?;
        Self::parse(&text)
    }

    pub fn parse(text: &[u8]) -> Result<(Self, Kind)> {
        let form: Form = serde_json::from_slice(text).map_err(wrong)?;
        if form.h123 != FORMAT {
            return Err(Failure::unsupported(format!("h123 {}", form.h123)));
        }
        let Some((_, own)) = KINDS.iter().find(|(name, _)| *name == form.kind) else {
            return Err(Failure::unsupported(format!("kind {}", form.kind)));
        };
        let mut common: Map<String, Value> = serde_json::from_slice(text).map_err(wrong)?;
        let own: Map<String, Value> = own
            .iter()
            .filter_map(|name| common.remove_entry(*name))
            .collect();
        let workload: Self = read_fields(common)?;
        workload.check()?;
        let kind = match form.kind.as_str() {
            "page" => Kind::Page(workload.page(read_fields(own)?)?),
            _ => Kind::Requests(read_fields(own)?),
        };
        Ok((workload, kind))
    }

    fn check(&self) -> Result<()> {
        if !self.headers.is_empty() {
            return Err(Failure::unsupported("a workload with headers of its own"));
        }
        if self.users == 0 || matches!(self.connections, Connections::Number(0)) {
            return Err(wrong("users and connections are at least 1"));
        }
        match self.protocol.parse()? {
            Protocol::H3 => Ok(()),
            other => Err(Failure::unsupported(format!("protocol {other}"))),
        }
    }

    fn page(&self, written: Written) -> Result<Page> {
        if self.rate.is_some() || !matches!(self.connections, Connections::Number(_)) {
            return Err(wrong("a page has a number of connections, and no rate"));
        }
        let page = Page::new(written, &self.host).map_err(wrong)?;
        let mut headers = page.resources.iter().flat_map(|one| &one.headers);
        match headers.any(|header| header.changes) {
            true => Err(Failure::unsupported("a page with headers that change")),
            false => Ok(page),
        }
    }

    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }

    /// Of a request.
    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout_ns)
    }

    /// How many connections it asks for; of a page, of each visit to each host.
    pub fn connections(&self) -> usize {
        match self.connections {
            Connections::Number(number) => number,
            Connections::Mode(Mode::PerUser) => self.users,
            Connections::Mode(Mode::Shared) => 1,
        }
    }

    /// How many requests, or visits, each user makes once the users have started.
    pub fn per_user(&self) -> usize {
        self.warmup + self.requests
    }
}

fn wrong(why: impl ToString) -> Failure {
    Failure::bad_input(format!("the workload is none: {}", why.to_string()))
}

fn read_fields<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| match error.to_string() {
        // serde has no type for this error.
        said if said.starts_with("unknown field") => Failure::unsupported(said),
        said => wrong(said),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn common() -> Value {
        json!({
            "h123": "workload/2", "kind": "page", "protocol": "h3", "host": "h123.test", "address": "10.1.0.2",
            "port": 4443, "ca": "ca.pem", "users": 2, "requests": 5, "rate": null, "connections": 1, "cold": true,
            "warmup": 1, "timeout_ns": 1, "seed": 7, "headers": [], "at_once": 100,
            "page": [{"path": "/bytes/9", "headers": [], "initiator": null, "urgency": 0, "run_ns": 10}],
        })
    }

    /// What the workload with these changes is refused with; empty: it is not.
    fn refused(changes: Value) -> String {
        let mut document = common();
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        match Workload::parse(document.to_string().as_bytes()) {
            Ok(_) => String::new(),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn a_page_is_read() {
        let (workload, kind) = Workload::parse(common().to_string().as_bytes()).unwrap();
        let Kind::Page(page) = kind else {
            panic!("it is another kind");
        };
        assert_eq!(
            (workload.per_user(), workload.connections(), page.pause_ns),
            (6, 1, 0)
        );
        assert_eq!(page.resources[0].run_ns, 10);
        assert_eq!(page.hosts, ["h123.test"]);
    }

    #[test]
    fn a_page_may_have_pauses_and_other_hosts() {
        let mut document = common();
        document["pause_ns"] = json!(5);
        document["page"][0]["host"] = json!("b.h123.test");
        let (_, kind) = Workload::parse(document.to_string().as_bytes()).unwrap();
        assert!(
            matches!(kind, Kind::Page(page) if page.pause_ns == 5 && page.hosts == ["b.h123.test"])
        );
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let resource = &common()["page"][0];
        let with = |name: &str, value: Value| {
            let mut changed = resource.clone();
            changed[name] = value;
            json!({"page": [changed]})
        };
        let header = json!([{"name": "x", "value": "000000000000", "changes": true}]);
        for (changes, named) in [
            (json!({"visit": "repeat"}), "visit"),
            (json!({"method": "GET"}), "method"),
            (json!({"protocol": "h3-or-h2"}), "h3-or-h2"),
            (json!({"kind": "mix"}), "kind mix"),
            (json!({"kind": "requests"}), "at_once"),
            (with("colour", json!(1)), "colour"),
            (with("headers", header), "headers that change"),
        ] {
            let said = refused(changes);
            assert!(
                said.contains(named) && said.ends_with("is not supported"),
                "{said}"
            );
        }
    }

    #[test]
    fn what_cannot_be_is_bad_input() {
        for changes in [
            json!({"rate": 5.0}),
            json!({"connections": "shared"}),
            json!({"at_once": 0}),
            json!({"pause_ns": 0}),
            json!({"pause_ns": null}),
            json!({"page": []}),
            json!({"page": null}),
            json!({"users": 0}),
        ] {
            let said = refused(changes.clone());
            assert!(
                said.starts_with("the workload is none"),
                "{changes}: {said}"
            );
        }
    }
}

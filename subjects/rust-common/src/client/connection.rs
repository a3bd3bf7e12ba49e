//! What a subject's QUIC does for the client.

use std::future::Future;
use std::ops::RangeInclusive;

use super::comparison::{Comparison, is_block};
use super::facts::Tls;
use super::page::{Header, Resource};
use super::problem::Problem;
use super::workload::{Repeated, Workload};

/// Makes connections to the workload's server.
pub trait Dialer: Send + Sync + 'static {
    type Connection: Connection;

    /// Returns when the handshake with the server, which `host` is the name of, is complete.
    fn dial(
        &self,
        host: &str,
    ) -> impl Future<Output = Result<(Self::Connection, Tls), Problem>> + Send;

    /// Lets the farewells of closed connections leave.
    fn finish(&self) -> impl Future<Output = ()> + Send;
}

/// One connection. Requests on it run side by side. It is closed when it is dropped.
pub trait Connection: Send + Sync + 'static {
    /// Whether it can take another request, as far as is known here.
    fn is_usable(&self) -> bool;

    /// Makes one request and reads the response to its end, telling `exchange` what happened so far, so that
    /// it is known also of a request that is given up: then the future is dropped.
    fn perform(
        &self,
        request: &Request,
        exchange: &mut Exchange,
    ) -> impl Future<Output = Result<(), Problem>> + Send;
}

/// One of those that a workload makes.
pub struct Request {
    pub method: String,
    pub authority: String,
    pub path: String,
    /// Besides those that HTTP needs.
    pub headers: Vec<(String, String)>,
    /// Bytes of its body.
    pub upload: u64,
    /// Whether the answer is the block.
    compared: bool,
    /// Of an answer that is a success.
    statuses: RangeInclusive<u16>,
}

impl Request {
    /// The one that is made again and again.
    pub fn repeated(workload: &Workload, repeated: &Repeated) -> Self {
        let Repeated {
            method,
            path,
            upload_bytes,
        } = repeated;
        Self {
            method: method.clone(),
            authority: workload.host.clone(),
            path: path.clone(),
            headers: headers(&[]),
            upload: *upload_bytes,
            compared: is_block(method, path),
            statuses: 200..=299,
        }
    }

    /// The one for a resource of a page.
    pub fn of(workload: &Workload, resource: &Resource) -> Self {
        let Resource {
            host,
            path,
            headers: own,
            ..
        } = resource;
        Self {
            method: "GET".to_owned(),
            authority: host.as_ref().unwrap_or(&workload.host).clone(),
            path: path.clone(),
            headers: headers(own),
            upload: 0,
            compared: is_block("GET", path),
            statuses: 200..=200,
        }
    }
}

/// The client's own ones, and these.
fn headers(own: &[Header]) -> Vec<(String, String)> {
    let own: Vec<_> = own
        .iter()
        .map(|header| (header.name.clone(), header.value.clone()))
        .collect();
    let named = own.iter().any(|(name, _)| name == "user-agent");
    let agent = (!named).then(|| ("user-agent".to_owned(), "h123".to_owned()));
    agent.into_iter().chain(own).collect()
}

/// What happened to a request. Times are the clock's, 0 where unknown.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    pub sent: u64,
    pub first_byte: u64,
    pub status: u16,
    /// Length of the response's body as its header says.
    pub announced: Option<u64>,
    pub up: u64,
    pub down: u64,
    /// Of the body, where it is the block.
    held: Option<Comparison>,
}

impl Exchange {
    /// What is to be known of this request before it is made.
    pub fn of(request: &Request) -> Self {
        Self {
            held: request.compared.then(Comparison::default),
            ..Self::default()
        }
    }

    /// A piece of the answer's body.
    pub fn take(&mut self, piece: &[u8]) {
        self.down += piece.len() as u64;
        if let Some(held) = &mut self.held {
            held.take(piece);
        }
    }

    /// Whether a response that ended is one to this request.
    pub fn check(&self, request: &Request) -> Result<(), Problem> {
        if self.announced.is_some_and(|length| length != self.down) {
            return Err(Problem::Protocol);
        }
        match self.status {
            200 if self.held.as_ref().is_some_and(Comparison::is_wrong) => Err(Problem::WrongBytes),
            status if request.statuses.contains(&status) => Ok(()),
            status => Err(Problem::Other(format!("status {status}"))),
        }
    }
}

//! What a subject's QUIC does for the client.

use std::future::Future;

use super::comparison::{Comparison, is_block};
use super::facts::Tls;
use super::problem::Problem;
use super::workload::Workload;

/// Makes connections to the workload's server.
pub trait Dialer: Send + Sync + 'static {
    type Connection: Connection;

    /// Returns when the handshake is complete.
    fn dial(&self) -> impl Future<Output = Result<(Self::Connection, Tls), Problem>> + Send;

    /// Lets the farewells of closed connections leave.
    fn finish(&self) -> impl Future<Output = ()> + Send;
}

/// One connection. Requests on it run side by side.
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

    fn close(&self);
}

/// The request that a workload makes again and again.
pub struct Request {
    pub method: String,
    pub authority: String,
    pub path: String,
    /// Bytes of its body.
    pub upload: u64,
    /// Whether the answer is the block.
    compared: bool,
}

impl Request {
    pub fn of(workload: &Workload) -> Self {
        Self {
            method: workload.method.clone(),
            authority: workload.host.clone(),
            path: workload.path.clone(),
            upload: workload.upload_bytes,
            compared: is_block(&workload.method, &workload.path),
        }
    }
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

    /// Whether a response that ended is one.
    pub fn check(&self) -> Result<(), Problem> {
        if self.announced.is_some_and(|length| length != self.down) {
            return Err(Problem::Protocol);
        }
        match self.status {
            200 if self.held.as_ref().is_some_and(Comparison::is_wrong) => Err(Problem::WrongBytes),
            200..=299 => Ok(()),
            status => Err(Problem::Other(format!("status {status}"))),
        }
    }
}

//! A response on its way: what JavaScript has written and quiche has not yet taken.

use std::collections::VecDeque;

use quiche::h3::{Connection, Error, Header};

/// Bytes that may wait here before JavaScript is to pause. What quiche takes at once is what the congestion window
/// has room for, so a stock keeps the connection busy while JavaScript makes more.
const ENOUGH: usize = 512 << 10;

#[derive(Default)]
pub struct Outgoing {
    header: Option<(Vec<Header>, bool)>,
    chunks: VecDeque<Vec<u8>>,
    taken: usize, // of the first chunk
    waiting: usize,
    ending: bool,
    finished: bool,
    unanswered: bool, // a write whose drain is due
}

impl Outgoing {
    pub fn respond(&mut self, header: Vec<Header>, last: bool) {
        self.header = Some((header, last));
    }

    pub fn write(&mut self, chunk: Vec<u8>) {
        self.unanswered = true;
        self.waiting += chunk.len();
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    pub fn end(&mut self) {
        self.ending = true;
    }

    /// Whether all of it has been taken.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Whether JavaScript is to be told to write on; true once for each write.
    pub fn drained(&mut self) -> bool {
        let drained = self.unanswered && self.waiting <= ENOUGH;
        self.unanswered &= !drained;
        drained
    }

    /// Gives quiche what it takes.
    pub fn flush(
        &mut self,
        http: &mut Connection,
        quic: &mut quiche::Connection,
        stream: u64,
    ) -> Result<(), Error> {
        match self.push(http, quic, stream) {
            Err(Error::Done | Error::StreamBlocked) => Ok(()),
            other => other,
        }
    }

    fn push(
        &mut self,
        http: &mut Connection,
        quic: &mut quiche::Connection,
        stream: u64,
    ) -> Result<(), Error> {
        if let Some((header, last)) = &self.header {
            http.send_response(quic, stream, header, *last)?;
            self.finished = *last;
            self.header = None;
        }
        while let Some(chunk) = self.chunks.front() {
            let last = self.ending && self.chunks.len() == 1;
            let sent = http.send_body(quic, stream, &chunk[self.taken..], last)?;
            self.taken += sent;
            self.waiting -= sent;
            if self.taken == chunk.len() {
                self.finished = last;
                self.taken = 0;
                self.chunks.pop_front();
            }
        }
        if self.ending && !self.finished {
            http.send_body(quic, stream, &[], true)?;
            self.finished = true;
        }
        Ok(())
    }
}

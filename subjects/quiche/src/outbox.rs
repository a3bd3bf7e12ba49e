//! What a connection has to send, gathered so that the kernel sends many datagrams at once.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use h123_common::datagrams::Socket;

use crate::transport::ROOM;

/// How finely the runtime's timers are set.
const TICK: Duration = Duration::from_millis(1);
/// The largest message that the kernel takes.
const MESSAGE: usize = 65_000;

pub struct Outbox {
    buffer: Vec<u8>,
}

/// Datagrams at the buffer's beginning: all of `segment` bytes, but the last may be shorter.
struct Batch {
    to: SocketAddr,
    segment: usize,
    count: usize,
    length: usize,
}

impl Batch {
    fn new(to: SocketAddr, length: usize) -> Self {
        Self {
            to,
            segment: length,
            count: 1,
            length,
        }
    }

    /// Whether a datagram can be added.
    fn takes(&self, to: SocketAddr, length: usize, most: usize) -> bool {
        let whole = self.length == self.count * self.segment;
        whole && to == self.to && length <= self.segment && self.count < most
    }

    fn add(&mut self, length: usize) {
        self.count += 1;
        self.length += length;
    }
}

impl Outbox {
    pub fn new() -> Self {
        Self {
            buffer: vec![0; MESSAGE + ROOM],
        }
    }

    /// Sends all that the connection may send now. Returns when its pacer lets it send more.
    pub async fn flush(
        &mut self,
        quic: &mut quiche::Connection,
        socket: &Socket,
    ) -> io::Result<Option<Instant>> {
        let mut batch: Option<Batch> = None;
        let paced = loop {
            let paced = hold(quic);
            if paced.is_some() {
                break paced;
            }
            let start = batch.as_ref().map_or(0, |batch| batch.length);
            let Ok((length, info)) = quic.send(&mut self.buffer[start..start + ROOM]) else {
                break None; // nothing more to send, or nothing ever again
            };
            match &mut batch {
                Some(batch) if batch.takes(info.to, length, socket.segments()) => batch.add(length),
                Some(full) => {
                    self.send(full, socket).await?;
                    self.buffer.copy_within(start..start + length, 0);
                    batch = Some(Batch::new(info.to, length));
                }
                None => batch = Some(Batch::new(info.to, length)),
            }
            if let Some(full) = batch.take_if(|batch| batch.length + ROOM > MESSAGE) {
                self.send(&full, socket).await?;
            }
        };
        if let Some(rest) = &batch {
            self.send(rest, socket).await?;
        }
        Ok(paced)
    }

    async fn send(&self, batch: &Batch, socket: &Socket) -> io::Result<()> {
        socket
            .send(batch.to, &self.buffer[..batch.length], batch.segment)
            .await
    }
}

/// When to go on, if the pacer holds the next datagram back. In quiche only BBR paces.
///
/// A timer fires up to a tick late, and the pacer never makes up for time that was lost. So what is due within the next
/// milliseconds leaves at once, as far ahead as quiche allows, and the timer is set a tick early.
fn hold(quic: &quiche::Connection) -> Option<Instant> {
    let now = Instant::now();
    let due = quic.get_next_release_time()?.time(now)?;
    let ahead = quic.max_release_into_future().max(2 * TICK);
    (due > now + ahead).then(|| due - TICK)
}

//! What a connection has to send, gathered so that the kernel sends many datagrams at once.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use crate::transport::DATAGRAM;
use h123_common::datagrams::Socket;

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
            buffer: vec![0; MESSAGE + DATAGRAM],
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
            let paced = release(quic);
            if paced.is_some() {
                break paced;
            }
            let start = batch.as_ref().map_or(0, |batch| batch.length);
            let Ok((length, info)) = quic.send(&mut self.buffer[start..start + DATAGRAM]) else {
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
            if let Some(full) = batch.take_if(|batch| batch.length + DATAGRAM > MESSAGE) {
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

/// When the pacer releases the next datagram, if that is not now. In quiche only BBR paces.
fn release(quic: &quiche::Connection) -> Option<Instant> {
    quic.get_next_release_time()?.time(Instant::now())
}

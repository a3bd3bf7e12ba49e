//! For a QUIC that does no I/O: a UDP socket that takes and sends many datagrams with one system call (GRO, GSO where the kernel has them).

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;

use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// The largest message that the kernel hands over.
const MESSAGE: usize = 65_535;

pub struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    pub address: SocketAddr,
}

impl Socket {
    pub fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        let socket = UdpSocket::from_std(socket)?;
        let address = socket.local_addr()?;
        Ok(Self {
            socket,
            state,
            address,
        })
    }

    /// Waits for datagrams.
    pub async fn receive(&self, inbox: &mut Inbox) -> io::Result<()> {
        let Inbox {
            buffer,
            facts,
            count,
        } = inbox;
        let take = || {
            let mut messages: Vec<_> = buffer
                .chunks_exact_mut(MESSAGE)
                .map(IoSliceMut::new)
                .collect();
            self.state.recv((&self.socket).into(), &mut messages, facts)
        };
        *count = self.socket.async_io(Interest::READABLE, take).await?;
        Ok(())
    }

    /// Sends `contents` cut into datagrams of `segment` bytes, the last as long as is left. Like a lossy
    /// network it drops what the kernel does not take.
    pub async fn send(
        &self,
        destination: SocketAddr,
        contents: &[u8],
        segment: usize,
    ) -> io::Result<()> {
        let transmit = transmit(destination, contents, segment);
        let send = || self.state.send((&self.socket).into(), &transmit);
        self.socket.async_io(Interest::WRITABLE, send).await
    }

    /// The same at once, or not at all where the kernel has no room.
    pub fn try_send(
        &self,
        destination: SocketAddr,
        contents: &[u8],
        segment: usize,
    ) -> io::Result<()> {
        let transmit = transmit(destination, contents, segment);
        let send = || self.state.send((&self.socket).into(), &transmit);
        self.socket.try_io(Interest::WRITABLE, send)
    }

    /// How many datagrams `send` takes.
    pub fn segments(&self) -> usize {
        self.state.max_gso_segments()
    }
}

fn transmit(destination: SocketAddr, contents: &[u8], segment: usize) -> Transmit<'_> {
    let segment_size = (segment < contents.len()).then_some(segment);
    Transmit {
        destination,
        ecn: None,
        contents,
        segment_size,
        src_ip: None,
    }
}

/// Datagrams just received.
pub struct Inbox {
    buffer: Vec<u8>,
    facts: [RecvMeta; BATCH_SIZE],
    count: usize,
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            buffer: vec![0; BATCH_SIZE * MESSAGE],
            facts: [RecvMeta::default(); BATCH_SIZE],
            count: 0,
        }
    }
}

impl Inbox {
    /// Each datagram with its sender.
    pub fn datagrams(&mut self) -> impl Iterator<Item = (SocketAddr, &mut [u8])> {
        let messages = self
            .buffer
            .chunks_exact_mut(MESSAGE)
            .zip(&self.facts)
            .take(self.count);
        messages.flat_map(|(message, facts)| {
            let datagrams = message[..facts.len].chunks_mut(facts.stride.max(1));
            datagrams.map(|datagram| (facts.addr, datagram))
        })
    }
}

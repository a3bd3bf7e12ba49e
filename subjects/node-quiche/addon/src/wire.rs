//! The UDP socket: reads and writes many packets at a time where the kernel can (GRO, GSO).

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::SocketAddr;

use mio::net::UdpSocket;
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};

/// Bytes that one read or write can carry.
const LARGEST: usize = 64 << 10;

/// Of the socket's buffers, as far as the machine allows.
const BUFFER: usize = 7_500_000;

/// Packets for one address, all of `segment` bytes but the last, which may be shorter.
#[derive(Clone, Copy)]
pub struct Burst {
    pub to: SocketAddr,
    pub length: usize,
    pub segment: usize,
}

pub struct Wire {
    socket: UdpSocket,
    state: UdpSocketState,
    local: SocketAddr,
    incoming: Vec<Vec<u8>>,
    outgoing: Vec<u8>,
    stuck: Option<Burst>, // in `outgoing`: the socket had no room for it
}

impl Wire {
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new((&socket).into())?;
        // Smaller buffers lose packets under load, which costs speed and nothing else.
        let _ = state.set_recv_buffer_size((&socket).into(), BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), BUFFER);
        let local = socket.local_addr()?;
        let incoming = (0..BATCH_SIZE).map(|_| vec![0; LARGEST]).collect();
        Ok(Self {
            socket,
            state,
            local,
            incoming,
            outgoing: vec![0; LARGEST],
            stuck: None,
        })
    }

    pub fn socket(&mut self) -> &mut UdpSocket {
        &mut self.socket
    }

    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Hands over the packets of one read; false if there are none.
    pub fn receive(&mut self, mut take: impl FnMut(&mut [u8], SocketAddr)) -> bool {
        let mut about = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut> = self
            .incoming
            .iter_mut()
            .map(|buffer| IoSliceMut::new(buffer))
            .collect();
        let count = match self
            .state
            .recv((&self.socket).into(), &mut slices, &mut about)
        {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => return true, // what an earlier packet met on its way; the next read tells more
        };
        for (about, buffer) in about.iter().zip(&mut self.incoming).take(count) {
            for packet in buffer[..about.len].chunks_mut(about.stride.max(1)) {
                take(packet, about.addr);
            }
        }
        true
    }

    /// Sends what `fill` puts into the buffer it is given, together with the number of packets it may hold, until it has no
    /// more. False if the socket took no more; when it does again, `unblock` comes first.
    pub fn send(&mut self, mut fill: impl FnMut(&mut [u8], usize) -> Option<Burst>) -> bool {
        while self.stuck.is_none() {
            let Some(burst) = fill(&mut self.outgoing, self.state.max_gso_segments()) else {
                return true;
            };
            self.push(burst);
        }
        false
    }

    /// Sends a packet of nobody's, if there is room.
    pub fn reply(&self, packet: &[u8], to: SocketAddr) {
        let _ = self.socket.send_to(packet, to);
    }

    /// Tries again what the socket had no room for.
    pub fn unblock(&mut self) {
        if let Some(burst) = self.stuck.take() {
            self.push(burst);
        }
    }

    pub fn blocked(&self) -> bool {
        self.stuck.is_some()
    }

    fn push(&mut self, burst: Burst) {
        let transmit = Transmit {
            destination: burst.to,
            ecn: None,
            contents: &self.outgoing[..burst.length],
            segment_size: (burst.length > burst.segment).then_some(burst.segment),
            src_ip: None,
        };
        match self.state.try_send((&self.socket).into(), &transmit) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.stuck = Some(burst),
            _ => {} // anything else is a loss like any other, which QUIC repairs
        }
    }
}

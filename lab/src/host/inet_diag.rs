//! What the kernel tells of a host's TCP connections (NETLINK_SOCK_DIAG, linux/inet_diag.h; `struct tcp_info` of
//! linux/tcp.h), as few bytes and calls as it takes.

use anyhow::{Context, Result, bail};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_SOCK_DIAG};

/// The older of the two requests: it has no family, and is answered for IPv4 and IPv6 at once. The kernel walks its whole
/// table for each.
const TCPDIAG_GETSOCK: u16 = 18;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const MESSAGE: usize = 16;
const REQUEST: usize = 60;
const ANSWER: usize = 72;
const ATTRIBUTE: usize = 4;
/// Of one datagram of an answer: the kernel makes them no larger than there is room for, and small ones sooner.
const DATAGRAM: usize = 8_192;
const INET_DIAG_INFO: u16 = 2;
/// Without those that listen, and those of which the kernel keeps no account: half open, and waiting for late packets.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11;
const NS_PER_US: u64 = 1000;

/// A way to ask, in the namespace in which it was opened.
pub struct InetDiag {
    socket: Socket,
}

/// A connection at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    pub local_port: u16,
    pub remote_port: u16,
    /// linux/tcp_states.h.
    pub state: u8,
    pub rtt_ns: u64,
    /// In packets, as the next four.
    pub cwnd: u32,
    pub ssthresh: u32,
    pub unacked: u32,
    pub lost: u32,
    /// Since the beginning.
    pub retrans: u32,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub busy_ns: u64,
    pub rwnd_limited_ns: u64,
    pub sndbuf_limited_ns: u64,
    pub snd_wnd: u32,
    /// Bytes a second, as the next one.
    pub delivery_rate: u64,
    pub pacing_rate: u64,
    pub snd_mss: u32,
    /// Packets.
    pub sacked: u32,
    /// Bytes that the program has handed over and TCP has not sent.
    pub notsent_bytes: u32,
    /// Whether the program had too little to send when the delivery rate was measured.
    pub app_limited: bool,
}

impl InetDiag {
    pub fn open() -> Result<Self> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG).context("opening a sock_diag socket")?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// All connections of the host.
    pub fn connections(&self) -> Result<Vec<Connection>> {
        self.socket.send(&request(), 0)?;
        let (mut found, mut answer) = (vec![], Vec::with_capacity(DATAGRAM));
        loop {
            answer.clear();
            self.socket.recv(&mut answer, 0)?;
            for (kind, body) in messages(&answer) {
                match kind {
                    NLMSG_DONE => return Ok(found),
                    NLMSG_ERROR => bail!("the kernel refuses to list its connections"),
                    _ => found.extend(connection(body)),
                }
            }
        }
    }
}

fn request() -> [u8; MESSAGE + REQUEST] {
    let mut bytes = [0; MESSAGE + REQUEST];
    bytes[..4].copy_from_slice(&((MESSAGE + REQUEST) as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&TCPDIAG_GETSOCK.to_ne_bytes());
    bytes[6..8].copy_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    bytes[MESSAGE + 3] = 1 << (INET_DIAG_INFO - 1);
    bytes[MESSAGE + 52..MESSAGE + 56].copy_from_slice(&STATES.to_ne_bytes());
    bytes
}

/// Of a datagram, each with its type.
fn messages(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    parts(bytes, MESSAGE, |header| {
        let length = u32::from_ne_bytes(*header.first_chunk()?) as usize;
        Some((length, short(header, 4)?))
    })
}

/// None where the kernel keeps no account of it.
fn connection(answer: &[u8]) -> Option<Connection> {
    let port = |at: usize| Some(u16::from_be_bytes(*answer.get(at..)?.first_chunk()?));
    let attributes =
        parts(answer.get(ANSWER..)?, ATTRIBUTE, |header| Some((usize::from(short(header, 0)?), short(header, 2)?)));
    let (_, info) = attributes.into_iter().find(|&(kind, _)| kind == INET_DIAG_INFO)?;
    // What an older kernel does not tell is zero.
    let long = |at: usize| {
        let bytes = info.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    };
    let longer = |at: usize| {
        let bytes = info.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    };
    let time = |at: usize| longer(at).saturating_mul(NS_PER_US);
    Some(Connection {
        local_port: port(4)?,
        remote_port: port(6)?,
        state: *answer.get(1)?,
        snd_mss: long(16),
        unacked: long(24),
        lost: long(32),
        rtt_ns: u64::from(long(68)) * NS_PER_US,
        ssthresh: long(76),
        cwnd: long(80),
        retrans: long(100),
        bytes_acked: longer(120),
        bytes_received: longer(128),
        delivery_rate: longer(160),
        pacing_rate: longer(104),
        sacked: long(28),
        notsent_bytes: long(144),
        app_limited: info.get(7).is_some_and(|flags| flags & 1 == 1),
        busy_ns: time(168),
        rwnd_limited_ns: time(176),
        sndbuf_limited_ns: time(184),
        snd_wnd: long(228),
    })
}

/// Messages or attributes, one after the other: `read` tells of a header the length with it and the type. What is cut off
/// ends them.
fn parts(
    bytes: &[u8],
    header: usize,
    read: impl Fn(&[u8]) -> Option<(usize, u16)>,
) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (length, kind) = read(rest)?;
        let body = rest.get(header..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, body))
    })
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_ends_of_a_connection_are_told_of() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_other, _) = listener.accept().unwrap();
        one.write_all(&[7; 5000]).unwrap();
        let ports = [&listener.local_addr(), &one.local_addr()].map(|address| address.as_ref().unwrap().port());
        let found = InetDiag::open().unwrap().connections().unwrap();
        let between = |local: u16, remote: u16| {
            let mut known = found.iter();
            let told = known.find(|c| (c.local_port, c.remote_port) == (local, remote));
            told.unwrap_or_else(|| panic!("{local} to {remote}: {found:?}"))
        };
        let (sender, receiver) = (between(ports[1], ports[0]), between(ports[0], ports[1]));
        assert_eq!((sender.state, receiver.state), (1, 1));
        assert_eq!((sender.bytes_acked, receiver.bytes_received), (5001, 5000));
        assert_eq!((sender.unacked, sender.retrans), (0, 0));
        assert!((10..100).contains(&sender.cwnd));
        assert!(sender.rtt_ns > 0 && sender.snd_mss > 1000 && sender.snd_wnd > 5000);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_fall(bytes in prop::collection::vec(any::<u8>(), 0..200), lengths in any::<[u8; 2]>()) {
            let mut bytes = bytes;
            // Lengths that are small are met by chance too seldom.
            for (at, length) in [0, ANSWER].into_iter().zip(lengths) {
                if let Some(field) = bytes.get_mut(at..at + 4) {
                    field.copy_from_slice(&[length, 0, 0, 0]);
                }
            }
            for (_, body) in messages(&bytes) {
                prop_assert!(body.len() <= bytes.len());
            }
            let _ = connection(&bytes);
        }
    }
}

//! What HTTP/2 and QUIC said on a link: the headers of their frames, read from the recorded packets with the secrets of TLS
//! that the client logged (docs/contracts/trial.md). What the packets carry besides is not kept.
//!
//! `ring` decrypts: maintained, built by cargo and cc alone, and it has QUIC's protection of headers too.
//!
//! All bytes here are of programs under test. They can be anything, so whatever cannot be read is left out.

mod bytes;
mod hello;
mod http2;
pub mod keys;
#[cfg(test)]
pub mod made;
mod quic;
mod records;
mod stream;
mod suite;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::files::atomic_file::write_whole;
use crate::files::per_direction::{DOWN, UP};
use keys::Keys;
use quic::Quic;
use records::Plain;
use stream::{ByteStream, Segment};
use suite::Suite;

const TCP: u8 = 6;
const UDP: u8 = 17;
const SYN: u8 = 2;
const ACK: u8 = 16;
/// Rows: 30 MB of them.
const MOST: usize = 500_000;
/// Ports that the report names for each reason.
const PORTS_SHOWN: usize = 20;

/// A packet with a payload that was kept.
pub struct Sight<'a> {
    pub at_ns: u64,
    /// 0: it was not delivered.
    pub left_ns: u64,
    pub way: usize,
    pub protocol: u8,
    /// The client's, which is at the end from which `UP` leads.
    pub port: u16,
    pub server_port: u16,
    /// TCP's.
    pub sequence: u32,
    pub flags: u8,
    pub payload: &'a [u8],
}

impl Sight<'_> {
    /// What all frames of a datagram share.
    fn frame(&self, port: u16) -> Frame {
        Frame {
            at_ns: self.at_ns,
            sent_ns: self.at_ns,
            left_ns: self.left_ns,
            port,
            protocol: UDP,
            way: self.way as u8,
            ..Frame::default()
        }
    }
}

/// Numbers of the contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    #[default]
    Data = 1,
    Headers = 2,
    Setting = 3,
    WindowUpdate = 4,
    Reset = 5,
    GoAway = 6,
    Stream = 7,
    MaxData = 8,
    MaxStreamData = 9,
    MaxStreams = 10,
    DataBlocked = 11,
    StreamDataBlocked = 12,
    StreamsBlocked = 13,
    StopSending = 14,
    Close = 15,
}

/// A row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    pub at_ns: u64,
    pub sent_ns: u64,
    /// 0: never.
    pub left_ns: u64,
    pub stream: u64,
    pub offset: u64,
    pub value: u64,
    pub length: u32,
    pub port: u16,
    pub id: u16,
    pub kind: Kind,
    pub protocol: u8,
    pub way: u8,
    pub fin: u8,
}

/// Why nothing of a connection, or not all, could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unread {
    /// The client has not logged its secrets.
    NoKeys,
    /// Its cipher suite or version is none that is known here.
    Cipher,
    /// It began before the record of packets, or is no TLS.
    Beginning,
    /// What it sent does not open with its secrets.
    Damaged,
}

/// Connections that could not be read for the same reason.
#[derive(Debug, Serialize)]
pub struct Unreadable {
    why: Unread,
    connections: u64,
    /// The client's, of the first of them.
    ports: Vec<u16>,
}

/// What is known of a link's frames.
#[derive(Debug, Default)]
pub struct Frames {
    rows: Vec<Frame>,
    /// Packets with a payload that was not kept, and frames for which there was no room.
    pub left_out: u64,
    pub unread: Vec<Unreadable>,
}

/// Takes rows, up to a bound.
#[derive(Default)]
struct Sink {
    rows: Vec<Frame>,
    left_out: u64,
    unread: BTreeMap<Unread, (u64, Vec<u16>)>,
}

impl Sink {
    fn add(&mut self, frame: Frame) {
        if self.rows.len() < MOST {
            self.rows.push(frame);
        } else {
            self.left_out += 1;
        }
    }

    fn unread(&mut self, why: Unread, port: u16) {
        let (connections, ports) = self.unread.entry(why).or_default();
        *connections += 1;
        if ports.len() < PORTS_SHOWN {
            ports.push(port);
        }
    }
}

impl Frames {
    /// Of packets in the order in which they came to the link.
    pub fn read<'a>(sights: impl Iterator<Item = Sight<'a>>, keys: &Keys) -> Self {
        let (mut sink, mut quic) = (Sink::default(), Quic::new(keys));
        let mut connections = Connections::default();
        for sight in sights {
            match sight.protocol {
                TCP => connections.take(&sight),
                UDP => quic.take(&sight, &mut sink),
                _ => {}
            }
        }
        quic.end(&mut sink);
        for connection in connections.all {
            let port = connection.port;
            if let Err(why) = connection.read(keys, &mut sink) {
                sink.unread(why, port);
            }
        }
        sink.rows.sort_by_key(|frame| frame.at_ns);
        let unread = sink.unread.into_iter();
        Self {
            rows: sink.rows,
            left_out: sink.left_out,
            unread: unread.map(|(why, (connections, ports))| Unreadable { why, connections, ports }).collect(),
        }
    }

    /// What holds whatever the packets were, which had so many bytes.
    #[cfg(test)]
    pub fn check(&self, bytes: usize) {
        assert!(self.rows.len() <= MOST.min(bytes));
        assert!(self.rows.is_sorted_by_key(|row| row.at_ns));
        for row in &self.rows {
            assert!(row.left_ns == 0 || row.left_ns > row.at_ns, "{row:?}");
            assert!(row.length as usize <= bytes && row.way < 2 && row.fin < 2, "{row:?}");
        }
    }

    pub fn save(&self, dir: &Path, link: &str) -> Result<()> {
        write_whole(&dir.join(format!("frames-{link}.bin")), |file| self.write(file))
    }

    fn write(&self, file: impl Write) -> io::Result<()> {
        let mut file = BufWriter::new(file);
        for row in &self.rows {
            row.write(&mut file)?;
        }
        file.flush()
    }
}

impl Frame {
    /// 60 bytes, little endian.
    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        for number in [self.at_ns, self.sent_ns, self.left_ns, self.stream, self.offset, self.value] {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(&self.length.to_le_bytes())?;
        for number in [self.port, self.id] {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(&[self.kind as u8, self.protocol, self.way, self.fin])
    }
}

/// Of TCP.
#[derive(Default)]
struct Connections<'a> {
    all: Vec<TcpFlow<'a>>,
    /// The latest of these ports, client's and server's.
    latest: HashMap<(u16, u16), usize>,
}

struct TcpFlow<'a> {
    port: u16,
    /// Of the client's SYN.
    syn: Option<u32>,
    segments: [Vec<Segment<'a>>; 2],
}

impl<'a> Connections<'a> {
    fn take(&mut self, sight: &Sight<'a>) {
        let syn = sight.flags & SYN != 0;
        if sight.payload.is_empty() && !syn {
            return;
        }
        let opens = syn && sight.flags & ACK == 0 && sight.way == UP;
        let ports = (sight.port, sight.server_port);
        let latest = self.latest.get(&ports).copied().filter(|&index| {
            // A port may be used again.
            !opens || self.all[index].syn == Some(sight.sequence)
        });
        let index = latest.unwrap_or_else(|| {
            self.all.push(TcpFlow {
                port: sight.port,
                syn: opens.then_some(sight.sequence),
                segments: [vec![], vec![]],
            });
            self.latest.insert(ports, self.all.len() - 1);
            self.all.len() - 1
        });
        self.all[index].segments[sight.way].push(Segment {
            at_ns: sight.at_ns,
            left_ns: sight.left_ns,
            sequence: sight.sequence,
            syn,
            payload: sight.payload,
        });
    }
}

impl TcpFlow<'_> {
    /// Tells the sink of the frames, if it is HTTP/2.
    fn read(self, keys: &Keys, sink: &mut Sink) -> Result<(), Unread> {
        let [up, down] = self.segments.map(|segments| ByteStream::new(&segments));
        if up.bytes.is_empty() || down.bytes.is_empty() {
            return Ok(()); // nothing was said
        }
        let hello = records::handshake(&up.bytes);
        let hello = hello.as_deref().and_then(hello::client);
        let (random, _) = hello.ok_or(Unread::Beginning)?;
        let server = records::handshake(&down.bytes);
        let Some(server) = server.as_deref().and_then(hello::server) else {
            return Ok(()); // the handshake failed
        };
        let secrets = keys.of(&random).ok_or(Unread::NoKeys)?;
        let open = |stream, end| {
            if server.tls13 {
                let suite = Suite::of_tls13(server.suite).ok_or(Unread::Cipher)?;
                let plain = records::open_tls13(stream, suite, secrets, end);
                return plain.ok_or(Unread::NoKeys);
            }
            let suite = Suite::of_tls12(server.suite).ok_or(Unread::Cipher)?;
            let randoms = [&random, &server.random];
            records::open_tls12(stream, suite, secrets, randoms, end).ok_or(Unread::NoKeys)
        };
        let (up, down): (Plain, Plain) = (open(up, UP)?, open(down, DOWN)?);
        let begins = up.taken_from(http2::PREFACE);
        if up.bytes()[begins..].starts_with(http2::PREFACE) {
            let frame = |way: usize| Frame { port: self.port, protocol: TCP, way: way as u8, ..Frame::default() };
            http2::read(&up, begins + http2::PREFACE.len(), frame(UP), sink);
            http2::read(&down, 0, frame(DOWN), sink);
        }
        if up.cut || down.cut {
            return Err(Unread::Damaged);
        }
        Ok(())
    }
}

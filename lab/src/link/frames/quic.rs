//! The frames of QUIC in the datagrams of a link: its packets are opened with the logged secrets (RFC 9000, 9001; version 2:
//! RFC 9369).

mod connection;
mod crypto;
mod frame;
#[cfg(test)]
pub mod made;
mod packet;

use std::collections::HashMap;

use super::keys::Keys;
use super::{Sight, Sink, Unread};
use crate::files::per_direction::{DOWN, UP};
use connection::{QuicConnection, Space};
use packet::{Form, KeyPhases, Long, Opened, PacketKeys, Short};

/// Of connection IDs (RFC 9000, section 17.2).
const LONGEST_ID: usize = 20;
/// A client that opens more connections than this has the rest left unread.
const MOST_CONNECTIONS: usize = 100_000;
/// Of connection IDs that are remembered, in all.
const MOST_IDS: usize = 1_000_000;
/// So many packets of a connection, and a tenth of those that could be read, may be unreadable without a word about it:
/// stateless resets, or a handshake's last packets.
const MAY_FAIL: u64 = 10;

/// All connections of a link.
pub struct Quic<'k> {
    keys: &'k Keys,
    connections: Vec<QuicConnection>,
    /// By the ID that packets of a way have as their destination.
    ids: [HashMap<Vec<u8>, usize>; 2],
    /// Lengths of these IDs: a bit each.
    lengths: [u32; 2],
    /// The latest connection of a client's port, for IDs of no length.
    ports: HashMap<u16, usize>,
    scratch: Vec<u8>,
}

impl<'k> Quic<'k> {
    pub fn new(keys: &'k Keys) -> Self {
        Self {
            keys,
            connections: vec![],
            ids: Default::default(),
            lengths: [0; 2],
            ports: HashMap::new(),
            scratch: vec![],
        }
    }

    /// Takes a datagram, in the order in which they came to the link.
    pub fn take(&mut self, sight: &Sight, sink: &mut Sink) {
        let mut rest = sight.payload;
        while let Some(first) = rest.first() {
            if first & 0x80 == 0 {
                if let Some((index, short)) = self.short(rest, sight) {
                    self.open_short(index, &short, sight, sink);
                }
                return;
            }
            let Some((long, after)) = Long::parse(rest) else {
                return;
            };
            rest = after;
            if let Some(index) = self.long(&long, sight) {
                self.open_long(index, &long, sight, sink);
            }
        }
    }

    /// Reports which connections could not be read.
    pub fn end(self, sink: &mut Sink) {
        for connection in self.connections {
            if let Some(why) = connection.unread {
                sink.unread(why, connection.port);
            } else if connection.failed > MAY_FAIL + connection.read / 10 {
                sink.unread(Unread::Damaged, connection.port);
            }
        }
    }

    /// The connection of a packet with a long header, which may be a new one.
    fn long(&mut self, long: &Long, sight: &Sight) -> Option<usize> {
        let by_id = self.ids[sight.way].get(long.destination).copied();
        let by_id = by_id.or_else(|| {
            let of_port = self.ports.get(&sight.port).copied()?;
            (long.destination.is_empty() && self.lengths[sight.way] & 1 == 1).then_some(of_port)
        });
        let index = match by_id {
            Some(index) => index,
            None if sight.way == UP && long.form == Form::Initial => self.connect(long, sight)?,
            None => return None,
        };
        if sight.way == UP {
            self.ports.insert(sight.port, index);
        }
        self.remember(1 - sight.way, long.source, index);
        Some(index)
    }

    fn connect(&mut self, long: &Long, sight: &Sight) -> Option<usize> {
        if self.connections.len() >= MOST_CONNECTIONS {
            return None;
        }
        self.connections.push(QuicConnection::new(sight.port, long.destination));
        let index = self.connections.len() - 1;
        self.remember(UP, long.destination, index);
        Some(index)
    }

    fn remember(&mut self, way: usize, id: &[u8], index: usize) {
        let ids = &mut self.ids[way];
        if id.len() > LONGEST_ID {
            return;
        }
        if !id.is_empty() && ids.len() < MOST_IDS {
            ids.entry(id.to_vec()).or_insert(index);
        }
        self.lengths[way] |= 1 << id.len();
    }

    /// The connection of a packet with a short header, whose ID has no length before it.
    fn short<'a>(&self, packet: &'a [u8], sight: &Sight) -> Option<(usize, Short<'a>)> {
        let lengths = (1..=LONGEST_ID).rev();
        let mut lengths = lengths.filter(|length| self.lengths[sight.way] >> length & 1 == 1);
        let by_id = lengths.find_map(|length| {
            let id = packet.get(1..1 + length)?;
            Some((*self.ids[sight.way].get(id)?, length))
        });
        let nameless = || Some((*self.ports.get(&sight.port)?, 0));
        let allowed = self.lengths[sight.way] & 1 == 1;
        let (index, length) = by_id.or_else(|| allowed.then(nameless).flatten())?;
        Some((index, Short { packet, number_at: 1 + length }))
    }

    fn open_long(&mut self, index: usize, long: &Long, sight: &Sight, sink: &mut Sink) {
        let connection = &mut self.connections[index];
        let space = match long.form {
            Form::Retry => return connection.retry(long, sight),
            Form::Initial => Space::Initial,
            Form::Handshake => Space::Handshake,
            Form::Early => Space::Application,
        };
        let largest = connection.largest[sight.way][space as usize];
        let secrets = connection.random.as_ref().and_then(|random| self.keys.of(random));
        let scratch = &mut self.scratch;
        let opened = match long.form {
            Form::Initial => {
                let keys = connection.initial_keys(long.version);
                keys[sight.way].open(long.packet, long.number_at, largest, scratch)
            }
            Form::Early if sight.way == UP => connection.open_early(secrets, long, largest, scratch),
            Form::Handshake => {
                let suite = connection.suite;
                let keys = &mut connection.handshake[sight.way];
                if let (None, Some(suite), Some(secrets)) = (&keys, suite, secrets) {
                    let secret = &secrets.handshake[sight.way];
                    *keys = PacketKeys::of(suite, secret, long.version);
                }
                let keys = keys.as_ref();
                keys.and_then(|keys| keys.open(long.packet, long.number_at, largest, scratch))
            }
            _ => None,
        };
        self.digest(index, opened, space, sight, sink);
    }

    fn open_short(&mut self, index: usize, short: &Short, sight: &Sight, sink: &mut Sink) {
        let connection = &mut self.connections[index];
        let version = connection.version();
        let secrets = connection.random.as_ref().and_then(|random| self.keys.of(random));
        let phases = &mut connection.application[sight.way];
        if let (None, Some(suite), Some(secrets)) = (&phases, connection.suite, secrets) {
            *phases = KeyPhases::of(suite, &secrets.application[sight.way], version);
        }
        let largest = connection.largest[sight.way][Space::Application as usize];
        let opened = phases.as_mut().and_then(|phases| phases.open(short, largest, &mut self.scratch));
        self.digest(index, opened, Space::Application, sight, sink);
    }

    /// What was in a packet; None: it could not be opened.
    fn digest(&mut self, index: usize, opened: Option<Opened>, space: Space, sight: &Sight, sink: &mut Sink) {
        let connection = &mut self.connections[index];
        let Some(opened) = opened else {
            connection.failed += 1;
            return;
        };
        connection.read += 1;
        let largest = &mut connection.largest[sight.way][space as usize];
        *largest = (*largest).max(Some(opened.number));
        connection.answered |= sight.way == DOWN;
        let plain = &self.scratch[opened.plain];
        let base = sight.frame(connection.port);
        let mut ids = vec![];
        frame::each(plain, |item| match item {
            frame::Content::Row(row) => sink.add(row.in_packet(&base)),
            frame::Content::Crypto(offset, data) if space != Space::Application => {
                connection.sent[sight.way][space as usize].add(offset, data);
                if sight.left_ns > 0 {
                    connection.delivered[sight.way][space as usize].add(offset, data);
                }
            }
            frame::Content::Crypto(..) => {}
            frame::Content::Id(id) => ids.push(id.to_vec()),
        });
        connection.hear(self.keys, sight, sink);
        for id in ids {
            self.remember(1 - sight.way, &id, index);
        }
    }
}

//! The frames of QUIC in the datagrams of a link: its packets are opened with the logged secrets (RFC 9000, 9001; version 2:
//! RFC 9369).

mod crypto;
mod frame;
mod packet;

use std::collections::HashMap;

use super::hello;
use super::keys::{Keys, Random, Secrets};
use super::suite::{Suite, initial_secrets};
use super::{Frame, Kind, Sight, Sink, Unread};
use crate::files::per_direction::{DOWN, UP};
use crypto::Crypto;
use packet::{Form, Long, Opened, PacketKeys, Phases, Short, Version};

/// Of connection IDs (RFC 9000, section 17.2).
const LONGEST_ID: usize = 20;
/// A client that opens more connections than this has the rest left unread.
const MOST_CONNECTIONS: usize = 100_000;
/// Of connection IDs that are remembered, in all.
const MOST_IDS: usize = 1_000_000;
/// So many packets of a connection, and a tenth of those that could be read, may be unreadable without a word about it:
/// stateless resets, or a handshake's last packets.
const MAY_FAIL: u64 = 10;

/// Packet number spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Initial,
    Handshake,
    Application,
}

/// All connections of a link.
pub struct Quic<'k> {
    keys: &'k Keys,
    connections: Vec<Connection>,
    /// By the ID that packets of a way have as their destination.
    ids: [HashMap<Vec<u8>, usize>; 2],
    /// Lengths of these IDs: a bit each.
    lengths: [u32; 2],
    /// The latest connection of a client's port, for IDs of no length.
    ports: HashMap<u16, usize>,
    scratch: Vec<u8>,
}

struct Connection {
    port: u16,
    /// The ID from which the first keys are made.
    first_id: Vec<u8>,
    initial: Option<(Version, [PacketKeys; 2])>,
    /// Whether the server has said something that could be read.
    answered: bool,
    random: Option<Random>,
    suite: Option<Suite>,
    /// Of the first two spaces and each way, as sent and as delivered.
    sent: [[Crypto; 2]; 2],
    delivered: [[Crypto; 2]; 2],
    /// Directions of which the transport parameters have been reported.
    reported: [bool; 2],
    early: Option<PacketKeys>,
    handshake: [Option<PacketKeys>; 2],
    application: [Option<Phases>; 2],
    /// The largest packet number so far, by way and space.
    largest: [[Option<u64>; 3]; 2],
    read: u64,
    failed: u64,
    /// Why its packets cannot be read, if that is known.
    unread: Option<Unread>,
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
        let known = self.ids[sight.way].get(long.destination).copied();
        let known = known.or_else(|| {
            let of_port = self.ports.get(&sight.port).copied()?;
            (long.destination.is_empty() && self.lengths[sight.way] & 1 == 1).then_some(of_port)
        });
        let index = match known {
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
        self.connections
            .push(Connection::new(sight.port, long.destination));
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
        Some((
            index,
            Short {
                packet,
                number_at: 1 + length,
            },
        ))
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
        let secrets = connection
            .random
            .as_ref()
            .and_then(|random| self.keys.of(random));
        let scratch = &mut self.scratch;
        let opened = match long.form {
            Form::Initial => {
                let keys = connection.initial_keys(long.version);
                keys[sight.way].open(long.packet, long.number_at, largest, scratch)
            }
            Form::Early if sight.way == UP => {
                connection.open_early(secrets, long, largest, scratch)
            }
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
        let secrets = connection
            .random
            .as_ref()
            .and_then(|random| self.keys.of(random));
        let phases = &mut connection.application[sight.way];
        if let (None, Some(suite), Some(secrets)) = (&phases, connection.suite, secrets) {
            *phases = Phases::of(suite, &secrets.application[sight.way], version);
        }
        let largest = connection.largest[sight.way][Space::Application as usize];
        let opened = phases
            .as_mut()
            .and_then(|phases| phases.open(short, largest, &mut self.scratch));
        self.digest(index, opened, Space::Application, sight, sink);
    }

    /// What was in a packet; None: it could not be opened.
    fn digest(
        &mut self,
        index: usize,
        opened: Option<Opened>,
        space: Space,
        sight: &Sight,
        sink: &mut Sink,
    ) {
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
        frame::each(plain, |found| match found {
            frame::Found::Row(row) => sink.add(row.in_packet(&base)),
            frame::Found::Crypto(offset, data) if space != Space::Application => {
                connection.sent[sight.way][space as usize].add(offset, data);
                if sight.left_ns > 0 {
                    connection.delivered[sight.way][space as usize].add(offset, data);
                }
            }
            frame::Found::Crypto(..) => {}
            frame::Found::Id(id) => ids.push(id.to_vec()),
        });
        connection.hear(self.keys, sight, sink);
        for id in ids {
            self.remember(1 - sight.way, &id, index);
        }
    }
}

impl Connection {
    fn new(port: u16, first_id: &[u8]) -> Self {
        Self {
            port,
            first_id: first_id.to_vec(),
            initial: None,
            answered: false,
            random: None,
            suite: None,
            sent: Default::default(),
            delivered: Default::default(),
            reported: [false; 2],
            early: None,
            handshake: [None, None],
            application: [None, None],
            largest: [[None; 3]; 2],
            read: 0,
            failed: 0,
            unread: None,
        }
    }

    /// As negotiated so far.
    fn version(&self) -> Version {
        self.initial
            .as_ref()
            .map_or(Version::One, |(version, _)| *version)
    }

    fn initial_keys(&mut self, version: Version) -> &[PacketKeys; 2] {
        let (known, keys) = self
            .initial
            .get_or_insert_with(|| (version, keys_of(version, &self.first_id)));
        if *known != version {
            (*known, *keys) = (version, keys_of(version, &self.first_id));
        }
        keys
    }

    /// The server has the client begin again, with another ID.
    fn retry(&mut self, long: &Long, sight: &Sight) {
        if sight.way == DOWN && !self.answered {
            self.first_id = long.source.to_vec();
            self.initial = None;
        }
    }

    /// The suite of early data is the earlier connection's: it is found by trying.
    fn open_early(
        &mut self,
        secrets: Option<&Secrets>,
        long: &Long,
        largest: Option<u64>,
        scratch: &mut Vec<u8>,
    ) -> Option<Opened> {
        if let Some(keys) = &self.early {
            return keys.open(long.packet, long.number_at, largest, scratch);
        }
        let secret = &secrets?.early;
        Suite::of_secret(secret.len()).iter().find_map(|&suite| {
            let keys = PacketKeys::of(suite, secret, long.version)?;
            let opened = keys.open(long.packet, long.number_at, largest, scratch)?;
            self.early = Some(keys);
            Some(opened)
        })
    }

    /// Looks at the handshake as far as it has come.
    fn hear(&mut self, keys: &Keys, sight: &Sight, sink: &mut Sink) {
        if self.random.is_none()
            && let Some((random, _)) = hello::client(self.sent[UP][0].known())
        {
            self.random = Some(random);
            if keys.of(&random).is_none() {
                self.unread = Some(Unread::NoKeys);
            }
        }
        if self.suite.is_none()
            && let Some(server) = hello::server(self.sent[DOWN][0].known())
        {
            self.suite = Suite::of_tls13(server.suite);
            if self.suite.is_none() {
                self.unread = Some(Unread::Cipher);
            }
        }
        if self.reported[sight.way] {
            return;
        }
        let parameters = match sight.way {
            UP => hello::client(self.delivered[UP][0].known()).and_then(|(_, found)| found),
            _ => hello::server_parameters(self.delivered[DOWN][1].known()),
        };
        if let Some(parameters) = parameters {
            self.reported[sight.way] = true;
            let base = sight.frame(self.port);
            frame::parameters(parameters, |id, value| {
                sink.add(Frame {
                    kind: Kind::Setting,
                    id,
                    value,
                    ..base
                });
            });
        }
    }
}

fn keys_of(version: Version, id: &[u8]) -> [PacketKeys; 2] {
    initial_secrets(version.salt(), id).map(|secret| {
        PacketKeys::of(Suite::Aes128, &secret, version).expect("a secret of the suite's length")
    })
}

/// Packets that tests make.
#[cfg(test)]
pub mod made {
    use super::*;
    use crate::link::frames::made::{SUITE, secret};

    const FIRST_ID: &[u8] = b"first id";
    /// Of the client and of the server.
    const IDS: [&[u8]; 2] = [b"client", b"server!"];

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Level {
        Initial,
        Handshake,
        Application,
    }

    #[derive(Default)]
    pub struct Made {
        number: u32,
    }

    impl Made {
        pub fn packet(&mut self, level: Level, way: usize, frames: &[u8]) -> Vec<u8> {
            self.number += 1;
            let mut plain = frames.to_vec();
            plain.resize(plain.len().max(20), 0);
            let to = if level == Level::Initial && way == UP {
                FIRST_ID
            } else {
                IDS[1 - way]
            };
            let of = |byte| PacketKeys::of(SUITE, &secret(byte + way as u8), Version::One).unwrap();
            let keys = match level {
                Level::Initial => {
                    let [client, server] = keys_of(Version::One, FIRST_ID);
                    if way == UP { client } else { server }
                }
                Level::Handshake => of(1),
                Level::Application => of(3),
            };
            let head = match level {
                Level::Application => [&[0x43][..], to].concat(),
                _ => {
                    let first = if level == Level::Initial { 0xc3 } else { 0xe3 };
                    let token: &[u8] = if level == Level::Initial { &[0] } else { &[] };
                    let length = (0x4000 | (plain.len() + 4 + 16) as u16).to_be_bytes();
                    let ids =
                        [&[to.len() as u8][..], to, &[IDS[way].len() as u8], IDS[way]].concat();
                    [&[first, 0, 0, 0, 1][..], &ids, token, &length].concat()
                }
            };
            keys.seal(&head, self.number, &plain)
        }
    }
}

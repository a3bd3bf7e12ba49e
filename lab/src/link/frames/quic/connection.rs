//! A connection of QUIC: its keys and its handshake.

use super::crypto::Crypto;
use super::frame;
use super::packet::{KeyPhases, Long, Opened, PacketKeys, Version};
use crate::files::per_direction::{DOWN, UP};
use crate::link::frames::hello;
use crate::link::frames::keys::{Keys, Random, Secrets};
use crate::link::frames::suite::{Suite, initial_secrets};
use crate::link::frames::{Frame, Kind, Sight, Sink, Unread};

/// Packet number spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Initial,
    Handshake,
    Application,
}

/// One connection, as far as its handshake has come.
pub struct QuicConnection {
    pub port: u16,
    /// The ID from which the first keys are made.
    first_id: Vec<u8>,
    initial: Option<(Version, [PacketKeys; 2])>,
    /// Whether the server has said something that could be read.
    pub answered: bool,
    pub random: Option<Random>,
    pub suite: Option<Suite>,
    /// Of the first two spaces and each way, as sent and as delivered.
    pub sent: [[Crypto; 2]; 2],
    pub delivered: [[Crypto; 2]; 2],
    /// Directions of which the transport parameters have been reported.
    reported: [bool; 2],
    early: Option<PacketKeys>,
    pub handshake: [Option<PacketKeys>; 2],
    pub application: [Option<KeyPhases>; 2],
    /// The largest packet number so far, by way and space.
    pub largest: [[Option<u64>; 3]; 2],
    pub read: u64,
    pub failed: u64,
    /// Why its packets cannot be read, if that is known.
    pub unread: Option<Unread>,
}

impl QuicConnection {
    pub fn new(port: u16, first_id: &[u8]) -> Self {
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
    pub fn version(&self) -> Version {
        self.initial.as_ref().map_or(Version::One, |(version, _)| *version)
    }

    pub fn initial_keys(&mut self, version: Version) -> &[PacketKeys; 2] {
        let (used, keys) = self.initial.get_or_insert_with(|| (version, keys_of(version, &self.first_id)));
        if *used != version {
            (*used, *keys) = (version, keys_of(version, &self.first_id));
        }
        keys
    }

    /// The server has the client begin again, with another ID.
    pub fn retry(&mut self, long: &Long, sight: &Sight) {
        if sight.way == DOWN && !self.answered {
            self.first_id = long.source.to_vec();
            self.initial = None;
        }
    }

    /// The suite of early data is the earlier connection's: it is found by trying.
    pub fn open_early(
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
    pub fn hear(&mut self, keys: &Keys, sight: &Sight, sink: &mut Sink) {
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
            UP => hello::client(self.delivered[UP][0].known()).and_then(|(_, parameters)| parameters),
            _ => hello::server_parameters(self.delivered[DOWN][1].known()),
        };
        if let Some(parameters) = parameters {
            self.reported[sight.way] = true;
            let base = sight.frame(self.port);
            frame::parameters(parameters, |id, value| {
                sink.add(Frame { kind: Kind::Setting, id, value, ..base });
            });
        }
    }
}

/// The keys of the first packets, which follow from a connection ID.
pub fn keys_of(version: Version, id: &[u8]) -> [PacketKeys; 2] {
    initial_secrets(version.salt(), id)
        .map(|secret| PacketKeys::of(Suite::Aes128, &secret, version).expect("a secret of the suite's length"))
}

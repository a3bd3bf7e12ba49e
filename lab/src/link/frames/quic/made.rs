//! Packets that tests make.

use super::connection::keys_of;
use super::packet::{PacketKeys, Version};
use crate::files::per_direction::UP;
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
        let to = if level == Level::Initial && way == UP { FIRST_ID } else { IDS[1 - way] };
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
                let ids = [&[to.len() as u8][..], to, &[IDS[way].len() as u8], IDS[way]].concat();
                [&[first, 0, 0, 0, 1][..], &ids, token, &length].concat()
            }
        };
        keys.seal(&head, self.number, &plain)
    }
}

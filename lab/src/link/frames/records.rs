//! What one end said within TLS: the records of its stream, opened with the logged secrets (RFC 8446, section 5; RFC 5246,
//! section 6.2).

use std::collections::VecDeque;

use super::hello;
use super::keys::{Random, Secrets};
use super::stream::ByteStream;
use super::suite::{Key, Suite};

const HEAD: usize = 5;
const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;
const KEY_UPDATE: u8 = 24;
/// A record holds 16 kB and what TLS 1.2 lets encryption add.
const LONGEST: usize = (1 << 14) + 2048;
/// Of the first messages, which are not encrypted.
const LONGEST_HANDSHAKE: usize = 1 << 17;

/// The client's data and the server's.
pub const CLIENT: usize = 0;

/// Data that was sent within TLS, and the stream that it was in.
#[derive(Debug)]
pub struct Plain {
    stream: ByteStream,
    /// Bytes of the stream that are plain by now: they have been moved to its front.
    length: usize,
    pieces: Vec<Piece>,
    /// Whether a record could not be opened: then data end there.
    pub cut: bool,
}

/// The data of a record.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Its first byte's place among the data, and in the stream.
    plain: usize,
    place: usize,
    /// The end of the record in the stream.
    end: usize,
    /// Sent before the handshake was over.
    early: bool,
}

impl Plain {
    fn new(stream: ByteStream) -> Self {
        Self { stream, length: 0, pieces: vec![], cut: false }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.stream.bytes[..self.length]
    }

    /// When this byte first came to the link.
    pub fn came_ns(&self, plain: usize) -> u64 {
        self.piece(plain).map_or(0, |piece| self.stream.came_ns(piece.place + (plain - piece.plain)))
    }

    /// When the receiver could read this byte, which takes the whole record; 0: never.
    pub fn readable_ns(&self, plain: usize) -> u64 {
        self.piece(plain).map_or(0, |piece| self.stream.delivered_ns(piece.end))
    }

    /// Where the data begin that the server took: early data that it refused are sent again, from their first byte on.
    pub fn taken_from(&self, beginning: &[u8]) -> usize {
        let later = self.pieces.iter().find(|piece| !piece.early);
        later.map(|piece| piece.plain).filter(|&plain| self.bytes()[plain..].starts_with(beginning)).unwrap_or(0)
    }

    fn piece(&self, plain: usize) -> Option<&Piece> {
        let after = self.pieces.partition_point(|piece| piece.plain <= plain);
        Some(&self.pieces[after.checked_sub(1)?])
    }

    /// Data of a record, plain in the stream from this place on: they move to the others.
    fn add(&mut self, place: usize, length: usize, end: usize, early: bool) {
        if length == 0 {
            return;
        }
        self.pieces.push(Piece { plain: self.length, place, end, early });
        let bytes = &mut self.stream.bytes;
        bytes.copy_within(place..place + length, self.length);
        self.length += length;
    }
}

/// The messages of a handshake with which a stream begins, as far as they are not encrypted; None if it does not begin so.
pub fn handshake(stream: &[u8]) -> Option<Vec<u8>> {
    let mut said = vec![];
    let mut records = Records { place: 0 };
    while let Some(record) = records.next(stream) {
        let body = &stream[record.body];
        match record.kind {
            HANDSHAKE if said.len() + body.len() <= LONGEST_HANDSHAKE => said.extend(body),
            CHANGE_CIPHER_SPEC => {}
            _ => break,
        }
    }
    (!said.is_empty()).then_some(said)
}

struct TlsRecord {
    kind: u8,
    body: std::ops::Range<usize>,
}

/// Those that are whole.
struct Records {
    place: usize,
}

impl Records {
    fn next(&mut self, stream: &[u8]) -> Option<TlsRecord> {
        let head: &[u8; HEAD] = stream.get(self.place..)?.first_chunk()?;
        let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
        let body = self.place + HEAD..self.place + HEAD + length;
        if length > LONGEST || head[1] != 3 || body.end > stream.len() {
            return None;
        }
        self.place = body.end;
        Some(TlsRecord { kind: head[0], body })
    }
}

/// A key of TLS 1.3 in force, and the number of the record that it opens next.
struct Epoch {
    suite: Suite,
    secret: Vec<u8>,
    key: Key,
    number: u64,
    early: bool,
}

impl Epoch {
    fn new(suite: Suite, secret: &[u8], early: bool) -> Self {
        Self { suite, key: suite.key(secret, "key", "iv"), secret: secret.to_vec(), number: 0, early }
    }

    /// After a KeyUpdate (RFC 8446, section 7.2).
    fn next(&self) -> Self {
        let secret = self.suite.expand(&self.secret, "traffic upd", self.secret.len());
        Self::new(self.suite, &secret, false)
    }

    /// Returns the length of what is plain, its type in the last byte.
    fn open(&mut self, head: &[u8], sealed: &mut [u8]) -> Option<usize> {
        let length = self.key.open(self.key.nonce(self.number), head, sealed)?;
        self.number += 1;
        let padding = sealed[..length].iter().rev().take_while(|&&byte| byte == 0);
        Some(length - padding.count())
    }
}

/// Opens the records of one end of a connection of TLS 1.3; None where its secrets were not logged, or are for another suite.
pub fn open_tls13(stream: ByteStream, suite: Suite, secrets: &Secrets, end: usize) -> Option<Plain> {
    let fits = |secret: &&Vec<u8>| Suite::of_secret(secret.len()).contains(&suite);
    let (handshake, application) = (&secrets.handshake[end], &secrets.application[end]);
    let last = Some(application).filter(|secret| !secret.is_empty()).filter(fits)?;
    let mut epochs = VecDeque::new();
    if end == CLIENT && !secrets.early.is_empty() && fits(&&secrets.early) {
        epochs.push_back(Epoch::new(suite, &secrets.early, true));
    }
    if !handshake.is_empty() && fits(&handshake) {
        epochs.push_back(Epoch::new(suite, handshake, false));
    }
    epochs.push_back(Epoch::new(suite, last, false));
    let mut plain = Plain::new(stream);
    let mut records = Records { place: 0 };
    let mut messages = vec![];
    while let Some(TlsRecord { kind, body }) = records.next(&plain.stream.bytes) {
        if kind != APPLICATION_DATA {
            continue;
        }
        let Some(length) = open_record(&mut epochs, &mut plain.stream.bytes, body.clone()) else {
            // Early data of another suite, before the handshake; after it nothing can be read any more.
            plain.cut = epochs.len() == 1;
            if plain.cut {
                break;
            }
            continue;
        };
        let Some(length) = length.checked_sub(1) else {
            continue;
        };
        match plain.stream.bytes[body.start + length] {
            APPLICATION_DATA => plain.add(body.start, length, body.end, epochs[0].early),
            HANDSHAKE if epochs.len() == 1 => {
                messages.extend_from_slice(&plain.stream.bytes[body.start..body.start + length]);
                if updates(&mut messages) {
                    epochs[0] = epochs[0].next();
                }
            }
            _ => {}
        }
    }
    Some(plain)
}

/// With the first key that opens it, which stays the first one. Returns the length of what is plain.
fn open_record(epochs: &mut VecDeque<Epoch>, stream: &mut [u8], body: std::ops::Range<usize>) -> Option<usize> {
    let (before, rest) = stream.split_at_mut(body.start);
    let head = &before[before.len() - HEAD..];
    let sealed = &mut rest[..body.len()];
    if let [last] = epochs.make_contiguous() {
        return last.open(head, sealed);
    }
    let mut copy = sealed.to_vec();
    for index in 0..epochs.len() {
        if let Some(length) = epochs[index].open(head, &mut copy) {
            sealed.copy_from_slice(&copy);
            epochs.drain(..index);
            return Some(length);
        }
        copy.copy_from_slice(sealed);
    }
    None
}

/// Whether a KeyUpdate is among the messages so far, of which the last may not be whole; no record goes on after it.
fn updates(messages: &mut Vec<u8>) -> bool {
    let whole = hello::messages(messages).map(|(kind, body)| (kind, body.len() + 4));
    let (mut updates, mut length) = (false, 0);
    for (kind, of_message) in whole {
        updates |= kind == KEY_UPDATE;
        length += of_message;
    }
    messages.drain(..length);
    if messages.len() > LONGEST_HANDSHAKE {
        messages.clear();
    }
    updates
}

/// Opens the records of one end of a connection of TLS 1.2; None where its secret was not logged.
pub fn open_tls12(
    stream: ByteStream,
    suite: Suite,
    secrets: &Secrets,
    randoms: [&Random; 2],
    end: usize,
) -> Option<Plain> {
    if secrets.master.is_empty() {
        return None;
    }
    let keys = suite.key_block(&secrets.master, randoms[0], randoms[1]);
    let key = &keys[end];
    // GCM's nonces are in the records.
    let explicit = if suite == Suite::Chacha20 { 0 } else { 8 };
    let overhead = explicit + super::suite::TAG;
    let (mut plain, mut records) = (Plain::new(stream), Records { place: 0 });
    let (mut encrypted, mut number) = (false, 0u64);
    while let Some(TlsRecord { kind, body }) = records.next(&plain.stream.bytes) {
        if !encrypted {
            encrypted = kind == CHANGE_CIPHER_SPEC;
            continue;
        }
        let Some(length) = body.len().checked_sub(overhead) else {
            plain.cut = true;
            break;
        };
        let bytes = &mut plain.stream.bytes;
        let mut head = number.to_be_bytes().to_vec();
        head.extend_from_slice(&bytes[body.start - HEAD..body.start - 2]);
        head.extend_from_slice(&(length as u16).to_be_bytes());
        let mut nonce = key.nonce(number);
        if explicit > 0 {
            nonce[4..].copy_from_slice(&bytes[body.start..body.start + explicit]);
        }
        let place = body.start + explicit;
        if key.open(nonce, &head, &mut bytes[place..body.end]).is_none() {
            plain.cut = true;
            break;
        }
        number += 1;
        if kind == APPLICATION_DATA {
            plain.add(place, length, body.end, false);
        }
    }
    Some(plain)
}

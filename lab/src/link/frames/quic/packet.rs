//! Packets of QUIC: their headers, their protection, their numbers (RFC 9000, section 17; RFC 9001, section 5).

use std::ops::Range;

use ring::aead::quic::HeaderProtectionKey;

use crate::link::frames::bytes::Bytes;
use crate::link::frames::suite::{Key, Suite, TAG};

const LONG: u8 = 0x80;
const KEY_PHASE: u8 = 0x04;
/// Bytes that the protection of a header is made from.
const SAMPLE: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

impl Version {
    fn of(number: u64) -> Option<Self> {
        match number {
            0x0000_0001 => Some(Self::One),
            0x6b33_43cf => Some(Self::Two),
            _ => None,
        }
    }

    pub fn salt(self) -> &'static [u8] {
        match self {
            Self::One => &[
                0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc,
                0xbb, 0x7f, 0x0a,
            ],
            Self::Two => &[
                0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9,
                0xbd, 0x2e, 0xd9,
            ],
        }
    }

    fn label(self, what: &str) -> String {
        match self {
            Self::One => format!("quic {what}"),
            Self::Two => format!("quicv2 {what}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Initial,
    Early,
    Handshake,
    Retry,
}

/// A packet with a long header.
#[derive(Debug)]
pub struct Long<'a> {
    pub form: Form,
    pub version: Version,
    pub destination: &'a [u8],
    pub source: &'a [u8],
    /// Header included, without what follows in the datagram.
    pub packet: &'a [u8],
    /// Where its number is.
    pub number_at: usize,
}

impl<'a> Long<'a> {
    /// The first packet of a datagram, and the rest.
    pub fn parse(datagram: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut bytes = Bytes::new(datagram);
        let first = bytes.byte()?;
        let version = Version::of(bytes.number(4)?)?;
        let (destination, source) = (bytes.counted(1)?, bytes.counted(1)?);
        let turned = if version == Version::Two { 3 } else { 0 };
        let form = match ((first >> 4 & 3) + turned) % 4 {
            0 => Form::Initial,
            1 => Form::Early,
            2 => Form::Handshake,
            _ => Form::Retry,
        };
        if form == Form::Initial {
            bytes.counted_varint()?; // token
        }
        let length = match form {
            Form::Retry => bytes.rest().len(),
            _ => usize::try_from(bytes.varint()?).ok()?,
        };
        let number_at = datagram.len() - bytes.rest().len();
        bytes.take(length)?;
        let (packet, rest) = datagram.split_at(number_at + length);
        let long = Self { form, version, destination, source, packet, number_at };
        Some((long, rest))
    }
}

/// A packet with a short header, whose connection has been found.
pub struct Short<'a> {
    pub packet: &'a [u8],
    pub number_at: usize,
}

/// A packet that was opened: its number, and where its frames are in the scratch space.
pub struct Opened {
    pub number: u64,
    pub plain: Range<usize>,
}

/// The keys of a way at one level of the handshake.
pub struct PacketKeys {
    key: Key,
    header: HeaderProtectionKey,
}

/// A packet without the protection of its header.
struct Bare {
    number: u64,
    /// Of the header.
    length: usize,
    key_phase: bool,
}

impl PacketKeys {
    /// None where the secret is not one of the suite.
    pub fn of(suite: Suite, secret: &[u8], version: Version) -> Option<Self> {
        if secret.is_empty() || !Suite::of_secret(secret.len()).contains(&suite) {
            return None;
        }
        Some(Self {
            key: suite.key(secret, &version.label("key"), &version.label("iv")),
            header: suite.header_key(secret, &version.label("hp")),
        })
    }

    pub fn open(&self, packet: &[u8], number_at: usize, largest: Option<u64>, scratch: &mut Vec<u8>) -> Option<Opened> {
        let bare = bare(&self.header, packet, number_at, largest, scratch)?;
        open(&self.key, &bare, scratch)
    }
}

/// The keys of a way after the handshake, which both ends may update (RFC 9001, section 6).
pub struct KeyPhases {
    suite: Suite,
    version: Version,
    header: HeaderProtectionKey,
    secret: Vec<u8>,
    key: Key,
    /// What packets of these keys have in their headers.
    phase: bool,
    before: Option<Key>,
}

impl KeyPhases {
    /// None where the secret is not one of the suite.
    pub fn of(suite: Suite, secret: &[u8], version: Version) -> Option<Self> {
        let PacketKeys { key, header } = PacketKeys::of(suite, secret, version)?;
        Some(Self { suite, version, header, secret: secret.to_vec(), key, phase: false, before: None })
    }

    pub fn open(&mut self, short: &Short, largest: Option<u64>, scratch: &mut Vec<u8>) -> Option<Opened> {
        let mut strip = || bare(&self.header, short.packet, short.number_at, largest, scratch);
        let bare = strip()?;
        if bare.key_phase == self.phase {
            return open(&self.key, &bare, scratch);
        }
        let secret = self.suite.expand(&self.secret, &self.version.label("ku"), self.secret.len());
        let next = self.suite.key(&secret, &self.version.label("key"), &self.version.label("iv"));
        let opened = open(&next, &bare, scratch);
        if opened.is_some() {
            self.before = Some(std::mem::replace(&mut self.key, next));
            (self.secret, self.phase) = (secret, !self.phase);
            return opened;
        }
        let before = self.before.as_ref()?;
        let bare = self::bare(&self.header, short.packet, short.number_at, largest, scratch)?;
        open(before, &bare, scratch)
    }
}

#[cfg(test)]
impl PacketKeys {
    /// A packet with a number of four bytes, which comes after this head; its length is in the head already.
    pub fn seal(&self, head: &[u8], number: u32, plain: &[u8]) -> Vec<u8> {
        let head = [head, &number.to_be_bytes()].concat();
        let sealed = self.key.seal(self.key.nonce(number.into()), &head, plain);
        let mut packet = [&head[..], &sealed].concat();
        let number_at = head.len() - 4;
        let mask = self.header.new_mask(&packet[number_at + 4..][..SAMPLE]).unwrap();
        packet[0] ^= mask[0] & if packet[0] & LONG == 0 { 0x1f } else { 0x0f };
        for (byte, mask) in packet[number_at..number_at + 4].iter_mut().zip(&mask[1..]) {
            *byte ^= mask;
        }
        packet
    }
}

/// Copies the packet to the scratch space and takes off the protection of its header.
fn bare(
    key: &HeaderProtectionKey,
    packet: &[u8],
    number_at: usize,
    largest: Option<u64>,
    scratch: &mut Vec<u8>,
) -> Option<Bare> {
    let sample = packet.get(number_at + 4..)?.get(..SAMPLE)?;
    let mask = key.new_mask(sample).ok()?;
    scratch.clear();
    scratch.extend_from_slice(packet);
    let hidden = if packet[0] & LONG == 0 { 0x1f } else { 0x0f };
    scratch[0] ^= mask[0] & hidden;
    let bytes = usize::from(scratch[0] & 3) + 1;
    let mut cut = 0;
    for (byte, mask) in scratch[number_at..number_at + bytes].iter_mut().zip(&mask[1..]) {
        *byte ^= mask;
        cut = cut << 8 | u64::from(*byte);
    }
    Some(Bare {
        number: number(cut, bytes, largest),
        length: number_at + bytes,
        key_phase: scratch[0] & KEY_PHASE != 0,
    })
}

fn open(key: &Key, bare: &Bare, scratch: &mut [u8]) -> Option<Opened> {
    let (head, sealed) = scratch.split_at_mut_checked(bare.length)?;
    if sealed.len() < TAG {
        return None;
    }
    let length = key.open(key.nonce(bare.number), head, sealed)?;
    Some(Opened { number: bare.number, plain: bare.length..bare.length + length })
}

/// The number nearest to the one after the largest so far (RFC 9000, appendix A.3).
fn number(cut: u64, bytes: usize, largest: Option<u64>) -> u64 {
    let expected = largest.map_or(0, |largest| largest + 1);
    let window = 1 << (8 * bytes);
    let candidate = expected & !(window - 1) | cut;
    if candidate + window / 2 <= expected && candidate < (1 << 62) - window {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_nearest_one() {
        assert_eq!(number(0x9b32, 2, Some(0xa82f_30ea)), 0xa82f_9b32);
        assert_eq!(number(0, 1, None), 0);
        assert_eq!(number(0x00, 1, Some(0xff)), 0x100);
        assert_eq!(number(0xff, 1, Some(0x100)), 0xff);
    }

    fn hex(text: &str) -> Vec<u8> {
        crate::link::frames::keys::hexadecimal(text.as_bytes()).unwrap()
    }

    /// RFC 9001, appendix A.1 and A.3.
    #[test]
    fn the_servers_first_packet_in_the_specification_is_opened() {
        let packet = hex(
            "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee",
        );
        let secrets = crate::link::frames::suite::initial_secrets(Version::One.salt(), &hex("8394c8f03e515708"));
        let client = "c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea";
        assert_eq!(secrets[0], hex(client));
        let keys = PacketKeys::of(Suite::Aes128, &secrets[1], Version::One).unwrap();
        let (long, rest) = Long::parse(&packet).unwrap();
        assert_eq!((long.form, rest.len()), (Form::Initial, 0));
        assert_eq!(long.source, hex("f067a5502a4262b5"));
        let mut scratch = vec![];
        let opened = keys.open(long.packet, long.number_at, None, &mut scratch).unwrap();
        assert_eq!(opened.number, 1);
        // An ACK, and a ServerHello in CRYPTO.
        assert!(scratch[opened.plain].starts_with(&hex("02000000000600405a020000560303")));
    }

    /// RFC 9001, appendix A.5.
    #[test]
    fn the_packet_with_a_short_header_in_the_specification_is_opened() {
        let secret = hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b");
        let mut phases = KeyPhases::of(Suite::Chacha20, &secret, Version::One).unwrap();
        let packet = hex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb");
        let (short, mut scratch) = (Short { packet: &packet, number_at: 1 }, vec![]);
        let opened = phases.open(&short, Some(654_360_563), &mut scratch).unwrap();
        assert_eq!((opened.number, &scratch[opened.plain]), (654_360_564, &[1][..]));
    }
}

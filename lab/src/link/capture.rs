//! A link's packets, whole, as its end `a` saw them: a capture (pcapng, draft-ietf-opsawg-pcapng) that Wireshark opens,
//! with the keys of TLS, if a program logged them.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Result;

use crate::files::atomic_file::write_whole;
use crate::link::frames::keys;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const SECRETS: u32 = 10;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Each packet begins with IP's header.
const RAW: u16 = 101;
const TLS_KEYS: u32 = 0x544c_534b;
const COMMENT: u16 = 1;
const NAME: u16 = 2;
const FLAGS: u16 = 2;
const RESOLUTION: u16 = 9;
/// Decimal digits of a second.
const NANOSECONDS: u8 = 9;

/// A packet that was seen.
pub struct Seen<'a> {
    pub at_ns: u64,
    pub inbound: bool,
    pub ip: &'a [u8],
    /// What became of it, if it was not delivered.
    pub comment: Option<&'static str>,
}

/// Writes the capture of a link, its packets in the order of time.
pub fn save(dir: &Path, link: &str, seen: &[Seen]) -> Result<()> {
    // Programs that log none leave no file.
    let keys = keys::contents(dir).unwrap_or_default();
    write_whole(&dir.join(format!("capture-{link}.pcapng")), |file| write(file, link, &keys, seen))
}

fn write(file: impl Write, link: &str, keys: &[u8], seen: &[Seen]) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    block(&mut file, SECTION, &section())?;
    block(&mut file, INTERFACE, &interface(link))?;
    if !keys.is_empty() {
        block(&mut file, SECRETS, &secrets(keys))?;
    }
    for packet in seen {
        block(&mut file, PACKET, &packet.body())?;
    }
    file.flush()
}

/// With its type before it, and its length on both sides.
fn block(file: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    file.write_all(&kind.to_le_bytes())?;
    file.write_all(&length)?;
    file.write_all(body)?;
    file.write_all(&length)
}

fn section() -> Vec<u8> {
    let mut body = BYTE_ORDER.to_le_bytes().to_vec();
    body.extend([1, 0, 0, 0]); // version 1.0
    body.extend(u64::MAX.to_le_bytes()); // of a length that is not told
    body
}

fn interface(link: &str) -> Vec<u8> {
    let mut body = RAW.to_le_bytes().to_vec();
    body.extend([0; 6]); // packets are not cut
    option(&mut body, NAME, link.as_bytes());
    option(&mut body, RESOLUTION, &[NANOSECONDS]);
    body.extend([0; 4]);
    body
}

fn secrets(keys: &[u8]) -> Vec<u8> {
    let mut body = TLS_KEYS.to_le_bytes().to_vec();
    body.extend((keys.len() as u32).to_le_bytes());
    padded(&mut body, keys);
    body
}

impl Seen<'_> {
    fn body(&self) -> Vec<u8> {
        let length = (self.ip.len() as u32).to_le_bytes();
        let mut body = vec![0; 4]; // the interface
        body.extend(((self.at_ns >> 32) as u32).to_le_bytes());
        body.extend((self.at_ns as u32).to_le_bytes());
        body.extend(length);
        body.extend(length);
        padded(&mut body, self.ip);
        if let Some(comment) = self.comment {
            option(&mut body, COMMENT, comment.as_bytes());
        }
        let direction: u32 = if self.inbound { 1 } else { 2 };
        option(&mut body, FLAGS, &direction.to_le_bytes());
        body.extend([0; 4]);
        body
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    padded(body, value);
}

/// To a multiple of four bytes.
fn padded(body: &mut Vec<u8>, value: &[u8]) {
    body.extend(value);
    body.resize(body.len() + (4 - value.len() % 4) % 4, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types and bodies of the blocks of a file, whose lengths must agree on both sides.
    fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
        let number = |at: &[u8]| u32::from_le_bytes(at[..4].try_into().unwrap());
        let mut found = vec![];
        while !file.is_empty() {
            let length = number(&file[4..]) as usize;
            assert_eq!(number(&file[length - 4..]) as usize, length);
            assert_eq!(length % 4, 0);
            found.push((number(file), &file[8..length - 4]));
            file = &file[length..];
        }
        found
    }

    #[test]
    fn a_capture_has_keys_before_packets_and_says_what_was_lost() {
        let seen = |at_ns, inbound, ip, comment| Seen { at_ns, inbound, ip, comment };
        let packets = [
            seen(5_000_000_007, false, &[1, 2, 3, 4, 5][..], Some("lost")),
            seen(5_000_000_009, true, &[6, 7, 8, 9][..], None),
        ];
        let mut file = vec![];
        write(&mut file, "access", b"keys!", &packets).unwrap();
        let found = blocks(&file);
        let kinds: Vec<u32> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION, INTERFACE, SECRETS, PACKET, PACKET]);
        let head = [0, 0, 0, 0, 1, 0, 0, 0, 7, 0xf2, 5, 0x2a, 5, 0, 0, 0, 5, 0, 0, 0];
        let options = [1, 0, 4, 0, b'l', b'o', b's', b't', 2, 0, 4, 0, 2, 0, 0, 0];
        let whole = [&head[..], &[1, 2, 3, 4, 5, 0, 0, 0], &options, &[0; 4]].concat();
        assert_eq!(found[3].1, whole);
        assert_eq!(found[4].1[26], 4, "the flags' length: no comment before");
    }
}

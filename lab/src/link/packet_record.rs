//! A record of each packet that came to a link, in the order of arrival: as many as `"packets"` in trial.json asks for,
//! and the packets themselves, if `"capture"` or `"frames"` does (docs/contracts/trial.md).

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use h123_link::{Decision, Fate};

use crate::files::atomic_file::write_whole;
use crate::files::per_direction::UP;
use crate::link::capture::{self, Seen};
use crate::link::frames::keys::Keys;
use crate::link::frames::{Frames, Sight};
use crate::link::packet::{Headers, ecn, headers};

/// Room for so many is made before the first one comes: then no packet waits for memory.
const PREPARED: usize = 250_000;
/// Bytes of the packets whose frames are read.
const READ: usize = 64 << 20;
/// Whole packets are kept in pieces of memory of this size: packets would wait too long for a large one.
const PIECE: usize = 128 << 10;

/// What is kept of the packets of a course.
#[derive(Clone, Copy, Default)]
pub struct Keep {
    /// So many records.
    pub most: usize,
    /// Whether whole packets are written too.
    pub capture: bool,
    /// Whether the frames in them are read.
    pub frames: bool,
}

impl Keep {
    /// Bytes of whole packets.
    fn room(self) -> usize {
        match (self.capture, self.frames) {
            (true, _) => usize::MAX,
            (false, true) => READ,
            (false, false) => 0,
        }
    }
}

/// What arrived and left, in memory until the trial ends: no disk is waited for while packets are.
pub struct Packets {
    keep: Keep,
    records: Vec<Record>,
    /// The packets of the first records.
    whole: Whole,
    /// Packets that came when there was no more room.
    left_out: u64,
}

struct Record {
    at_ns: u64,
    /// 0: it never left.
    left_ns: u64,
    headers: Headers,
    bytes: u16,
    way: u8,
    fate: u8,
    /// The ECN field as it arrived, 4 if the link's queue marked it, and 8 times the field as it left.
    ecn: u8,
}

impl Packets {
    /// Room for that many.
    pub fn new(keep: Keep) -> Self {
        Self {
            keep,
            records: Vec::with_capacity(keep.most.min(PREPARED)),
            whole: Whole::with_room(keep.room()),
            left_out: 0,
        }
    }

    /// Notes an arrival; returns the record's place, if there was room for it.
    pub fn came(&mut self, at_ns: u64, way: usize, ip: &[u8]) -> Option<usize> {
        if self.records.len() >= self.keep.most {
            self.left_out += 1;
            return None;
        }
        self.records.push(Record {
            at_ns,
            left_ns: 0,
            headers: headers(ip),
            bytes: ip.len() as u16,
            way: way as u8,
            fate: DELIVERED,
            ecn: ecn(ip).bits(),
        });
        self.whole.add(ip);
        Some(self.records.len() - 1)
    }

    /// Notes what became of the packet of a record.
    pub fn decided(&mut self, place: usize, decision: Decision) {
        let record = &mut self.records[place];
        record.fate = code(decision.fate);
        record.ecn |= u8::from(decision.marked) * MARKED;
        if let Fate::Deliver { .. } = decision.fate {
            record.ecn |= decision.ecn.bits() << LEFT_ECN;
        }
    }

    /// Notes when the packet of a record left the link.
    pub fn left(&mut self, place: usize, at_ns: u64) {
        self.records[place].left_ns = at_ns;
    }

    /// When the packets of one direction arrived.
    pub fn arrivals(&self, way: usize) -> impl Iterator<Item = u64> {
        let of_way = self.records.iter().filter(move |r| usize::from(r.way) == way);
        of_way.map(|r| r.at_ns)
    }

    /// Writes the files of a link; returns how many packets they lack.
    pub fn save(&self, dir: &Path, link: &str) -> Result<u64> {
        let name = format!("packets-{link}.bin");
        write_whole(&dir.join(&name), |file| self.write(file))?;
        if self.keep.capture {
            capture::save(dir, link, &self.seen())?;
        }
        Ok(self.left_out)
    }

    /// Reads the frames in the packets and writes the file of them; None where they were not asked for.
    pub fn save_frames(&self, dir: &Path, link: &str) -> Result<Option<Frames>> {
        if !self.keep.frames {
            return Ok(None);
        }
        let (mut bytes, mut kept) = (0, 0);
        let packets = self.whole.packets().take_while(|ip| {
            bytes += ip.len();
            bytes <= READ
        });
        let sights = self.records.iter().zip(packets).map(|(record, ip)| {
            kept += 1;
            record.sight(ip)
        });
        let mut frames = Frames::read(sights, &Keys::read(dir));
        let unread = self.records[kept..].iter();
        frames.left_out += unread.filter(|record| record.headers.payload > 0).count() as u64;
        frames.left_out += self.left_out;
        frames.save(dir, link)?;
        Ok(Some(frames))
    }

    /// By the end from which direction 0 goes: what it sent, also what was lost, and what it got.
    fn seen(&self) -> Vec<Seen<'_>> {
        let mut seen = Vec::with_capacity(self.records.len());
        for (record, ip) in self.records.iter().zip(self.whole.packets()) {
            let inbound = record.way != 0;
            if !inbound || record.left_ns > 0 {
                seen.push(Seen {
                    at_ns: if inbound { record.left_ns } else { record.at_ns },
                    inbound,
                    ip,
                    comment: comment(record.fate),
                });
            }
        }
        seen.sort_by_key(|packet| packet.at_ns);
        seen
    }

    fn write(&self, file: impl Write) -> io::Result<()> {
        let mut file = BufWriter::new(file);
        for record in &self.records {
            record.write(&mut file)?;
        }
        file.flush()
    }
}

/// Packets, one after another.
struct Whole {
    pieces: Vec<Vec<u8>>,
    lengths: Vec<u16>,
    room: usize,
}

impl Whole {
    fn with_room(room: usize) -> Self {
        Self { pieces: vec![], lengths: vec![], room }
    }

    /// Adds one, if there is room. After the first without none has any: what is kept is the beginning.
    fn add(&mut self, ip: &[u8]) {
        if ip.len() > self.room {
            self.room = 0;
            return;
        }
        self.room -= ip.len();
        match self.pieces.last_mut() {
            Some(piece) if piece.capacity() - piece.len() >= ip.len() => piece.extend_from_slice(ip),
            _ => {
                let mut piece = Vec::with_capacity(PIECE.max(ip.len()));
                piece.extend_from_slice(ip);
                self.pieces.push(piece);
            }
        }
        self.lengths.push(ip.len() as u16);
    }

    fn packets(&self) -> impl Iterator<Item = &[u8]> {
        let mut pieces = self.pieces.iter();
        let mut rest = &[][..];
        self.lengths.iter().map(move |&length| {
            if rest.len() < usize::from(length) {
                rest = pieces.next().expect("one piece holds it");
            }
            let ip;
            (ip, rest) = rest.split_at(usize::from(length));
            ip
        })
    }
}

impl Record {
    fn sight<'a>(&self, ip: &'a [u8]) -> Sight<'a> {
        let h = &self.headers;
        let up = usize::from(self.way) == UP;
        let (port, server_port) = if up { (h.source, h.destination) } else { (h.destination, h.source) };
        Sight {
            at_ns: self.at_ns,
            left_ns: self.left_ns,
            way: self.way.into(),
            protocol: h.protocol,
            port,
            server_port,
            sequence: h.sequence,
            flags: h.flags,
            payload: &ip[ip.len() - usize::from(h.payload)..],
        }
    }

    /// 40 bytes, little endian.
    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        let h = &self.headers;
        file.write_all(&self.at_ns.to_le_bytes())?;
        file.write_all(&self.left_ns.to_le_bytes())?;
        file.write_all(&h.sequence.to_le_bytes())?;
        file.write_all(&h.acknowledged.to_le_bytes())?;
        for number in [h.window, self.bytes, h.payload, h.source, h.destination] {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(&[self.way, h.protocol, h.flags, self.fate, h.scale, self.ecn])
    }
}

/// Also what waits in the link when the course ends: it never left.
const DELIVERED: u8 = 0;
/// In `Record::ecn`.
const MARKED: u8 = 4;
/// A shift.
const LEFT_ECN: u8 = 3;

fn code(fate: Fate) -> u8 {
    match fate {
        Fate::Deliver { .. } => DELIVERED,
        Fate::Lost => 1,
        Fate::QueueDropped => 2,
        Fate::Blocked { .. } => 3,
        Fate::Policed => 4,
        Fate::TooLarge { .. } => 5,
        Fate::Thinned => 6,
    }
}

/// What became of a packet that was not delivered.
fn comment(code: u8) -> Option<&'static str> {
    match code {
        1 => Some("lost on the link"),
        2 => Some("found the link's queue full"),
        3 => Some("blocked by the link"),
        4 => Some("dropped by the link's policer"),
        5 => Some("too large for the link"),
        6 => Some("thinned out by the link: a later acknowledgement says more"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use h123_link::Ecn;

    use super::*;

    #[test]
    fn a_record_is_as_the_contract_has_it() {
        let mut tcp = [0u8; 45];
        tcp[0] = 0x45;
        tcp[9] = 6;
        tcp[20..40]
            .copy_from_slice(&[0x11, 0x5b, 0xc0, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0x50, 0x18, 0x02, 0x01, 0, 0, 0, 0]);
        let mut packets = Packets::new(Keep { most: 2, capture: true, frames: false });
        let decision =
            |fate, marked| Decision { ticket: 0, fate, marked, ecn: if marked { Ecn::Ce } else { Ecn::NotEct } };
        tcp[1] = 2;
        let place = packets.came(7, 1, &tcp).unwrap();
        packets.decided(place, decision(Fate::Deliver { at: 9, copy: None }, true));
        packets.left(place, 9);
        assert_eq!(packets.came(8, 0, &[]), Some(1));
        packets.decided(1, decision(Fate::QueueDropped, false));
        assert_eq!(packets.came(9, 0, &[]), None);
        assert_eq!(packets.left_out, 1);
        let mut file = vec![];
        packets.write(&mut file).unwrap();
        let first = [
            vec![7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0],
            vec![4, 3, 2, 1, 8, 7, 6, 5, 1, 2, 45, 0, 5, 0, 0x5b, 0x11, 1, 0xc0],
            vec![1, 6, 0x18, 0, 0, 2 + 4 + 3 * 8],
        ];
        assert_eq!(file[..40], first.concat());
        assert_eq!((file.len(), file[40], file[77]), (80, 8, 2));
        assert_eq!(packets.arrivals(1).collect::<Vec<_>>(), [7]);
        let seen = packets.seen();
        assert_eq!(seen.iter().map(|s| s.at_ns).collect::<Vec<_>>(), [8, 9]);
        assert_eq!(seen[1].ip, tcp);
        assert_eq!(seen[0].comment, Some("found the link's queue full"));
    }
}

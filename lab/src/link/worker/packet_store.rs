//! The packets in a link: those on which the model has not decided, and those that wait until they are due.

use crate::link::nat::Translation;
use crate::link::super_packet::SuperPacket;
use crate::link::tun::{FRAME, LONGEST};

/// Segments a super-packet has at most, as a shift: a ticket is its place and the segment's number.
const SEGMENT_BITS: u32 = 16;
/// Memory that is there from the beginning: packets, and super-packets.
const PACKETS: usize = 4096;
const LONG: usize = 32;

/// A packet or super-packet that was offered to the model.
pub struct Held {
    pub packet: SuperPacket,
    pub course: u64,
    pub pair: usize,
    pub way: usize,
    /// What is done to it when it leaves.
    pub translation: Translation,
    /// Places of its first segments' records, of which there may be none.
    pub records: std::ops::Range<usize>,
    /// Segments that the link still has.
    left: usize,
}

/// The packets by their places, and memory for more.
pub struct PacketStore {
    places: Vec<Option<Held>>,
    free: Vec<usize>,
    short: Vec<Box<[u8]>>,
    long: Vec<Box<[u8]>>,
    /// Where the next frame is read to.
    pub inbox: Box<[u8]>,
}

impl Held {
    pub fn new(packet: SuperPacket, course: u64, pair: usize, way: usize) -> Self {
        Self { left: packet.segments(), packet, course, pair, way, translation: Translation::AsItIs, records: 0..0 }
    }

    /// Where the record of a segment is.
    pub fn record(&self, segment: usize) -> Option<usize> {
        let place = self.records.start + segment;
        self.records.contains(&place).then_some(place)
    }
}

impl PacketStore {
    pub fn new() -> Self {
        let memory = |number, length| (0..number).map(|_| vec![0; length].into()).collect();
        Self {
            places: vec![],
            free: vec![],
            short: memory(PACKETS, FRAME),
            long: memory(LONG, LONGEST),
            inbox: vec![0; LONGEST].into(),
        }
    }

    /// The frame of that length in the inbox.
    pub fn take_in(&mut self, length: usize) -> SuperPacket {
        if length > FRAME {
            let empty = self.long.pop().unwrap_or_else(|| vec![0; LONGEST].into());
            return SuperPacket::new(std::mem::replace(&mut self.inbox, empty), length);
        }
        let mut frame = self.short.pop().unwrap_or_else(|| vec![0; FRAME].into());
        frame[..length].copy_from_slice(&self.inbox[..length]);
        SuperPacket::new(frame, length)
    }

    /// Its place.
    pub fn add(&mut self, held: Held) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(held);
        place
    }

    pub fn get(&mut self, place: usize) -> &mut Held {
        self.places[place].as_mut().expect("a packet stays until all of its segments have left")
    }

    /// One more copy of a segment is in the link.
    pub fn copied(&mut self, place: usize) {
        self.get(place).left += 1;
    }

    /// Segments of a packet have left the link, or are dropped.
    pub fn gone(&mut self, place: usize, segments: usize) {
        let held = self.get(place);
        held.left -= segments;
        if held.left > 0 {
            return;
        }
        let held = self.places[place].take().expect("it was there just now");
        self.free.push(place);
        let frame = held.packet.into_frame();
        if frame.len() > FRAME {
            self.long.push(frame);
        } else {
            self.short.push(frame);
        }
    }
}

/// What the model knows a segment by.
pub fn ticket(place: usize, segment: usize) -> usize {
    place << SEGMENT_BITS | segment
}

/// The packet's place and the segment's number.
pub fn of_ticket(ticket: usize) -> (usize, usize) {
    (ticket >> SEGMENT_BITS, ticket & ((1 << SEGMENT_BITS) - 1))
}

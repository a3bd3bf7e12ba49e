//! What a host hands over at once: one packet, or a super-packet, the segments of a TCP or UDP flow that its kernel has not cut
//! (`struct virtio_net_hdr` with a GSO type). The link decides on each segment, and segments that leave together stay together.

use std::io;
use std::ops::Range;

use crate::link::packet::{NEEDS_CHECKSUM, adjust};
use crate::link::tun::{HEADER, Tun};

/// GSO types of the virtio header: TCP over IPv4, TCP over IPv6, UDP.
const GSO_TCP: [u8; 2] = [1, 4];
const GSO_UDP: u8 = 5;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const FIN: u8 = 1;
const PUSH: u8 = 8;
const WINDOW_REDUCED: u8 = 0x80;
/// Room for the headers of one segment: virtio's, IP's and TCP's, with all options.
const HEADS: usize = 192;

/// A frame as it was read from a device, and how it is cut.
pub struct SuperPacket {
    frame: Box<[u8]>,
    length: usize,
    cut: Option<Cut>,
}

/// How a super-packet divides into segments.
struct Cut {
    /// Where TCP's or UDP's header begins in the IP packet.
    transport: usize,
    /// Bytes of headers, virtio's included.
    head: usize,
    /// Payload of each segment but the last, which may have less.
    size: usize,
    segments: usize,
    tcp: bool,
}

/// The headers of some segments.
struct Head {
    bytes: [u8; HEADS],
    length: usize,
}

impl SuperPacket {
    /// The first `length` bytes of `frame`, virtio header included.
    pub fn new(frame: Box<[u8]>, length: usize) -> Self {
        let cut = Cut::of(&frame[..length]);
        Self { frame, length, cut }
    }

    /// How many segments it has: 1 for a packet.
    pub fn segments(&self) -> usize {
        self.cut.as_ref().map_or(1, |cut| cut.segments)
    }

    /// Its IP packet, whose headers are those of all segments but for lengths and numbers.
    pub fn ip(&self) -> &[u8] {
        &self.frame[HEADER..self.length]
    }

    /// Bytes of the IP packets of some segments.
    pub fn bytes(&self, segments: Range<usize>) -> usize {
        match &self.cut {
            None => self.length - HEADER,
            Some(cut) => {
                let headers = (cut.head - HEADER) * segments.len();
                headers + cut.payload(segments, self.length).len()
            }
        }
    }

    /// One segment as a frame of its own.
    pub fn segment(&self, segment: usize) -> Vec<u8> {
        match &self.cut {
            None => self.frame[..self.length].to_vec(),
            Some(cut) => {
                let segments = segment..segment + 1;
                let head = cut.head(&self.frame[..self.length], segments.clone());
                let payload = &self.frame[cut.payload(segments, self.length)];
                [&head.bytes[..head.length], payload].concat()
            }
        }
    }

    /// Hands some segments to a host, with their headers changed by `change`, which gets all of a frame's headers.
    pub fn write(&mut self, segments: Range<usize>, change: impl FnOnce(&mut [u8]), tun: &Tun) -> io::Result<()> {
        let frame = &mut self.frame[..self.length];
        let Some(cut) = &self.cut else {
            change(frame);
            return tun.write(frame);
        };
        let mut head = cut.head(frame, segments.clone());
        change(&mut head.bytes[..head.length]);
        let payload = cut.payload(segments, self.length);
        tun.write_parts(&head.bytes[..head.length], &frame[payload])
    }

    /// The memory, for another frame.
    pub fn into_frame(self) -> Box<[u8]> {
        self.frame
    }
}

impl Cut {
    /// None for a single packet, and for a frame that only claims to be a super-packet.
    fn of(frame: &[u8]) -> Option<Self> {
        let (virtio, ip) = frame.split_first_chunk::<HEADER>()?;
        let field = |at: usize| usize::from(u16::from_ne_bytes([virtio[at], virtio[at + 1]]));
        let (size, transport) = (field(4), field(6));
        let tcp = GSO_TCP.contains(&virtio[1]);
        let is_cut = tcp || virtio[1] == GSO_UDP;
        let shortest = match ip.first()? >> 4 {
            4 => IPV4_HEADER,
            _ => IPV6_HEADER,
        };
        if !is_cut || size == 0 || transport < shortest || virtio[0] & NEEDS_CHECKSUM == 0 {
            return None;
        }
        let length = match tcp {
            true => usize::from(ip.get(transport + 12)? >> 4) * 4,
            false => UDP_HEADER,
        };
        if tcp && length < TCP_HEADER {
            return None;
        }
        let head = HEADER + transport + length;
        let payload = frame.len().checked_sub(head)?;
        (head <= HEADS && payload > 0).then(|| Cut { transport, head, size, segments: payload.div_ceil(size), tcp })
    }

    /// Where the payload of some segments is in a frame of that length.
    fn payload(&self, segments: Range<usize>, length: usize) -> Range<usize> {
        let at = |segment: usize| (self.head + segment * self.size).min(length);
        at(segments.start)..at(segments.end)
    }

    /// The headers of some segments of a frame, as its kernel would have written them (`tcp_gso_segment` and
    /// `__udp_gso_segment` in Linux): lengths, IPv4's and TCP's numbers, flags, and what these change in checksums.
    fn head(&self, frame: &[u8], segments: Range<usize>) -> Head {
        let mut head = Head { bytes: [0; HEADS], length: self.head };
        let bytes = &mut head.bytes[..self.head];
        bytes.copy_from_slice(&frame[..self.head]);
        let payload = self.payload(segments.clone(), frame.len()).len();
        if segments.len() == 1 {
            bytes[1] = 0;
            bytes[4..6].fill(0);
        }
        let (ip, transport) = (&mut bytes[HEADER..], self.transport);
        let rest = self.head - HEADER - transport + payload;
        if ip[0] >> 4 == 4 {
            let before = [word(ip, 2), word(ip, 4)];
            put(ip, 2, (transport + rest) as u16);
            put(ip, 4, before[1].wrapping_add(segments.start as u16));
            let changed = [(before[0], word(ip, 2)), (before[1], word(ip, 4))];
            adjust(&mut ip[10..12], &changed, false);
        } else {
            put(ip, 4, (transport - IPV6_HEADER + rest) as u16);
        }
        let whole = frame.len() - HEADER - transport;
        let lengths = [(whole as u16, rest as u16)];
        let segment = &mut ip[transport..];
        if self.tcp {
            let sequence = u32::from_be_bytes([segment[4], segment[5], segment[6], segment[7]]);
            let sequence = sequence.wrapping_add((segments.start * self.size) as u32);
            segment[4..8].copy_from_slice(&sequence.to_be_bytes());
            if segments.end < self.segments {
                segment[13] &= !(FIN | PUSH);
            }
            if segments.start > 0 {
                segment[13] &= !WINDOW_REDUCED;
            }
            adjust(&mut segment[16..18], &lengths, true);
        } else {
            put(segment, 4, rest as u16);
            adjust(&mut segment[6..8], &lengths, true);
        }
        head
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests;

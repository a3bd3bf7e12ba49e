//! The frames of HTTP/2 in what one end of a connection said (RFC 9113, section 4).

use super::bytes::Bytes;
use super::records::Plain;
use super::{Frame, Kind, Sink};

/// What a client says first (RFC 9113, section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEAD: usize = 9;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;

/// Tells the sink of the frames from this byte on; `base` has what they all share.
pub fn read(plain: &Plain, from: usize, base: Frame, sink: &mut Sink) {
    let bytes = plain.bytes();
    let mut place = from;
    while let Some(head) = bytes.get(place..).and_then(|rest| rest.first_chunk::<HEAD>()) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let body = place + HEAD;
        let end = body + length as usize;
        if end > bytes.len() {
            return;
        }
        let frame = Frame {
            at_ns: plain.came_ns(place),
            sent_ns: plain.came_ns(end - 1),
            left_ns: plain.readable_ns(end - 1),
            stream: u64::from(u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]])),
            length,
            ..base
        };
        describe(head[3], head[4], &bytes[body..end], frame, sink);
        place = end;
    }
}

fn describe(kind: u8, flags: u8, body: &[u8], frame: Frame, sink: &mut Sink) {
    let number = |at: usize| Bytes::new(body.get(at..).unwrap_or_default()).number(4);
    let fin = flags & END_STREAM;
    let with = |kind, value: Option<u64>| Frame { kind, value: value.unwrap_or(0), ..frame };
    match kind {
        0 => sink.add(Frame { fin, ..with(Kind::Data, None) }),
        1 => sink.add(Frame { fin, ..with(Kind::Headers, None) }),
        3 => sink.add(with(Kind::Reset, number(0))),
        4 if flags & ACK == 0 => {
            let mut settings = Bytes::new(body);
            while let (Some(id), Some(value)) = (settings.short(), settings.number(4)) {
                sink.add(Frame { id, ..with(Kind::Setting, Some(value)) });
            }
        }
        7 => {
            let id = number(4).unwrap_or(0).min(u64::from(u16::MAX)) as u16;
            let last = number(0).map(|last| last & 0x7fff_ffff);
            sink.add(Frame { id, ..with(Kind::GoAway, last) });
        }
        8 => sink.add(with(Kind::WindowUpdate, number(0).map(|by| by & 0x7fff_ffff))),
        _ => {}
    }
}

//! What is in a packet of QUIC (RFC 9000, section 19), and the transport parameters (section 18).

use crate::link::frames::bytes::Bytes;
use crate::link::frames::{Frame, Kind};

/// Limits on data and on streams that a client or server opens.
const LIMITS: std::ops::RangeInclusive<u64> = 4..=9;

/// What of a packet's frames is of use here.
pub enum Content<'a> {
    Row(FrameRow),
    /// Of the handshake, from an offset on.
    Crypto(u64, &'a [u8]),
    /// A connection ID that the sender goes by as well.
    Id(&'a [u8]),
}

#[derive(Default)]
pub struct FrameRow {
    kind: Kind,
    stream: u64,
    offset: u64,
    length: u32,
    value: u64,
    fin: u8,
}

impl FrameRow {
    pub fn in_packet(self, packet: &Frame) -> Frame {
        Frame {
            kind: self.kind,
            stream: self.stream,
            offset: self.offset,
            length: self.length,
            value: self.value,
            fin: self.fin,
            ..*packet
        }
    }
}

/// Tells of the frames up to the first that is not known: its length is not either.
pub fn each<'a>(plain: &'a [u8], mut tell: impl FnMut(Content<'a>)) {
    let mut bytes = Bytes::new(plain);
    while !bytes.is_empty() {
        let Some(found) = one(&mut bytes) else { return };
        found.into_iter().for_each(&mut tell);
    }
}

/// None: what follows cannot be understood. Some(None): a frame of no use here.
fn one<'a>(bytes: &mut Bytes<'a>) -> Option<Option<Content<'a>>> {
    let kind = bytes.varint()?;
    let limit = |bytes: &mut Bytes, kind| {
        let value = bytes.varint()?;
        Some(FrameRow { kind, value, ..FrameRow::default() })
    };
    let of_stream = |bytes: &mut Bytes, kind| {
        let stream = bytes.varint()?;
        Some(FrameRow { stream, ..limit(bytes, kind)? })
    };
    let row = match kind {
        // PADDING, PING, HANDSHAKE_DONE, IMMEDIATE_ACK
        0x00 | 0x01 | 0x1e | 0x1f => return Some(None),
        0x02 | 0x03 => return acknowledgement(bytes, kind == 0x03).map(|()| None),
        0x04 => {
            let reset = of_stream(bytes, Kind::Reset)?;
            FrameRow { offset: bytes.varint()?, ..reset }
        }
        0x05 => of_stream(bytes, Kind::StopSending)?,
        0x06 => {
            let offset = bytes.varint()?;
            return Some(Some(Content::Crypto(offset, bytes.counted_varint()?)));
        }
        0x07 => return bytes.counted_varint().map(|_| None),
        0x08..=0x0f => stream(bytes, kind)?,
        0x10 => limit(bytes, Kind::MaxData)?,
        0x11 => of_stream(bytes, Kind::MaxStreamData)?,
        0x12 => limit(bytes, Kind::MaxStreams)?,
        0x14 => limit(bytes, Kind::DataBlocked)?,
        0x15 => of_stream(bytes, Kind::StreamDataBlocked)?,
        0x16 => limit(bytes, Kind::StreamsBlocked)?,
        // The same of streams that go one way; RETIRE_CONNECTION_ID
        0x13 | 0x17 | 0x19 => return bytes.varint().map(|_| None),
        0x18 => {
            bytes.varint()?; // its number
            bytes.varint()?; // up to which others end
            let id = bytes.counted(1)?;
            bytes.take(16)?;
            return Some(Some(Content::Id(id)));
        }
        // PATH_CHALLENGE, PATH_RESPONSE
        0x1a | 0x1b => return bytes.take(8).map(|_| None),
        0x1c | 0x1d => {
            let close = limit(bytes, Kind::Close)?;
            if kind == 0x1c {
                bytes.varint()?;
            }
            bytes.counted_varint()?;
            close
        }
        // DATAGRAM (RFC 9221)
        0x30 => return bytes.take(bytes.rest().len()).map(|_| None),
        0x31 => return bytes.counted_varint().map(|_| None),
        // ACK_FREQUENCY
        0xaf => {
            return (0..4).try_for_each(|_| bytes.varint().map(drop)).map(|()| None);
        }
        _ => return None,
    };
    Some(Some(Content::Row(row)))
}

fn stream(bytes: &mut Bytes, kind: u64) -> Option<FrameRow> {
    let stream = bytes.varint()?;
    let offset = if kind & 4 != 0 { bytes.varint()? } else { 0 };
    let data = match kind & 2 {
        0 => bytes.take(bytes.rest().len())?,
        _ => bytes.counted_varint()?,
    };
    Some(FrameRow { kind: Kind::Stream, stream, offset, length: data.len() as u32, value: 0, fin: (kind & 1) as u8 })
}

fn acknowledgement(bytes: &mut Bytes, counts: bool) -> Option<()> {
    bytes.varint()?; // the largest
    bytes.varint()?; // its delay
    let ranges = bytes.varint()?;
    bytes.varint()?; // the first range
    for _ in 0..ranges {
        bytes.varint()?;
        bytes.varint()?;
    }
    if counts {
        for _ in 0..3 {
            bytes.varint()?;
        }
    }
    Some(())
}

/// Those that limit data and streams.
pub fn parameters(parameters: &[u8], mut tell: impl FnMut(u16, u64)) {
    let mut bytes = Bytes::new(parameters);
    while let (Some(id), Some(body)) = (bytes.varint(), bytes.counted_varint()) {
        if let Some(value) = Bytes::new(body).varint()
            && LIMITS.contains(&id)
        {
            tell(id as u16, value);
        }
    }
}

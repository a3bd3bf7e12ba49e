//! Which packets only acknowledge what TCP has received.

use h123_link::Ack;

use super::{END_OF_OPTIONS, Layout, NO_OPERATION, TCP, TCP_HEADER};

const ACK: u8 = 0x10;
/// TCP's flags of ECN: ECE and CWR.
const ECN: u8 = 0xc0;
/// The flags in the byte of the header's length.
const OTHER_FLAGS: u8 = 0x0f;
const TIMESTAMP: u8 = 8;

/// What the packet acknowledges, if it does nothing else.
pub fn ack(ip: &[u8]) -> Option<Ack> {
    let layout = Layout::of(ip)?;
    let whole = layout.fragment_offset == 0 && !layout.more_fragments;
    if layout.protocol != TCP || !whole {
        return None;
    }
    let segment = ip.get(layout.transport..)?;
    let (number, lengths) = (*segment.get(8..)?.first_chunk()?, *segment.get(12)?);
    let options = segment.get(TCP_HEADER..)?;
    let pure = segment[13] & !ECN == ACK && lengths & OTHER_FLAGS == 0;
    let empty = segment.len() == usize::from(lengths >> 4) * 4;
    (pure && empty).then(|| Ack {
        number: u32::from_be_bytes(number),
        ecn: segment[13] & ECN,
        says_more: says_more(options),
    })
}

/// Whether there is an option other than a timestamp.
fn says_more(mut options: &[u8]) -> bool {
    loop {
        match *options {
            [END_OF_OPTIONS, ..] | [] => return false,
            [NO_OPERATION, ref rest @ ..] => options = rest,
            [TIMESTAMP, 10, _, _, _, _, _, _, _, _, ref rest @ ..] => options = rest,
            _ => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP over IPv4, without addresses.
    fn packet(flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut ip = vec![0; 40];
        (ip[0], ip[9], ip[33]) = (0x45, TCP, flags);
        ip[28..32].copy_from_slice(&7u32.to_be_bytes());
        ip[32] = (5 + options.len() as u8 / 4) << 4;
        [&ip, options, payload].concat()
    }

    const STAMP: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    const SACK: [u8; 12] = [1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 12];

    #[test]
    fn only_packets_that_do_nothing_else_are_acknowledgements() {
        let plain = Ack { number: 7, ecn: 0, says_more: false };
        let more = Ack { says_more: true, ..plain };
        for (options, expected) in [
            (&[][..], plain),
            (&STAMP, plain),
            (&SACK, more),
            (&[STAMP, SACK].concat(), more),
            (&[8, 2, 0, 0], more),
            (&[0, 0, 0, 0], plain),
        ] {
            assert_eq!(ack(&packet(ACK, options, b"")), Some(expected), "{options:?}");
        }
        let echo = Ack { ecn: 0x40, ..plain };
        assert_eq!(ack(&packet(ACK | 0x40, &[], b"")), Some(echo));
        // Data, other flags (SYN, FIN, RST, PSH, URG, none), accurate ECN, what is cut off, and UDP.
        assert_eq!(ack(&packet(ACK, &STAMP, b"x")), None);
        for flags in [0x12, 0x11, 0x14, 0x18, 0x30, 0] {
            assert_eq!(ack(&packet(flags, &[], b"")), None, "{flags}");
        }
        let whole = packet(ACK, &STAMP, b"");
        let mut other = whole.clone();
        other[32] |= 1;
        assert_eq!(ack(&other), None);
        for cut in 0..whole.len() {
            assert_eq!(ack(&whole[..cut]), None, "{cut}");
        }
        (other[32], other[9]) = (whole[32], 17);
        assert_eq!(ack(&other), None);
    }
}

//! What a link knows about IPv4: which packets are UDP, how to say "port unreachable", and what TCP's and UDP's headers hold.

use crate::tun::HEADER;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IP_HEADER: usize = 20;
const ICMP_HEADER: usize = 8;
const UDP_HEADER: usize = 8;
const TCP_HEADER: usize = 20;
const SYN: u8 = 2;
/// TCP's options.
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const WINDOW_SCALE: u8 = 3;
const PORT_UNREACHABLE: [u8; 2] = [3, 3];

pub fn is_udp(ip: &[u8]) -> bool {
    ip.len() >= IP_HEADER && ip[0] >> 4 == 4 && ip[9] == UDP
}

/// What a log of packets tells of one; zero where it has no such header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    pub protocol: u8,
    pub source: u16,
    pub destination: u16,
    /// TCP's, as are the next two.
    pub sequence: u32,
    pub acknowledged: u32,
    pub window: u16,
    /// Of UDP the payload's first byte, in which QUIC has its own.
    pub flags: u8,
    /// Bytes after TCP's or UDP's header.
    pub payload: u16,
    /// One more than the shift that TCP's SYN announces for the windows to come; 0: none.
    pub scale: u8,
}

pub fn headers(ip: &[u8]) -> Headers {
    if ip.len() < IP_HEADER || ip[0] >> 4 != 4 {
        return Headers::default();
    }
    let protocol = ip[9];
    transport_header(ip, protocol).unwrap_or(Headers {
        protocol,
        ..Headers::default()
    })
}

/// None for another protocol, one that is cut off, or a fragment that is not the first.
fn transport_header(ip: &[u8], protocol: u8) -> Option<Headers> {
    if fragment_offset(ip) != 0 {
        return None;
    }
    let segment = ip.get(header_length(ip)..)?;
    let short = |at: usize| Some(u16::from_be_bytes(*segment.get(at..)?.first_chunk()?));
    let long = |at: usize| Some(u32::from_be_bytes(*segment.get(at..)?.first_chunk()?));
    let common = Headers {
        protocol,
        source: short(0)?,
        destination: short(2)?,
        ..Headers::default()
    };
    match protocol {
        TCP => {
            let (flags, window) = (*segment.get(13)?, short(14)?);
            let (header, payload) = segment.split_at_checked(usize::from(segment[12] >> 4) * 4)?;
            let options = header.get(TCP_HEADER..).filter(|_| flags & SYN != 0);
            Some(Headers {
                sequence: long(4)?,
                acknowledged: long(8)?,
                flags,
                window,
                payload: payload.len() as u16,
                scale: options.and_then(window_shift).map_or(0, |shift| shift + 1),
                ..common
            })
        }
        UDP => {
            let payload = segment.get(UDP_HEADER..)?;
            Some(Headers {
                flags: payload.first().copied().unwrap_or(0),
                payload: payload.len() as u16,
                ..common
            })
        }
        _ => None,
    }
}

/// Of a SYN's options (RFC 7323, 2.2); more than 14 counts as that.
fn window_shift(mut options: &[u8]) -> Option<u8> {
    loop {
        match *options {
            [END_OF_OPTIONS, ..] | [] => return None,
            [NO_OPERATION, ref rest @ ..] => options = rest,
            [WINDOW_SCALE, 3, shift, ..] => return Some(shift.min(14)),
            [_, length, ..] => options = options.get(usize::from(length.max(2))..)?,
            [_] => return None,
        }
    }
}

fn header_length(ip: &[u8]) -> usize {
    usize::from(ip[0] & 15) * 4
}

fn fragment_offset(ip: &[u8]) -> u16 {
    u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff
}

/// The frame that answers a packet with ICMP "port unreachable" (RFC 792) in the name of its destination, or none
/// for a fragment that is not the first, which must not be answered (RFC 1122, 3.2.2).
pub fn port_unreachable(ip: &[u8]) -> Option<Vec<u8>> {
    if fragment_offset(ip) != 0 {
        return None;
    }
    let quoted = &ip[..ip.len().min(header_length(ip) + 8)];
    let length = IP_HEADER + ICMP_HEADER + quoted.len();
    // An all-zero virtio header: checksums are complete, nothing is segmented.
    let mut frame = vec![0; HEADER + length];
    let (outer, icmp) = frame[HEADER..].split_at_mut(IP_HEADER);
    outer[0] = 0x45;
    outer[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    outer[8] = 64;
    outer[9] = ICMP;
    outer[12..16].copy_from_slice(&ip[16..20]);
    outer[16..20].copy_from_slice(&ip[12..16]);
    let sum = checksum(outer);
    outer[10..12].copy_from_slice(&sum);
    icmp[..2].copy_from_slice(&PORT_UNREACHABLE);
    icmp[ICMP_HEADER..].copy_from_slice(quoted);
    let sum = checksum(icmp);
    icmp[2..4].copy_from_slice(&sum);
    Some(frame)
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes
        .chunks(2)
        .map(|w| u32::from(u16::from_be_bytes([w[0], *w.get(1).unwrap_or(&0)])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    (!(((folded & 0xffff) + (folded >> 16)) as u16)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_scale_is_a_syns_alone() {
        // Maximum segment size, timestamps' permission, padding, window scale: as Linux has them.
        let options = [2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 0, 0];
        let scale = |flags: u8, options: &[u8]| {
            let mut ip = vec![0; 40];
            (ip[0], ip[9], ip[33]) = (0x45, TCP, flags);
            ip[32] = (5 + options.len() as u8 / 4) << 4;
            ip.extend(options);
            headers(&ip).scale
        };
        assert_eq!(scale(0x12, &options), 8);
        assert_eq!(scale(0x10, &options), 0);
        assert_eq!(scale(0x02, &[3, 3, 0, 1]), 1);
        assert_eq!(scale(0x02, &[3, 3, 99, 1]), 15);
        for none in [
            &[][..],
            &[1, 1, 1, 3],
            &[0, 3, 3, 7],
            &[2, 0, 2, 0],
            &[8, 200, 3, 3],
        ] {
            assert_eq!(scale(0x02, none), 0, "{none:?}");
        }
    }

    #[test]
    fn checksum_of_a_known_header() {
        // The worked example of Wikipedia's "Internet checksum".
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0x00,
            0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header), [0xb8, 0x61]);
    }
}

//! What a link knows about IPv4: which packets are UDP, how to say "port unreachable", and what TCP's and UDP's headers hold.

use crate::tun::HEADER;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IP_HEADER: usize = 20;
const ICMP_HEADER: usize = 8;
const UDP_HEADER: usize = 8;
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
        TCP => Some(Headers {
            sequence: long(4)?,
            acknowledged: long(8)?,
            flags: *segment.get(13)?,
            window: short(14)?,
            payload: segment.get(usize::from(segment[12] >> 4) * 4..)?.len() as u16,
            ..common
        }),
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
    fn checksum_of_a_known_header() {
        // The worked example of Wikipedia's "Internet checksum".
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0x00,
            0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header), [0xb8, 0x61]);
    }
}

//! The two things a link knows about IPv4: which packets are UDP, and how to say "port unreachable".

use crate::tun::HEADER;

const ICMP: u8 = 1;
const UDP: u8 = 17;
const IP_HEADER: usize = 20;
const ICMP_HEADER: usize = 8;
const PORT_UNREACHABLE: [u8; 2] = [3, 3];

pub fn is_udp(ip: &[u8]) -> bool {
    ip.len() >= IP_HEADER && ip[0] >> 4 == 4 && ip[9] == UDP
}

/// The frame that answers a packet with ICMP "port unreachable" (RFC 792) in the name of its destination, or none
/// for a fragment that is not the first, which must not be answered (RFC 1122, 3.2.2).
pub fn port_unreachable(ip: &[u8]) -> Option<Vec<u8>> {
    let header = usize::from(ip[0] & 15) * 4;
    let fragment_offset = u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff;
    if fragment_offset != 0 {
        return None;
    }
    let quoted = &ip[..ip.len().min(header + 8)];
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

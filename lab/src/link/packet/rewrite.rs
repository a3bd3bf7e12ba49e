//! What a link changes in packets: the ends of those of IPv4, with the checksums, and the ECN field; and the answers "port
//! unreachable" and "packet too big".

use std::net::Ipv4Addr;

use h123_link::Ecn;

use super::{FlowEnd, ICMP, ICMP6, IP_HEADER, IP6_HEADER, Layout, UDP, header_length};
use crate::link::tun::HEADER;

const ICMP_HEADER: usize = 8;
const UNREACHABLE: u8 = 3;
const PORT: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
/// ICMPv6's (RFC 4443).
const UNREACHABLE6: u8 = 1;
const PORT6: u8 = 4;
const TOO_BIG6: u8 = 2;
/// No answer over IPv6 is longer.
const LONGEST6: usize = 1280;
/// In the virtio header: of the checksum only the pseudo-header's part is there; the kernel adds the rest.
pub const NEEDS_CHECKSUM: u8 = 1;

/// Gives one end of a packet that has a flow another address and port, and sets its checksums right (RFC 1624).
pub fn rewrite(frame: &mut [u8], end: FlowEnd, address: Ipv4Addr, port: u16) {
    let partial = frame[0] & NEEDS_CHECKSUM != 0;
    let ip = &mut frame[HEADER..];
    let segment = header_length(ip);
    let (protocol, place) = (ip[9], segment + end.port());
    let mut put = |at: usize, new: [u8; 2]| {
        let old = [ip[at], ip[at + 1]];
        ip[at..at + 2].copy_from_slice(&new);
        (u16::from_be_bytes(old), u16::from_be_bytes(new))
    };
    let [a, b, c, d] = address.octets();
    let readdressed = [put(end.address(), [a, b]), put(end.address() + 2, [c, d])];
    let renamed = put(place, port.to_be_bytes());
    adjust(&mut ip[10..12], &readdressed, false);
    let sum = segment + if protocol == UDP { 6 } else { 16 };
    let sum = &mut ip[sum..sum + 2];
    // UDP without a checksum has zero there.
    let absent = protocol == UDP && sum == [0, 0];
    if partial {
        adjust(sum, &readdressed, true);
    } else if !absent {
        adjust(sum, &[readdressed[0], readdressed[1], renamed], false);
        if protocol == UDP && sum == [0, 0] {
            sum.fill(0xff);
        }
    }
}

/// Sets the ECN field in the header of a packet, and its checksum right.
pub fn set_ecn(frame: &mut [u8], ecn: Ecn) {
    let ip = &mut frame[HEADER..];
    if ip[0] >> 4 == 6 {
        ip[1] = ip[1] & !0x30 | ecn.bits() << 4;
        return;
    }
    let old = u16::from_be_bytes([ip[0], ip[1]]);
    ip[1] = ip[1] & !3 | ecn.bits();
    let new = u16::from_be_bytes([ip[0], ip[1]]);
    adjust(&mut ip[10..12], &[(old, new)], false);
}

/// A checksum after 16-bit words have changed; `partial`: it is a sum that has not been inverted.
pub fn adjust(sum: &mut [u8], changed: &[(u16, u16)], partial: bool) {
    let inverted = if partial { 0 } else { 0xffff };
    let before = u32::from(u16::from_be_bytes([sum[0], sum[1]]) ^ inverted);
    let change = |&(old, new): &(u16, u16)| u32::from(!old) + u32::from(new);
    let total = before + changed.iter().map(change).sum::<u32>();
    let folded = fold(total) ^ inverted;
    sum.copy_from_slice(&folded.to_be_bytes());
}

fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

/// Why ICMP says that a packet did not arrive.
#[derive(Clone, Copy, Debug)]
pub enum Unreachable {
    Port,
    /// It is larger than so many bytes.
    TooLarge(u32),
}

/// The frame that answers a packet with ICMP "destination unreachable" (RFC 792, RFC 1191) or its counterparts of ICMPv6, in
/// the name of its destination, or none for a fragment that is not the first, which must not be answered (RFC 1122, 3.2.2).
pub fn unreachable(ip: &[u8], why: Unreachable) -> Option<Vec<u8>> {
    if Layout::of(ip)?.fragment_offset != 0 {
        return None;
    }
    if ip[0] >> 4 == 6 {
        return Some(unreachable6(ip, why));
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
    icmp[0] = UNREACHABLE;
    match why {
        Unreachable::Port => icmp[1] = PORT,
        Unreachable::TooLarge(bytes) => {
            icmp[1] = FRAGMENTATION_NEEDED;
            icmp[6..8].copy_from_slice(&(bytes as u16).to_be_bytes());
        }
    }
    icmp[ICMP_HEADER..].copy_from_slice(quoted);
    let sum = checksum(icmp);
    icmp[2..4].copy_from_slice(&sum);
    Some(frame)
}

/// The same over IPv6: it quotes as much as there is room for.
fn unreachable6(ip: &[u8], why: Unreachable) -> Vec<u8> {
    let room = LONGEST6 - IP6_HEADER - ICMP_HEADER;
    let quoted = &ip[..ip.len().min(room)];
    let length = ICMP_HEADER + quoted.len();
    let mut frame = vec![0; HEADER + IP6_HEADER + length];
    let (outer, icmp) = frame[HEADER..].split_at_mut(IP6_HEADER);
    outer[0] = 0x60;
    outer[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    outer[6] = ICMP6;
    outer[7] = 64;
    outer[8..24].copy_from_slice(&ip[24..40]);
    outer[24..40].copy_from_slice(&ip[8..24]);
    match why {
        Unreachable::Port => (icmp[0], icmp[1]) = (UNREACHABLE6, PORT6),
        Unreachable::TooLarge(bytes) => {
            icmp[0] = TOO_BIG6;
            icmp[4..8].copy_from_slice(&bytes.to_be_bytes());
        }
    }
    icmp[ICMP_HEADER..].copy_from_slice(quoted);
    let pseudo = [&outer[8..40], &[0, ICMP6], &(length as u16).to_be_bytes()].concat();
    let sum = checksum(&[&pseudo, &*icmp].concat());
    icmp[2..4].copy_from_slice(&sum);
    frame
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], *w.get(1).unwrap_or(&0)])));
    let sum: u32 = words.sum();
    (!fold(sum)).to_be_bytes()
}

#[cfg(test)]
pub mod tests {
    use std::net::IpAddr;

    use proptest::prelude::*;

    use super::super::{TCP, UDP_HEADER};
    use super::*;

    /// With checksums that are right.
    pub fn udp_datagram(from: (Ipv4Addr, u16), to: (Ipv4Addr, u16), payload: &[u8]) -> Vec<u8> {
        segment(UDP, from, to, payload)
    }

    fn octets(address: IpAddr) -> Vec<u8> {
        match address {
            IpAddr::V4(four) => four.octets().into(),
            IpAddr::V6(six) => six.octets().into(),
        }
    }

    pub fn segment(
        protocol: u8,
        from: (impl Into<IpAddr>, u16),
        to: (impl Into<IpAddr>, u16),
        payload: &[u8],
    ) -> Vec<u8> {
        let hosts = [from.0.into(), to.0.into()];
        let mut rest: Vec<u8> = [from.1, to.1].iter().flat_map(|p| p.to_be_bytes()).collect();
        let at = if protocol == UDP {
            rest.extend(((UDP_HEADER + payload.len()) as u16).to_be_bytes());
            rest.extend([0, 0]);
            6
        } else {
            rest.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
            16
        };
        rest.extend(payload);
        let ends = hosts.map(octets).concat();
        let pseudo = [0, protocol, (rest.len() >> 8) as u8, rest.len() as u8];
        let sum = checksum(&[&ends[..], &pseudo, &rest].concat());
        let sum = if protocol == UDP && sum == [0, 0] { [0xff, 0xff] } else { sum };
        rest[at..at + 2].copy_from_slice(&sum);
        if hosts[0].is_ipv6() {
            let [high, low] = (rest.len() as u16).to_be_bytes();
            let ip = [&[0x60, 0, 0, 0, high, low, protocol, 64], &ends[..]].concat();
            return [vec![0; HEADER], ip, rest].concat();
        }
        let length = (IP_HEADER + rest.len()) as u16;
        let mut ip = vec![0x45, 0, (length >> 8) as u8, length as u8, 0, 7, 0x40, 0, 64, protocol, 0, 0];
        ip.extend(&ends);
        let sum = checksum(&ip);
        ip[10..12].copy_from_slice(&sum);
        [vec![0; HEADER], ip, rest].concat()
    }

    /// A super-packet as a kernel hands it over, with a partial checksum; `flags` are TCP's.
    pub fn super_packet(
        protocol: u8,
        from: (IpAddr, u16),
        to: (IpAddr, u16),
        size: usize,
        payload: usize,
        flags: u8,
    ) -> Vec<u8> {
        let payload: Vec<u8> = (0..payload).map(|i| (i / 7) as u8).collect();
        let mut frame = segment(protocol, from, to, &payload);
        let (header, kind) = match from.0 {
            IpAddr::V4(_) => (IP_HEADER, 1),
            IpAddr::V6(_) => (IP6_HEADER, 4),
        };
        let (kind, sum) = if protocol == UDP { (5, 6) } else { (kind, 16) };
        let (length, number) = (frame.len() - HEADER, size as u16);
        frame[..2].copy_from_slice(&[NEEDS_CHECKSUM, if payload.len() > size { kind } else { 0 }]);
        if payload.len() > size {
            frame[4..6].copy_from_slice(&number.to_ne_bytes());
        }
        frame[6..8].copy_from_slice(&(header as u16).to_ne_bytes());
        frame[8..10].copy_from_slice(&(sum as u16).to_ne_bytes());
        if protocol == TCP {
            frame[HEADER + header + 13] = flags;
        }
        let ends = [from.0, to.0].map(octets).concat();
        let transport = (length - header) as u16;
        let pseudo = [&ends[..], &[0, protocol], &transport.to_be_bytes()].concat();
        let [high, low] = checksum(&pseudo);
        let at = HEADER + header + sum;
        frame[at..at + 2].copy_from_slice(&[!high, !low]);
        frame
    }

    proptest! {
        /// A packet that was given other ends is the one that these ends would have sent, checksums and all.
        #[test]
        fn a_changed_end_leaves_right_checksums(
            protocol in prop_oneof![Just(TCP), Just(UDP)],
            (from, to, other) in (any::<(u32, u16)>(), any::<(u32, u16)>(), any::<(u32, u16)>()),
            payload in prop::collection::vec(any::<u8>(), 0..9),
            source in any::<bool>(),
        ) {
            let [from, to, other] = [from, to, other].map(|(a, port)| (Ipv4Addr::from(a), port.max(1)));
            let (end, wanted) = if source {
                (FlowEnd::Source, segment(protocol, other, to, &payload))
            } else {
                (FlowEnd::Destination, segment(protocol, from, other, &payload))
            };
            let mut frame = segment(protocol, from, to, &payload);
            rewrite(&mut frame, end, other.0, other.1);
            // Zero has two forms in one's complement: what is compared is whether it adds up.
            let equal = |at: usize| frame[at..at + 2] == wanted[at..at + 2] || is_zero(&frame[at..at + 2]);
            prop_assert!(equal(HEADER + 10));
            let sum = HEADER + IP_HEADER + if protocol == UDP { 6 } else { 16 };
            prop_assert!(equal(sum), "{:?} {:?}", &frame[sum..sum + 2], &wanted[sum..sum + 2]);
            let bare = |frame: &[u8]| {
                let mut frame = frame.to_vec();
                frame[HEADER + 10..HEADER + 12].fill(0);
                frame[sum..sum + 2].fill(0);
                frame
            };
            prop_assert_eq!(bare(&frame), bare(&wanted));
        }
    }

    fn is_zero(sum: &[u8]) -> bool {
        sum == [0, 0] || sum == [0xff, 0xff]
    }

    #[test]
    fn a_checksum_that_the_kernel_completes_gets_the_new_address_only() {
        let (from, to) = ((Ipv4Addr::new(10, 1, 0, 1), 7), (Ipv4Addr::new(10, 1, 0, 2), 443));
        let other = (Ipv4Addr::new(100, 64, 0, 1), 9);
        let partial = |from: (Ipv4Addr, u16)| {
            let mut frame = segment(TCP, from, to, b"x");
            frame[0] = NEEDS_CHECKSUM;
            let ends: Vec<u8> = [from.0, to.0].iter().flat_map(|a| a.octets()).collect();
            let [high, low] = checksum(&[&ends[..], &[0, TCP, 0, 21]].concat());
            frame[HEADER + 36..HEADER + 38].copy_from_slice(&[!high, !low]);
            frame
        };
        let mut frame = partial(from);
        rewrite(&mut frame, FlowEnd::Source, other.0, other.1);
        assert_eq!(frame, partial(other));
    }

    #[test]
    fn checksum_of_a_known_header() {
        // The worked example of Wikipedia's "Internet checksum".
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00,
            0xc7,
        ];
        assert_eq!(checksum(&header), [0xb8, 0x61]);
    }
}

//! What a link reads in packets of IPv4 and IPv6: which are UDP, and what the headers of TCP and UDP hold. What it changes in them and
//! answers is below.

mod acks;
mod rewrite;

use std::hash::{DefaultHasher, Hasher};
use std::net::Ipv4Addr;

use h123_link::Ecn;

pub use self::acks::ack;
#[cfg(test)]
pub use self::rewrite::tests;
pub use self::rewrite::{NEEDS_CHECKSUM, Unreachable, adjust, rewrite, set_ecn, unreachable};

const ICMP: u8 = 1;
const ICMP6: u8 = 58;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
const IP_HEADER: usize = 20;
const IP6_HEADER: usize = 40;
/// IPv6's extension headers (RFC 8200, section 4) that stand before TCP or UDP, and how many of them are read.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;
const MOST_EXTENSIONS: usize = 8;
const UDP_HEADER: usize = 8;
const TCP_HEADER: usize = 20;
const SYN: u8 = 2;
/// TCP's options.
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const WINDOW_SCALE: u8 = 3;
const MORE_FRAGMENTS: u8 = 0x20;

pub fn is_udp(ip: &[u8]) -> bool {
    Layout::of(ip).is_some_and(|layout| layout.protocol == UDP)
}

pub fn is_ipv6(ip: &[u8]) -> bool {
    ip.first().is_some_and(|byte| byte >> 4 == 6)
}

/// Where things are in a packet.
#[derive(Clone, Copy)]
struct Layout {
    protocol: u8,
    /// Where TCP's or UDP's header begins, also behind the packet's end.
    transport: usize,
    /// Units of eight bytes before it in what was cut.
    fragment_offset: u16,
    more_fragments: bool,
    /// Where both addresses are.
    addresses: (usize, usize),
}

impl Layout {
    /// None of what is neither IPv4 nor IPv6.
    fn of(ip: &[u8]) -> Option<Self> {
        match ip.first()? >> 4 {
            4 if ip.len() >= IP_HEADER => Some(Self {
                protocol: ip[9],
                transport: header_length(ip),
                fragment_offset: u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff,
                more_fragments: ip[6] & MORE_FRAGMENTS != 0,
                addresses: (12, 20),
            }),
            6 if ip.len() >= IP6_HEADER => Some(Self::of_ipv6(ip)),
            _ => None,
        }
    }

    fn of_ipv6(ip: &[u8]) -> Self {
        let mut layout = Self {
            protocol: ip[6],
            transport: IP6_HEADER,
            fragment_offset: 0,
            more_fragments: false,
            addresses: (8, IP6_HEADER),
        };
        for _ in 0..MOST_EXTENSIONS {
            let Some(extension) = ip.get(layout.transport..layout.transport + 8) else {
                break;
            };
            let length = match layout.protocol {
                HOP_BY_HOP | ROUTING | DESTINATION => 8 + 8 * usize::from(extension[1]),
                FRAGMENT => 8,
                _ => break,
            };
            if layout.protocol == FRAGMENT {
                let field = u16::from_be_bytes([extension[2], extension[3]]);
                (layout.fragment_offset, layout.more_fragments) = (field >> 3, field & 1 != 0);
            }
            layout.protocol = extension[0];
            layout.transport += length;
            if layout.fragment_offset != 0 {
                break;
            }
        }
        layout
    }
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
    let Some(layout) = Layout::of(ip) else {
        return Headers::default();
    };
    transport_header(ip, layout).unwrap_or(Headers { protocol: layout.protocol, ..Headers::default() })
}

/// None for another protocol, one that is cut off, or a fragment that is not the first.
fn transport_header(ip: &[u8], layout: Layout) -> Option<Headers> {
    let protocol = layout.protocol;
    if layout.fragment_offset != 0 {
        return None;
    }
    let segment = ip.get(layout.transport..)?;
    let short = |at: usize| Some(u16::from_be_bytes(*segment.get(at..)?.first_chunk()?));
    let long = |at: usize| Some(u32::from_be_bytes(*segment.get(at..)?.first_chunk()?));
    let common = Headers { protocol, source: short(0)?, destination: short(2)?, ..Headers::default() };
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
            Some(Headers { flags: payload.first().copied().unwrap_or(0), payload: payload.len() as u16, ..common })
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

/// Whose address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    Source,
    Destination,
}

impl FlowEnd {
    /// Where IP's header has the address.
    fn address(self) -> usize {
        match self {
            FlowEnd::Source => 12,
            FlowEnd::Destination => 16,
        }
    }

    /// Where TCP's and UDP's have the port.
    fn port(self) -> usize {
        match self {
            FlowEnd::Source => 0,
            FlowEnd::Destination => 2,
        }
    }
}

/// Whether it is UDP, and the port at that end; none of what is neither TCP nor UDP over IPv4, of fragments and of what is
/// cut off.
pub fn flow(ip: &[u8], end: FlowEnd) -> Option<(bool, u16)> {
    let fields = headers(ip);
    let header = match fields.protocol {
        TCP => TCP_HEADER,
        _ => UDP_HEADER,
    };
    let whole = ip.len() >= IP_HEADER
        && ip[0] >> 4 == 4
        && ip[6] & MORE_FRAGMENTS == 0
        && header_length(ip) >= IP_HEADER
        && ip.len() >= header_length(ip) + header;
    let port = match end {
        FlowEnd::Source => fields.source,
        FlowEnd::Destination => fields.destination,
    };
    let has_ports = matches!(fields.protocol, TCP | UDP) && fields.destination > 0;
    (whole && has_ports).then_some((fields.protocol == UDP, port))
}

/// Of a packet that has a flow.
pub fn address(ip: &[u8], end: FlowEnd) -> Ipv4Addr {
    let octets: [u8; 4] = std::array::from_fn(|i| ip[end.address() + i]);
    Ipv4Addr::from(octets)
}

/// Its ECN field.
pub fn ecn(ip: &[u8]) -> Ecn {
    match ip.first().map(|byte| byte >> 4) {
        Some(4) if ip.len() >= IP_HEADER => Ecn::of_traffic_class(ip[1]),
        Some(6) if ip.len() >= IP6_HEADER => Ecn::of_traffic_class(ip[1] >> 4),
        _ => Ecn::NotEct,
    }
}

/// A hash of addresses, protocol and ports, alike for all packets of a flow.
pub fn flow_hash(ip: &[u8]) -> u32 {
    let Some(layout) = Layout::of(ip) else {
        return 0;
    };
    let mut hasher = DefaultHasher::new();
    hasher.write(&ip[layout.addresses.0..layout.addresses.1]);
    hasher.write_u8(layout.protocol);
    let whole = layout.fragment_offset == 0 && !layout.more_fragments;
    if matches!(layout.protocol, TCP | UDP) && whole {
        hasher.write(ip.get(layout.transport..).and_then(|ports| ports.get(..4)).unwrap_or(&[]));
    }
    (hasher.finish() >> 32) as u32
}

fn header_length(ip: &[u8]) -> usize {
    usize::from(ip[0] & 15) * 4
}

#[cfg(test)]
mod flow_tests {
    use std::net::IpAddr;

    use super::tests::{segment, udp_datagram};
    use super::*;
    use crate::link::tun::HEADER;

    #[test]
    fn fragments_and_icmp_have_no_flow() {
        let mut frame = udp_datagram((Ipv4Addr::LOCALHOST, 5), (Ipv4Addr::LOCALHOST, 6), b"");
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Source), Some((true, 5)));
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Destination), Some((true, 6)));
        frame[HEADER + 6] = MORE_FRAGMENTS;
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Source), None);
        frame[HEADER + 6] = 0;
        frame[HEADER + 9] = ICMP;
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Source), None);
        assert_eq!(flow(&frame[HEADER..HEADER + 10], FlowEnd::Source), None);
    }

    #[test]
    fn ipv6_with_extensions_is_read_and_marked() {
        let ends = ["fd00:1::1", "fd00:1::2"].map(|a| a.parse::<IpAddr>().unwrap());
        let mut frame = segment(UDP, (ends[0], 5), (ends[1], 6), b"hello");
        let plain = headers(&frame[HEADER..]);
        assert_eq!((plain.protocol, plain.source, plain.destination), (UDP, 5, 6));
        assert_eq!((plain.payload, plain.flags), (5, b'h'));
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Source), None);
        set_ecn(&mut frame, Ecn::Ce);
        assert_eq!((ecn(&frame[HEADER..]), frame[HEADER]), (Ecn::Ce, 0x60));
        let ip = &frame[HEADER..];
        let extended = |offset: u16| {
            let fragment = [UDP, 0, (offset >> 5) as u8, (offset << 3) as u8 | 1, 0, 0, 0, 7];
            let options = [&[FRAGMENT, 1][..], &[0; 14]].concat();
            let mut ip = [&ip[..IP6_HEADER], &options, &fragment, &ip[IP6_HEADER..]].concat();
            ip[6] = HOP_BY_HOP;
            ip
        };
        assert_eq!(headers(&extended(0)), plain);
        let later = extended(3);
        assert!(is_udp(&later) && headers(&later).source == 0);
        assert!(unreachable(&later, Unreachable::Port).is_none());
        assert_ne!(flow_hash(ip), flow_hash(&later));
        let other = segment(UDP, (ends[0], 5), (ends[1], 7), b"hello");
        assert_ne!(flow_hash(ip), flow_hash(&other[HEADER..]));
        for cut in 0..later.len() {
            headers(&later[..cut]);
        }
    }

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
        for none in [&[][..], &[1, 1, 1, 3], &[0, 3, 3, 7], &[2, 0, 2, 0], &[8, 200, 3, 3]] {
            assert_eq!(scale(0x02, none), 0, "{none:?}");
        }
    }
}

//! What a link reads in IPv4 packets: which are UDP, and what the headers of TCP and UDP hold. What it changes in them and
//! answers is below.

mod rewrite;

use std::hash::{DefaultHasher, Hasher};
use std::net::Ipv4Addr;

use h123_link::Ecn;

#[cfg(test)]
pub use self::rewrite::tests;
pub use self::rewrite::{NEEDS_CHECKSUM, Unreachable, adjust, rewrite, set_ecn, unreachable};

const ICMP: u8 = 1;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const TCP_HEADER: usize = 20;
const SYN: u8 = 2;
/// TCP's options.
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const WINDOW_SCALE: u8 = 3;
const MORE_FRAGMENTS: u8 = 0x20;

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

/// Whether it is UDP, and the port at that end; none of what is neither TCP nor UDP, of fragments and of what is cut off.
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
        _ => Ecn::NotEct,
    }
}

/// A hash of addresses, protocol and ports, alike for all packets of a flow.
pub fn flow_hash(ip: &[u8]) -> u32 {
    if ip.len() < IP_HEADER || ip[0] >> 4 != 4 {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&ip[12..20]);
    hasher.write_u8(ip[9]);
    if matches!(ip[9], TCP | UDP) && fragment_offset(ip) == 0 && ip[6] & MORE_FRAGMENTS == 0 {
        hasher.write(
            ip.get(header_length(ip)..)
                .and_then(|ports| ports.get(..4))
                .unwrap_or(&[]),
        );
    }
    (hasher.finish() >> 32) as u32
}

fn header_length(ip: &[u8]) -> usize {
    usize::from(ip[0] & 15) * 4
}

fn fragment_offset(ip: &[u8]) -> u16 {
    u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff
}

#[cfg(test)]
mod flow_tests {
    use super::tests::udp_datagram;
    use super::*;
    use crate::link::tun::HEADER;

    #[test]
    fn fragments_and_icmp_have_no_flow() {
        let mut frame = udp_datagram((Ipv4Addr::LOCALHOST, 5), (Ipv4Addr::LOCALHOST, 6), b"");
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Source), Some((true, 5)));
        assert_eq!(
            flow(&frame[HEADER..], FlowEnd::Destination),
            Some((true, 6))
        );
        frame[HEADER + 6] = MORE_FRAGMENTS;
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Source), None);
        frame[HEADER + 6] = 0;
        frame[HEADER + 9] = ICMP;
        assert_eq!(flow(&frame[HEADER..], FlowEnd::Source), None);
        assert_eq!(flow(&frame[HEADER..HEADER + 10], FlowEnd::Source), None);
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
}

//! Where the client's packets are seen, done to their bytes: as by the network address translation (NAT) at its side of
//! the link. What is sent is changed when it comes to the link, what comes back when it leaves it, so the link's record
//! of packets has them as the other side sees them.

use std::net::Ipv4Addr;

use h123_link::{Move, Place, Sightings};

use crate::files::trial::moved;
use crate::link::packet::{self, FlowEnd};

/// What the translation makes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    AsItIs,
    As(Ipv4Addr, u16),
    /// Nobody is known there, or no port is left.
    Closed,
}

impl Translation {
    /// Does it to a frame.
    pub fn apply(self, frame: &mut [u8], end: FlowEnd) {
        if let Translation::As(address, port) = self {
            packet::rewrite(frame, end, address, port);
        }
    }
}

pub struct Nat {
    sightings: Sightings,
    own: Ipv4Addr,
    moved: u32,
}

impl Nat {
    /// Of a link with that number, whose client has this address.
    pub fn new(moves: &[Move], seed: u64, own: Ipv4Addr, link: usize) -> Self {
        Self { sightings: Sightings::new(moves, seed), own, moved: moved::network(link).into() }
    }

    /// Of a packet that the client sends at `now`.
    pub fn outwards(&mut self, now: u64, ip: &[u8]) -> Translation {
        let Some((udp, port)) = packet::flow(ip, FlowEnd::Source) else {
            return self.without_flow(now);
        };
        match self.sightings.outwards(now, udp, port) {
            None => Translation::Closed,
            Some(place) if (place.address, place.port) == (0, port) => Translation::AsItIs,
            Some(place) => Translation::As(self.address(place.address), place.port),
        }
    }

    /// Of one that comes to the client at `now`.
    pub fn inwards(&self, now: u64, ip: &[u8]) -> Translation {
        let Some((udp, port)) = packet::flow(ip, FlowEnd::Destination) else {
            return self.without_flow(now);
        };
        let Some(address) = self.number(packet::address(ip, FlowEnd::Destination)) else {
            return Translation::Closed;
        };
        let place = Place { udp, address, port };
        match self.sightings.inwards(now, place) {
            None => Translation::Closed,
            Some(own) if (address, port) == (0, own) => Translation::AsItIs,
            Some(own) => Translation::As(self.own, own),
        }
    }

    /// What has no ports, such as ICMP, and fragments, which show none: they pass while the address is the client's own.
    fn without_flow(&self, now: u64) -> Translation {
        match self.sightings.address(now) {
            0 => Translation::AsItIs,
            _ => Translation::Closed,
        }
    }

    fn address(&self, number: u8) -> Ipv4Addr {
        match number {
            0 => self.own,
            number => Ipv4Addr::from(self.moved | u32::from(number)),
        }
    }

    fn number(&self, address: Ipv4Addr) -> Option<u8> {
        if address == self.own {
            return Some(0);
        }
        let within = u32::from(address) ^ self.moved;
        u8::try_from(within).ok().filter(|&number| number > 0)
    }
}

#[cfg(test)]
mod tests {
    use h123_link::New;

    use super::*;
    use crate::link::packet::tests::udp_datagram;
    use crate::link::tun::HEADER;

    const OWN: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
    const SERVER: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);

    #[test]
    fn there_and_back() {
        let moves = [Move { at_ns: 5, new: New::Address, overlap_ns: 0 }];
        let mut nat = Nat::new(&moves, 1, OWN, 3);
        let mut frame = udp_datagram((OWN, 40_000), (SERVER, 443), b"there");
        assert_eq!(nat.outwards(4, &frame[HEADER..]), Translation::AsItIs);
        let translation = nat.outwards(5, &frame[HEADER..]);
        let Translation::As(address, port) = translation else { panic!("{translation:?}") };
        assert_eq!(address, Ipv4Addr::new(100, 64, 3, 1));
        translation.apply(&mut frame, FlowEnd::Source);
        assert_eq!(frame, udp_datagram((address, port), (SERVER, 443), b"there"));

        let mut answer = udp_datagram((SERVER, 443), (address, port), b"back");
        let translation = nat.inwards(6, &answer[HEADER..]);
        translation.apply(&mut answer, FlowEnd::Destination);
        assert_eq!(answer, udp_datagram((SERVER, 443), (OWN, 40_000), b"back"));
        let late = udp_datagram((SERVER, 443), (OWN, 40_000), b"late");
        assert_eq!(nat.inwards(4, &late[HEADER..]), Translation::AsItIs);
        assert_eq!(nat.inwards(5, &late[HEADER..]), Translation::Closed);
        let astray = udp_datagram((SERVER, 443), (Ipv4Addr::new(100, 64, 4, 1), port), b"");
        assert_eq!(nat.inwards(6, &astray[HEADER..]), Translation::Closed);
    }
}

//! Segments are those that the kernel makes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use h123_link::Ecn;
use proptest::prelude::*;

use super::*;
use crate::host::namespace::Host;
use crate::host::netlink::{Netlink, near};
use crate::link::packet::{self, tests::super_packet};
use crate::link::packet::{FlowEnd, TCP, UDP, rewrite, set_ecn};
use crate::link::tun::LONGEST;

const ICMP6: u8 = 58;

/// Of a sender and a receiver.
type Ends = [IpAddr; 2];

const IPV4: Ends = [IpAddr::V4(Ipv4Addr::new(10, 1, 0, 2)), IpAddr::V4(Ipv4Addr::new(10, 2, 0, 2))];
const IPV6: Ends =
    [IpAddr::V6(Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 2)), IpAddr::V6(Ipv6Addr::new(0xfd00, 2, 0, 0, 0, 0, 0, 2))];

fn of(frame: &[u8]) -> SuperPacket {
    SuperPacket::new(frame.into(), frame.len())
}

fn frame_of(whole: &SuperPacket, segments: Range<usize>) -> Vec<u8> {
    let frame = &whole.frame[..whole.length];
    let Some(cut) = &whole.cut else {
        return frame.to_vec();
    };
    let head = cut.head(frame, segments.clone());
    let payload = cut.payload(segments, frame.len());
    [&head.bytes[..head.length], &frame[payload]].concat()
}

/// A router between two devices, of which the second takes no super-packets.
struct Router {
    _host: Host,
    ports: [Tun; 2],
}

impl Router {
    fn new() -> Self {
        let host = Host::with_families("router", true).unwrap();
        let ports = host.within(|| {
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
            std::fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1")?;
            let netlink = Netlink::open()?;
            let mut ports = vec![];
            for port in [0, 1] {
                let name = format!("h123-port-{port}");
                ports.push(Tun::create(&name)?);
                netlink.bring_up_with_queue(&name, 10_000)?;
                for own in [router(IPV4[port]), router(IPV6[port])] {
                    netlink.add_address(&name, own)?;
                    netlink.add_route(&name, own, near(own), None, Default::default())?;
                }
                netlink.wait_until_running(&name)?;
            }
            ports[1].refuse_super_packets();
            Ok(ports)
        });
        let mut ports: [Tun; 2] = ports.unwrap().try_into().ok().unwrap();
        ports.iter_mut().for_each(|port| port.drain().unwrap());
        Self { _host: host, ports }
    }

    /// What comes out where a frame goes in.
    fn pass(&mut self, frame: &[u8], number: usize) -> Vec<Vec<u8>> {
        self.ports[0].write(frame).unwrap();
        let (mut out, begin) = (vec![], Instant::now());
        let mut inbox = vec![0; LONGEST];
        while out.len() < number && begin.elapsed() < Duration::from_secs(20) {
            match self.ports[1].read(&mut inbox).unwrap() {
                // A router says by ICMPv6 that it is one.
                Some(arrival) if packet::headers(&inbox[HEADER..arrival.length]).protocol == ICMP6 => {}
                Some(arrival) => out.push(inbox[..arrival.length].to_vec()),
                None => std::thread::yield_now(),
            }
        }
        out
    }
}

/// Of the same network.
fn router(neighbour: IpAddr) -> IpAddr {
    match neighbour {
        IpAddr::V4(four) => Ipv4Addr::from(u32::from(four) - 1).into(),
        IpAddr::V6(six) => Ipv6Addr::from(u128::from(six) - 1).into(),
    }
}

/// As a router forwards it: one hop less, and none of the virtio header's hints.
fn forwarded(mut frame: Vec<u8>) -> Vec<u8> {
    if frame[HEADER] >> 4 == 6 {
        frame[HEADER + 7] -= 1;
        frame[2..4].fill(0);
        return frame;
    }
    let before = word(&frame, HEADER + 8);
    frame[HEADER + 8] -= 1;
    let changed = [(before, word(&frame, HEADER + 8))];
    adjust(&mut frame[HEADER + 10..HEADER + 12], &changed, false);
    frame[2..4].fill(0);
    frame
}

/// Needs root, like the lab.
#[test]
fn super_packets_are_cut_as_the_kernel_cuts_them() {
    let mut router = Router::new();
    for ([sender, receiver], protocol) in [(IPV4, TCP), (IPV4, UDP), (IPV6, TCP), (IPV6, UDP)] {
        for (size, payload, flags) in
            [(1428, 1428 * 20, 0x18), (1428, 1428 * 3 + 1, 0x19), (100, 6_400, 0x10), (536, 600, 0x11)]
        {
            let whole = of(&super_packet(protocol, (sender, 5), (receiver, 6), size, payload, flags));
            let all = whole.segments();
            assert_eq!(all, payload.div_ceil(size));
            for segments in [0..all, 1..all, 0..all - 1, all / 2..all / 2 + 1] {
                let wanted: Vec<_> = segments.clone().map(|segment| forwarded(whole.segment(segment))).collect();
                let frame = frame_of(&whole, segments.clone());
                let mut found = router.pass(&frame, segments.len());
                found.iter_mut().for_each(|frame| frame[2..4].fill(0));
                assert_eq!(found.len(), wanted.len(), "{protocol} {size} {payload} {segments:?}");
                for (place, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                    let headers = 10 + 80;
                    assert_eq!(
                        found[..headers.min(found.len())],
                        wanted[..headers.min(wanted.len())],
                        "{protocol} {size} {payload} {segments:?}: {place}"
                    );
                    assert_eq!(found, wanted);
                }
            }
        }
    }
}

proptest! {
    /// Cutting a part is cutting the whole, whatever is done to the headers in between.
    #[test]
    fn parts_have_the_segments_of_the_whole(
        protocol in prop_oneof![Just(TCP), Just(UDP)],
        [sender, receiver] in prop_oneof![Just(IPV4), Just(IPV6)],
        (size, payload) in (1..2000usize, 2..60_000usize),
        (one, other) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        flags in any::<u8>(),
    ) {
        let whole = of(&super_packet(protocol, (sender, 5), (receiver, 6), size, payload, flags));
        let all = whole.segments();
        let (one, other) = (one.index(all), other.index(all));
        let segments = one.min(other)..one.max(other) + 1;
        let mut part = frame_of(&whole, segments.clone());
        prop_assert_eq!(part.len() - HEADER, whole.bytes(segments.clone())
            - (segments.len() - 1) * (whole.cut.as_ref().map_or(0, |cut| cut.head - HEADER)));
        let change = |frame: &mut [u8]| {
            if sender.is_ipv4() {
                rewrite(frame, FlowEnd::Source, Ipv4Addr::new(100, 64, 0, 1), 77);
            }
            set_ecn(frame, Ecn::Ce);
        };
        change(&mut part);
        let part = of(&part);
        prop_assert_eq!(part.segments(), segments.len());
        for (place, segment) in segments.enumerate() {
            let mut wanted = whole.segment(segment);
            change(&mut wanted);
            prop_assert_eq!(part.segment(place), wanted);
        }
    }

    /// Whatever a device hands out: it can be cut, and all of its payload is in its segments.
    #[test]
    fn any_frame_can_be_cut(
        kind in prop_oneof![Just(0), Just(1), Just(4), Just(5), any::<u8>()],
        (size, start) in (any::<u16>(), prop_oneof![Just(20), Just(40), any::<u16>()]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut frame = vec![1, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        frame[4..6].copy_from_slice(&size.to_ne_bytes());
        frame[6..8].copy_from_slice(&start.to_ne_bytes());
        frame.extend(bytes);
        let packet = of(&frame);
        let all = packet.segments();
        let whole: usize = (0..all).map(|segment| packet.bytes(segment..segment + 1)).sum();
        prop_assert_eq!(whole, packet.bytes(0..all));
        for segment in [0, all - 1] {
            prop_assert_eq!(packet.segment(segment).len() - HEADER, packet.bytes(segment..segment + 1));
        }
    }
}

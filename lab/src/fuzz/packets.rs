//! Whatever bytes arrive at a link, in whatever order and at whatever times, and whatever the kernel's tables say: no panic, and
//! answers that are packets.

use std::net::Ipv4Addr;

use h123_link::{Decision, Direction, Ecn, Fate};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::fuzz;
use super::numbers::any_number;
use crate::check::probe::{Arrival, Passage};
use crate::check::train::{SMALLEST, Train};
use crate::check::train_check::TrainOutcome;
use crate::host::account::counters;
use crate::host::stalls::Stalls;
use crate::link::course::Course;
use crate::link::lateness::Lateness;
use crate::link::packet::{FlowEnd, Unreachable, flow, headers, is_udp, rewrite, unreachable};
use crate::link::packet_record::{Keep, Packets};
use crate::link::tun::HEADER;
use crate::roles::ready::{LISTEN, bound};

/// Times of a monotonic clock: 36 years.
const LATEST_NS: u64 = 1 << 60;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PacketsCase {
    /// An IP packet, or what came instead.
    packet: Vec<u8>,
    /// Of `/proc/net`.
    table: String,
    /// Of each packet, when it was sent and when it arrived at the link.
    sent: Vec<(u64, u64)>,
    /// What came out: sequence numbers and times.
    arrivals: Vec<(u64, u64)>,
    /// Something that was due, and when it was done.
    stalls: Vec<(u64, u64)>,
}

fn any_case() -> impl Strategy<Value = PacketsCase> {
    let times = || prop::collection::vec((any_number(), any_number()), 0..12);
    let received = prop::collection::vec((prop_oneof![0..12u64, any_number()], any_number()), 0..12);
    (any_packet(), any_table(), times(), received, times())
        .prop_map(|(packet, table, sent, arrivals, stalls)| PacketsCase { packet, table, sent, arrivals, stalls })
}

/// Most of them with the first bytes of IPv4 or IPv6, and UDP or TCP.
fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![4 => 0..64usize, 1 => 0..=1500usize];
    let bytes = size.prop_flat_map(|size| prop::collection::vec(any::<u8>(), size));
    let like = prop_oneof![2 => Just(None), 1 => Just(Some(17)), 1 => Just(Some(6))];
    (bytes, like, any::<bool>()).prop_map(|(mut bytes, like, six)| {
        if let (Some(protocol), 10..) = (like, bytes.len()) {
            let (version, place) = if six { (0x60, 6) } else { (0x40, 9) };
            bytes[0] = version | bytes[0] & 15;
            bytes[place] = protocol;
        }
        bytes
    })
}

fn any_table() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ -~]{0,40}",
        "[A-Z][a-z]{0,4}:( [A-Za-z]{0,6}){0,4}",
        "[A-Z][a-z]{0,4}:( -?[0-9]{0,20}){0,4}",
        " {0,3}[0-9]: [0-9A-F]{0,8}:[0-9A-Fa-f]{0,5} [0-9A-F]{8}:[0-9A-F]{4} (0A|07|01)",
        any::<String>(),
    ];
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"))
}

fn test(case: &PacketsCase) {
    answer(&case.packet, Unreachable::Port);
    answer(&case.packet, Unreachable::TooLarge(1280));
    move_ends(&case.packet);
    note(&case.packet);
    counters(&case.table);
    bound(&case.table, LISTEN);
    measure(case);
    late(&case.stalls);
}

/// "Destination unreachable" goes to whom the packet came from, quotes its beginning, and its checksums are right.
fn answer(packet: &[u8], why: Unreachable) {
    if !is_udp(packet) {
        return;
    }
    let six = packet[0] >> 4 == 6;
    let Some(frame) = unreachable(packet, why) else {
        if six {
            return;
        }
        let offset = u16::from_be_bytes([packet[6], packet[7]]) & 0x1fff;
        return assert_ne!(offset, 0, "the first fragment is answered");
    };
    let (header, ip) = frame.split_at(HEADER);
    assert!(header.iter().all(|&byte| byte == 0));
    let sum = |part: &[u8]| {
        let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u64::from(low));
        part.chunks(2).map(word).sum::<u64>() % 0xffff
    };
    if six {
        let length = usize::from(u16::from_be_bytes([ip[4], ip[5]]));
        assert!(length == ip.len() - 40 && ip.len() <= 1280);
        let turned = [&ip[24..40], &ip[8..24]];
        assert_eq!(turned, [&packet[8..24], &packet[24..40]]);
        assert!(packet.starts_with(&ip[48..]));
        assert_eq!((sum(&ip[8..]) + 58 + length as u64) % 0xffff, 0);
        return;
    }
    assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), ip.len());
    assert!(ip.len() <= 28 + 60 + 8);
    assert_eq!([&ip[12..16], &ip[16..20]], [&packet[16..20], &packet[12..16]]);
    assert!(packet.starts_with(&ip[28..]));
    for part in [&ip[..20], &ip[20..]] {
        assert_eq!(sum(part), 0, "a checksum is wrong");
    }
}

/// What has a flow can be given another one, and nothing else of it changes.
fn move_ends(packet: &[u8]) {
    for end in [FlowEnd::Source, FlowEnd::Destination] {
        let Some((udp, _)) = flow(packet, end) else {
            continue;
        };
        let mut frame = [&[0; HEADER], packet].concat();
        rewrite(&mut frame, end, Ipv4Addr::new(100, 64, 0, 1), 7);
        let ip = &frame[HEADER..];
        assert_eq!(flow(ip, end), Some((udp, 7)));
        let changed = ip.iter().zip(packet).filter(|(new, old)| new != old);
        assert!(changed.count() <= 4 + 2 + 2 + 2);
    }
}

/// Whatever a packet is, there is one record of it, of which no part is longer than the packet.
fn note(packet: &[u8]) {
    let found = headers(packet);
    assert!(usize::from(found.payload) <= packet.len() && found.scale <= 15);
    let mut packets = Packets::new(Keep { most: 2, capture: true, frames: true });
    for (way, fate) in [(0, Fate::Lost), (1, Fate::QueueDropped)] {
        assert_eq!(packets.came(5, way, packet), Some(way));
        packets.decided(way, Decision { ticket: way, fate, marked: false, ecn: Ecn::NotEct });
        assert_eq!(packets.arrivals(way).collect::<Vec<_>>(), [5]);
    }
}

/// What a check makes of a train of which anything may have arrived.
fn measure(case: &PacketsCase) {
    let json = r#"{"delay_ns": 1000000, "rate": {"bps": 1000000}, "loss": {"random": 0.3}}"#;
    let direction: Direction = serde_json::from_str(json).expect("a direction");
    let course = Course::new([direction.clone(), direction.clone()], 1, "link");
    let train = Train { bytes: SMALLEST, offsets_ns: vec![], catch_up: true, tail_ns: 0 };
    for stamps in [false, true] {
        let passage = Passage {
            sent_ns: case.sent.iter().map(|sent| sent.0 % LATEST_NS).collect(),
            arrivals: case
                .arrivals
                .iter()
                .map(|&(sequence, at)| Arrival { sequence: sequence as usize, at_ns: at % LATEST_NS })
                .collect(),
        };
        let arrivals = case.sent.iter().map(|sent| sent.1 % LATEST_NS).collect();
        let outcome = TrainOutcome::new(&course, 0, &train, passage, arrivals, 0, stamps);
        let (delay, burst) = (outcome.delay(), outcome.burst());
        assert!(delay.lost <= delay.probes);
        assert_eq!(burst.sent, case.sent.len() as u64);
        let loss = outcome.loss(&direction, course.seed(0)).expect("there is a loss");
        assert!(loss.lost <= loss.sent && loss.low <= loss.high && loss.high <= loss.sent);
        outcome.rate(1_000_000);
    }
}

fn late(times: &[(u64, u64)]) {
    let mut times = times.to_vec();
    times.sort_by_key(|&(_, done)| done);
    let mut lateness = Lateness::new();
    let (mut stalls, mut others) = (Stalls::default(), Stalls::default());
    for (number, &(due, done)) in times.iter().enumerate() {
        lateness.record(done.saturating_sub(due), 1);
        let one = if number % 2 == 0 { &mut stalls } else { &mut others };
        one.record(due, done);
    }
    lateness.report();
    let stalls = stalls.join(others);
    let spans: Vec<(u64, u64)> = serde_json::from_value(serde_json::to_value(&stalls).expect("spans")).expect("spans");
    assert!(spans.iter().all(|(from, to)| from < to));
    assert!(spans.windows(2).all(|pair| pair[0].1 < pair[1].0), "{spans:?}");
    let whole = stalls.within(0, u64::MAX);
    assert!(stalls.within(1_000, 1_000_000_000) <= whole);
}

#[test]
fn packets() {
    fuzz("packets", 4000, any_case(), test);
}

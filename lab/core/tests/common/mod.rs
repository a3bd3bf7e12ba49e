//! Packets for the tests to offer.
#![allow(dead_code, reason = "each test program uses its own part of this")]

pub mod generators;

use h123_link::{Direction, Fate, Packet, Party, Path};

pub const MS: u64 = 1_000_000;

pub fn direction(json: &str) -> Direction {
    let direction: Direction = serde_json::from_str(json).unwrap();
    direction.validate().unwrap();
    direction
}

pub fn tcp(bytes: u32) -> Packet {
    Packet { bytes, ..Packet::default() }
}

pub fn udp(bytes: u32) -> Packet {
    Packet { udp: true, ..tcp(bytes) }
}

/// The fate of one of the link's own packets, on a path that decides at once.
pub fn own(path: &mut Path, now: u64, packet: Packet) -> Fate {
    own_if(path, now, packet, |_| true)
}

/// The same, of a packet that is blocked at its delivery unless it `reaches` somebody then.
pub fn own_if(path: &mut Path, now: u64, packet: Packet, reaches: impl FnOnce(u64) -> bool) -> Fate {
    path.offer(now, Party::Own, packet, 7);
    let decision = path.next(now, |_, at| reaches(at)).unwrap();
    assert_eq!(decision.ticket, 7);
    decision.fate
}

/// The fate of a packet of cross traffic.
pub fn cross(path: &mut Path, now: u64, packet: Packet) -> Fate {
    path.offer(now, Party::Cross, packet, 7);
    path.next(now, |_, _| false).unwrap().fate
}

/// The fates of packets offered one after another to a new path.
pub fn fates(direction: &Direction, seed: u64, packets: &[(u64, Packet)]) -> Vec<Fate> {
    let mut path = Path::new(direction, seed);
    packets.iter().map(|&(now, packet)| own(&mut path, now, packet)).collect()
}

/// When TCP packets of (arrival, bytes) are delivered; `None`: not at all.
pub fn deliveries(json: &str, packets: &[(u64, u32)]) -> Vec<Option<u64>> {
    let packets: Vec<_> = packets.iter().map(|&(now, bytes)| (now, tcp(bytes))).collect();
    fates(&direction(json), 1, &packets).into_iter().map(delivery).collect()
}

pub fn delivery(fate: Fate) -> Option<u64> {
    match fate {
        Fate::Deliver { at, .. } => Some(at),
        _ => None,
    }
}

/// Indices of the lost packets among `n` full ones, one each `gap` ns.
pub fn losses(direction: &Direction, seed: u64, n: u64, gap: u64) -> Vec<u64> {
    let mut path = Path::new(direction, seed);
    (0..n).filter(|i| own(&mut path, i * gap, tcp(1500)) == Fate::Lost).collect()
}

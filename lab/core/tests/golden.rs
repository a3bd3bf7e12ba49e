//! The same seed gives the same fates, whatever becomes of the code: golden.json holds a digest of 20 000 fates on each of
//! these directions. A digest that changes means a new `DRAWS`, because results of two versions are then not comparable.

mod common;

use std::fmt::Write;

use common::{MS, direction, tcp, udp};
use h123_link::{DRAWS, Packet, Path};
use sha2::{Digest, Sha256};

const PACKETS: u64 = 20_000;

/// What golden.json holds of each direction.
#[derive(serde::Deserialize)]
struct Golden {
    direction: serde_json::Value,
    fates: String,
}

#[test]
fn the_fates_of_a_seed_stay_as_they_are() {
    let golden: Vec<Golden> = serde_json::from_str(include_str!("golden.json")).unwrap();
    assert_eq!(DRAWS, 1);
    let (known, now): (Vec<_>, Vec<_>) = golden
        .into_iter()
        .enumerate()
        .map(|(seed, golden)| (golden.fates, digest(&golden.direction.to_string(), seed as u64)))
        .unzip();
    assert_eq!(now, known, "by direction of golden.json");
}

/// SHA-256 of the fates of own packets and cross traffic, and of how many there were of each.
fn digest(json: &str, seed: u64) -> String {
    let mut path = Path::new(&direction(json), seed);
    let (mut now, mut state, mut fates) = (0, seed + 1, String::new());
    for _ in 0..PACKETS {
        // A linear congruential generator (D. E. Knuth, MMIX): pauses, sizes and kinds of packets.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = |shift: u32, below: u64| (state >> shift) % below;
        now += if draw(40, 3) == 0 { 0 } else { draw(20, MS) };
        let bytes = 40 + draw(30, 1461) as u32;
        let packet: Packet = if draw(50, 2) == 0 { udp(bytes) } else { tcp(bytes) };
        let fate = match draw(56, 8) {
            0 => common::cross(&mut path, now, packet),
            1 => common::own_if(&mut path, now, packet, |at| at % 2 == 0),
            _ => common::own(&mut path, now, packet),
        };
        writeln!(fates, "{fate:?}").unwrap();
    }
    for tally in [path.tally(), path.cross_tally()] {
        let waits = (tally.passed, tally.waited_ns, tally.longest_wait_ns);
        writeln!(fates, "{} {waits:?} {}", tally.bytes_delivered, tally.drop_set()).unwrap();
    }
    let digest = Sha256::digest(fates);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

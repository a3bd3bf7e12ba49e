//! Numbers at and around the places where something may break.

use proptest::prelude::*;

/// The largest rate of a link, in bits a second.
pub const LARGEST: u64 = 1_000_000_000_000_000;
/// Limits of types and of the lab.
const EDGES: [u64; 12] = [
    0,
    1,
    36,
    1499,
    1500,
    65_535,
    u32::MAX as u64,
    LARGEST,
    10_000_000_000_000_000,
    1 << 53,
    i64::MAX as u64,
    u64::MAX,
];

/// Any, all orders of magnitude alike, and the edges with their neighbours.
pub fn any_number() -> impl Strategy<Value = u64> {
    let edge = (prop::sample::select(&EDGES[..]), -1i64..=1).prop_map(|(edge, off)| edge.wrapping_add_signed(off));
    prop_oneof![1 => edge, 3 => (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift)]
}

/// The same, up to `most`.
pub fn up_to(most: u64) -> impl Strategy<Value = u64> + Clone {
    let near = (0..=most.min(2)).prop_map(move |off| most - off);
    let any = (any::<u64>(), 0u32..64).prop_map(move |(bits, shift)| (bits >> shift) % (most.max(1)));
    prop_oneof![1 => near, 6 => any]
}

/// A probability, the certain ones too.
pub fn share() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 1 => Just(5e-324), 1 => Just(1.0 - f64::EPSILON), 8 => 0.0..=1.0]
}

//! Whatever the programs under test say within TLS and QUIC, and whatever becomes of it on the way: no panic, no more rows than
//! there is room for, and none that was readable before it was sent.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::fuzz;
use crate::link::frames::{Frames, Sight, keys::Keys, made};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct FramesCase {
    /// What client and server say over TCP, after the handshake.
    tcp: [Vec<u8>; 2],
    /// Bytes of a record, and of a segment.
    sizes: (usize, usize),
    /// Over QUIC: by whom, and frames.
    quic: Vec<(bool, Vec<u8>)>,
    /// The transport parameters of both.
    parameters: [Vec<u8>; 2],
    /// Packets of which a byte is changed: which packet, which byte, how.
    harm: Vec<(usize, usize, u8)>,
    /// Packets that are lost, sent again, or cut off here.
    lost: Vec<usize>,
    again: Vec<usize>,
    cut: Vec<(usize, usize)>,
    /// Bytes in place of a packet: its protocol is TCP's if so, and it comes from the client if so.
    other: Vec<(bool, bool, u32, Vec<u8>)>,
    /// In place of the logged secrets.
    keys: Option<Vec<u8>>,
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let few = prop_oneof![3 => 0u8..0x20, 1 => any::<u8>()];
    prop::collection::vec(few, 0..most)
}

/// Half of them begin like frames of HTTP/2.
fn http2() -> impl Strategy<Value = Vec<u8>> {
    let frame = (0u8..2, any::<u8>(), 0u8..12, any::<u8>(), 0u8..8, bytes(40)).prop_map(
        |(high, length, kind, flags, stream, body)| {
            let low = if length & 1 == 0 { body.len() as u8 } else { length };
            [&[0, high & length & 1, low, kind, flags, 0, 0, 0, stream][..], &body].concat()
        },
    );
    let frames = prop::collection::vec(frame, 0..6).prop_map(|frames| frames.concat());
    prop_oneof![1 => bytes(200), 3 => frames]
}

fn any_case() -> impl Strategy<Value = FramesCase> {
    let place = || 0usize..40;
    let some = |most| prop::collection::vec(place(), 0..most);
    let harm = prop::collection::vec((place(), 0usize..300, any::<u8>()), 0..3);
    let cut = prop::collection::vec((place(), 0usize..200), 0..2);
    let other = (any::<bool>(), any::<bool>(), any::<u32>(), prop::collection::vec(any::<u8>(), 0..60));
    let said = (
        [http2(), http2()],
        (1usize..200, 1usize..200),
        prop::collection::vec((any::<bool>(), bytes(80)), 0..6),
        [bytes(40), bytes(40)],
    );
    let fate = (harm, some(3), some(3), cut, prop::collection::vec(other, 0..3));
    let keys = prop_oneof![9 => Just(None), 1 => bytes(300).prop_map(Some)];
    (said, fate, keys).prop_map(|((tcp, sizes, quic, parameters), (harm, lost, again, cut, other), keys)| FramesCase {
        tcp,
        sizes,
        quic,
        parameters,
        harm,
        lost,
        again,
        cut,
        other,
        keys,
    })
}

fn test(case: &FramesCase) {
    let [up, down] = &case.tcp;
    let streams = made::tls([up, down], case.sizes.0.clamp(1, 16_000));
    let said: Vec<(usize, Vec<u8>)> = case.quic.iter().map(|(up, frames)| (usize::from(!up), frames.clone())).collect();
    let [up, down] = &case.parameters;
    let datagrams = made::datagrams([up, down], &said);
    let mut sights = made::segments(&streams, case.sizes.1.max(1));
    sights.extend(made::sights(&datagrams));
    for &place in &case.again {
        if let Some(sight) = sights.get(place) {
            sights.push(Sight { ..*sight });
        }
    }
    for (tcp, up, sequence, payload) in &case.other {
        let protocol = if *tcp { 6 } else { 17 };
        let other = made::sight(sights.len(), usize::from(!up), protocol, payload);
        sights.push(Sight { sequence: *sequence, flags: *sequence as u8, ..other });
    }
    for &place in &case.lost {
        sights.get_mut(place).into_iter().for_each(|sight| sight.left_ns = 0);
    }
    for &(place, length) in &case.cut {
        if let Some(sight) = sights.get_mut(place) {
            sight.payload = &sight.payload[..length.min(sight.payload.len())];
        }
    }
    let mut payloads: Vec<Vec<u8>> = sights.iter().map(|sight| sight.payload.to_vec()).collect();
    for &(place, byte, change) in &case.harm {
        if let Some(byte) = payloads.get_mut(place).and_then(|payload| payload.get_mut(byte)) {
            *byte ^= change;
        }
    }
    let sights = sights.iter().zip(&payloads);
    let sights = sights.map(|(sight, payload)| Sight { payload, ..*sight });
    let keys = case.keys.as_ref().map_or_else(made::keys, |text| Keys::parse(text));
    let frames = Frames::read(sights, &keys);
    let bytes: usize = payloads.iter().map(Vec::len).sum();
    frames.check(bytes);
}

#[test]
fn frames() {
    fuzz("frames", 1000, any_case(), test);
}

//! Where a client is seen.

mod common;

use h123_link::*;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn moves(json: &str) -> Vec<Move> {
    let moves: Vec<Move> = serde_json::from_str(json).unwrap();
    validate_moves(&moves).unwrap();
    moves
}

#[test]
fn a_client_that_moves_is_seen_elsewhere_and_its_old_place_is_gone() {
    let moves = moves(r#"[{"at_ns": 5, "new": "port"}, {"at_ns": 9, "new": "address", "overlap_ns": 2}]"#);
    let mut seen = Sightings::new(&moves, 1);
    let [first, second, third] = [4, 5, 9].map(|now| seen.outwards(now, true, 40_000).unwrap());
    assert_eq!((first.address, first.port), (0, 40_000));
    assert_eq!(second.address, 0);
    assert_ne!(second.port, 40_000);
    assert_eq!((third.address, third.udp), (1, true));
    for (place, from, until) in [(first, 0, 5), (second, 5, 11), (third, 9, u64::MAX)] {
        assert_eq!(seen.inwards(from, place), Some(40_000));
        assert_eq!(seen.inwards(until - 1, place), Some(40_000));
        assert_eq!(seen.inwards(until, place).is_some(), until == u64::MAX);
    }
}

#[test]
fn who_never_moves_is_where_he_is() {
    let mut seen = Sightings::new(&[], 1);
    let place = seen.outwards(7, false, 443).unwrap();
    assert_eq!((place.address, place.port), (0, 443));
    assert_eq!(seen.inwards(u64::MAX, place), Some(443));
    assert_eq!(seen.inwards(8, Place { port: 444, ..place }), Some(444));
    assert_eq!(seen.inwards(8, Place { address: 1, ..place }), None);
}

#[test]
fn ports_run_out_and_are_never_shared() {
    let moves = moves(r#"[{"at_ns": 0, "new": "address"}]"#);
    let mut seen = Sightings::new(&moves, 1);
    let places = (0..64_600).map(|port| seen.outwards(0, true, port));
    let there: Vec<Place> = places.flatten().collect();
    assert!((64_500..=64_512).contains(&there.len()), "{}", there.len());
    let mut ports: Vec<u16> = there.iter().map(|place| place.port).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), there.len());
}

#[test]
fn a_packet_that_reaches_nobody_is_blocked_and_takes_its_share_of_the_link() {
    let rate = r#"{"rate": {"bps": 8000000}, "delay_ns": 1000}"#;
    let direction: Direction = serde_json::from_str(rate).unwrap();
    let mut path = Path::new(&direction, 1);
    let packet = common::udp(1000);
    let first = common::own_if(&mut path, 0, packet, |at| at > MS + 1000);
    assert_eq!(first, Fate::Blocked { reject: false });
    let second = common::own_if(&mut path, 0, packet, |at| at > MS + 1000);
    assert!(matches!(second, Fate::Deliver { at, .. } if at == 2 * MS + 1000));
    let tally = path.tally();
    assert_eq!((tally.packets_in, tally.blocked, tally.delivered), (2, 1, 1));
}

#[test]
fn what_is_wrong_is_said() {
    let one = |at_ns| Move { at_ns, new: New::Port, overlap_ns: 0 };
    let long = Move { overlap_ns: LONGEST_NS + 1, ..one(1) };
    let many: Vec<Move> = (0..=MOST_MOVES as u64).map(one).collect();
    for (moves, said) in [
        (vec![one(2), one(2)], "moves[1].at_ns is 2: moves must be in order"),
        (vec![one(LONGEST_NS + 1)], "moves[0].at_ns"),
        (vec![long], "moves[0].overlap_ns"),
        (many, "moves is 251: at most 250"),
    ] {
        let wrong = validate_moves(&moves).unwrap_err().to_string();
        assert!(wrong.starts_with(said), "{wrong}");
    }
}

fn any_moves() -> impl Strategy<Value = Vec<Move>> {
    let new = prop_oneof![Just(New::Port), Just(New::Address)];
    let one = (1..50u64, new, 0..100u64);
    prop::collection::vec(one, 0..6).prop_map(|all| {
        let mut at_ns = 0;
        let place = |(gap, new, overlap_ns)| {
            at_ns += gap;
            Move { at_ns, new, overlap_ns }
        };
        all.into_iter().map(place).collect()
    })
}

proptest! {
    /// Whatever the client sends can be answered at once; what is answered reaches the flow that asked or nobody; with
    /// the same seed all is the same again.
    #[test]
    fn answers_find_their_flow(
        moves in any_moves(),
        seed in any::<u64>(),
        sent in prop::collection::vec((0..40u64, any::<bool>(), 30_000..30_010u16), 1..60),
        later in 0..300u64,
    ) {
        let (mut seen, mut again) = (Sightings::new(&moves, seed), Sightings::new(&moves, seed));
        let (mut now, mut places) = (0, vec![]);
        for (gap, udp, port) in sent {
            now += gap;
            let place = seen.outwards(now, udp, port).unwrap();
            prop_assert_eq!(Some(place), again.outwards(now, udp, port));
            prop_assert_eq!(seen.inwards(now, place), Some(port));
            prop_assert_eq!(place.address, seen.address(now));
            prop_assert!(place.port == port || moves.iter().any(|one| one.at_ns <= now));
            places.push((place, port));
        }
        for (place, port) in places {
            prop_assert!(seen.inwards(now + later, place).is_none_or(|reached| reached == port));
        }
    }
}

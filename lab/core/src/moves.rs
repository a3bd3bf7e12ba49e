//! A client that is seen elsewhere from some moments on: its network's address translation (NAT) has forgotten it, or it
//! has come to another network.
//!
//! It does not notice by itself. What it sends is seen from the new place; what is sent to the old one no longer reaches
//! it. Nothing here is drawn from a link's stream: ports follow from the seed, the move and the client's port alone, so
//! moves change no packet's luck.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::draws::mixed;
use crate::validate::{Invalid, require, time};

/// So many addresses a client can be seen from, and no more.
pub const MOST_MOVES: usize = 250;
/// Ports below are no client's.
const FIRST_PORT: u16 = 1024;

/// From `at_ns` on the client is seen elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    pub at_ns: u64,
    pub new: New,
    /// For so long what is sent to the former place still reaches the client.
    #[serde(default)]
    pub overlap_ns: u64,
}

/// What is new about where the client is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum New {
    /// The port of each of its flows: NAT rebinding.
    Port,
    /// Its address, and the ports too.
    Address,
}

/// One end of a flow: an address, as a number (0: the client's own), and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub udp: bool,
    pub address: u8,
    pub port: u16,
}

/// Where the flows of a client are seen, over time.
pub struct Sightings {
    seed: u64,
    moves: Vec<Move>,
    /// Of the client's ports after so many moves.
    seen: HashMap<(usize, bool, u16), Place>,
    /// After how many moves it was there, and the client's port. A place is never used again.
    known: HashMap<Place, (usize, u16)>,
}

/// Checks moves as `Direction::validate` does directions.
///
/// # Errors
///
/// The first field found that makes no sense, with what it may be.
pub fn validate_moves(moves: &[Move]) -> Result<(), Invalid> {
    let allowed = format!("at most {MOST_MOVES}");
    require(moves.len() <= MOST_MOVES, "moves", moves.len(), &allowed)?;
    let mut last = None;
    for (i, one) in moves.iter().enumerate() {
        let field = format!("moves[{i}].at_ns");
        let allowed = "moves must be in order of time, each at a different time";
        require(last < Some(one.at_ns), &field, one.at_ns, allowed)?;
        last = Some(one.at_ns);
        time(&field, one.at_ns)?;
        time(&format!("moves[{i}].overlap_ns"), one.overlap_ns)?;
    }
    Ok(())
}

impl Sightings {
    /// Of valid moves, before anything has been sent.
    pub fn new(moves: &[Move], seed: u64) -> Sightings {
        Sightings { seed, moves: moves.to_vec(), seen: HashMap::new(), known: HashMap::new() }
    }

    /// Where a flow is seen from that the client sends at `now` from a port of its own; none where no port is left.
    pub fn outwards(&mut self, now: u64, udp: bool, port: u16) -> Option<Place> {
        let count = self.count(now);
        if let Some(place) = self.seen.get(&(count, udp, port)) {
            return Some(*place);
        }
        let place = self.new_place(count, udp, port)?;
        self.seen.insert((count, udp, port), place);
        self.known.insert(place, (count, port));
        Some(place)
    }

    /// The client's port that a packet for this place reaches at `now`; none where nobody knows the place any more.
    pub fn inwards(&self, now: u64, place: Place) -> Option<u16> {
        // The client's own ports need no packet of it to be known, until it moves.
        let own = (place.address == 0).then_some((0, place.port));
        let (count, port) = self.known.get(&place).copied().or(own)?;
        let until = self.moves.get(count);
        let reached = until.is_none_or(|next| now < next.at_ns.saturating_add(next.overlap_ns));
        reached.then_some(port)
    }

    /// The address that the client has at `now`, as a number.
    pub fn address(&self, now: u64) -> u8 {
        self.address_after(self.count(now))
    }

    /// How many moves there were.
    fn count(&self, now: u64) -> usize {
        self.moves.partition_point(|one| one.at_ns <= now)
    }

    fn address_after(&self, count: usize) -> u8 {
        let moves = self.moves[..count].iter();
        moves.filter(|one| one.new == New::Address).count() as u8
    }

    /// Any port but one where a flow was seen already, the client's own included.
    fn new_place(&self, count: usize, udp: bool, port: u16) -> Option<Place> {
        let address = self.address_after(count);
        let at = |port| Place { udp, address, port };
        if count == 0 {
            return Some(at(port));
        }
        let span = u64::from(u16::MAX - FIRST_PORT) + 1;
        let which = (count as u64) << 17 | u64::from(udp) << 16 | u64::from(port);
        let first = mixed(self.seed, which) % span;
        let free = |place: &Place| place.port != port && !self.known.contains_key(place);
        let others = (0..span).map(|i| at(FIRST_PORT + ((first + i) % span) as u16));
        others.into_iter().find(free)
    }
}

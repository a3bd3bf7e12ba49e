//! What a link does from a time zero on.

use std::net::Ipv4Addr;

use h123_link::{Direction, Move, Path, stream_seed};

use crate::files::per_direction::UP;
use crate::link::nat::Nat;
use crate::link::packet_record::{Keep, Packets};

/// What both directions do from a time zero on, `[up, down]`.
#[derive(Clone)]
pub struct Course {
    directions: [Direction; 2],
    seeds: [u64; 2],
    moves: Option<Moves>,
    keep: Keep,
}

/// When the client, which sends `up`, is seen elsewhere, and what of it is known.
#[derive(Clone)]
pub struct Moves {
    pub moves: Vec<Move>,
    pub client: Ipv4Addr,
    /// The link's number.
    pub link: usize,
}

impl Course {
    pub fn new(directions: [Direction; 2], seed: u64, link: &str) -> Self {
        Self {
            directions,
            seeds: [stream_seed(seed, link, "up"), stream_seed(seed, link, "down")],
            moves: None,
            keep: Keep::default(),
        }
    }

    /// The same with a client that moves.
    pub fn moving(self, moves: Moves) -> Self {
        let moves = (!moves.moves.is_empty()).then_some(moves);
        Self { moves, ..self }
    }

    /// The same luck on other directions.
    pub fn with(&self, change: impl Fn(&Direction) -> Direction) -> Self {
        Self { directions: self.directions.each_ref().map(change), ..self.clone() }
    }

    /// The same, with a record of its packets.
    pub fn recording(&self, keep: Keep) -> Self {
        Self { keep, ..self.clone() }
    }

    /// The same without what depends on time (blackouts, changes, moves).
    pub fn without_events(&self) -> Self {
        Self { moves: None, ..self.with(Direction::before_events) }
    }

    pub fn nat(&self) -> Option<Nat> {
        let moves = self.moves.as_ref()?;
        Some(Nat::new(&moves.moves, self.seeds[UP], moves.client, moves.link))
    }

    pub fn record(&self) -> Option<Packets> {
        (self.keep.most > 0).then(|| Packets::new(self.keep))
    }

    pub fn direction(&self, way: usize) -> &Direction {
        &self.directions[way]
    }

    pub fn seed(&self, way: usize) -> u64 {
        self.seeds[way]
    }

    /// A model of one direction on which nothing has travelled yet.
    pub fn path(&self, way: usize) -> Path {
        Path::new(&self.directions[way], self.seeds[way])
    }
}

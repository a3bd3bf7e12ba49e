//! Packets on which the model has not decided yet.

use super::release::Buffer;
use crate::link::nat::Translation;

/// A packet that was offered to the model.
pub struct Pending {
    pub frame: Buffer,
    pub length: usize,
    pub course: u64,
    pub pair: usize,
    pub way: usize,
    /// What is done to it when it leaves.
    pub translation: Translation,
    /// Place of its record, if it has one.
    pub record: Option<usize>,
}

/// The packets that wait, by the tickets that the model knows them by.
pub struct Undecided {
    places: Vec<Option<Pending>>,
    free: Vec<usize>,
}

impl Undecided {
    pub fn new() -> Self {
        Self {
            places: vec![],
            free: vec![],
        }
    }

    /// Its ticket.
    pub fn add(&mut self, pending: Pending) -> usize {
        let ticket = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[ticket] = Some(pending);
        ticket
    }

    pub fn get(&mut self, ticket: usize) -> &mut Pending {
        self.places[ticket]
            .as_mut()
            .expect("a ticket is of a packet that waits")
    }

    pub fn take(&mut self, ticket: usize) -> Pending {
        self.free.push(ticket);
        self.places[ticket]
            .take()
            .expect("a ticket is of a packet that waits")
    }
}

//! Segments that wait in a link until they are due.

use std::ops::Range;

use h123_link::Ecn;

use crate::link::nat::Translation;

/// Segments of a packet that leave together. Ordered by time, then by arrival.
pub struct Release {
    pub due_ns: u64,
    pub sequence: u64,
    /// The packet's place.
    pub place: usize,
    pub first: u16,
    /// Segments.
    pub number: u16,
    pub copy: bool,
    /// What the link makes of its ECN field, if not what it was.
    pub ecn: Option<Ecn>,
    pub translation: Translation,
}

impl Release {
    /// One segment.
    pub fn new(due_ns: u64, (place, segment): (usize, usize)) -> Self {
        Self {
            due_ns,
            sequence: 0,
            place,
            first: segment as u16,
            number: 1,
            copy: false,
            ecn: None,
            translation: Translation::AsItIs,
        }
    }

    pub fn segments(&self) -> Range<usize> {
        let first = usize::from(self.first);
        first..first + usize::from(self.number)
    }

    /// Takes over another one's segments, if they follow of the same packet and are changed in the same way.
    pub fn join(&mut self, next: &Release) -> bool {
        let follows = self.place == next.place && self.segments().end == usize::from(next.first);
        let alike = (self.ecn, self.translation, self.copy) == (next.ecn, next.translation, next.copy);
        if follows && alike {
            self.number += next.number;
        }
        follows && alike
    }
}

impl Ord for Release {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_ns, self.sequence).cmp(&(other.due_ns, other.sequence))
    }
}

impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Release {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Release {}

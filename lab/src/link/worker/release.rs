//! Packets that wait in a link until they are due.

use crate::link::tun::FRAME;

pub type Buffer = Box<[u8; FRAME]>;

/// A packet on its way. Ordered by time, then by arrival.
pub struct Release {
    pub due_ns: u64,
    pub sequence: u64,
    pub course: u64,
    pub pair: usize,
    pub way: usize,
    pub copy: bool,
    /// Place of its record, if it has one.
    pub record: Option<usize>,
    pub length: usize,
    pub frame: Buffer,
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

//! One direction of a link as its thread has it: the model, and what has left.

use h123_link::{Path, Tally};

use super::OWN;
use crate::host::stalls::Stalls;
use crate::link::course::Course;
use crate::link::lateness::Lateness;

/// What a direction did during a course.
pub struct Ledger {
    pub tally: Tally,
    /// What has left the link; the rest of `tally.delivered` is in flight.
    pub released: Released,
    pub lateness: Lateness,
    /// Times in which packets were due that had not left.
    pub stalls: Stalls,
    /// Packets that the devices before the link had no room for, because the link's thread had not read them for so long.
    pub overrun: u64,
    /// Of the cross traffic, with the packets and bytes of it that have left the link.
    pub cross: (Tally, Released),
}

#[derive(Clone, Copy, Default)]
pub struct Released {
    pub packets: u64,
    pub bytes: u64,
    /// Of these, those of IPv6 packets.
    pub ipv6_bytes: u64,
}

pub struct DirectionState {
    pub path: Path,
    released: Released,
    cross_released: Released,
    lateness: Lateness,
    stalls: Stalls,
    /// Of the devices, before this course.
    dropped_before: u64,
}

impl DirectionState {
    pub fn new(course: &Course, way: usize, dropped_before: u64) -> Self {
        Self {
            path: course.path(way),
            released: Released::default(),
            cross_released: Released::default(),
            lateness: Lateness::new(),
            stalls: Stalls::default(),
            dropped_before,
        }
    }

    /// What it did, and the path, in which packets may wait.
    pub fn close(self, dropped: u64) -> (Ledger, Path) {
        let ledger = Ledger {
            tally: self.path.tally(),
            released: self.released,
            lateness: self.lateness,
            stalls: self.stalls,
            overrun: dropped - self.dropped_before,
            cross: (self.path.cross_tally(), self.cross_released),
        };
        (ledger, self.path)
    }

    /// Counts packets of one pair of hosts that were due at `due_ns` and leave.
    pub fn count(&mut self, pair: usize, amount: Released, due_ns: u64, now: u64) {
        let released = match pair {
            OWN => &mut self.released,
            _ => &mut self.cross_released,
        };
        released.packets += amount.packets;
        released.bytes += amount.bytes;
        released.ipv6_bytes += amount.ipv6_bytes;
        if pair != OWN {
            return;
        }
        self.lateness.record(now - due_ns, amount.packets);
        self.stalls.record(due_ns, now);
    }
}

//! How the worker lets packets go when they are due.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::io;

use super::Worker;
use super::direction_state::Released;
use super::release::Release;
use crate::files::per_direction::UP;
use crate::host::monotonic::now_ns;
use crate::link::packet::{self, FlowEnd};

impl Worker {
    /// Releases what is due; returns how long it is until something is to be done, if anything is.
    pub(super) fn release_due(&mut self) -> io::Result<Option<u64>> {
        let paths = self.directions.iter();
        let decision = paths.filter_map(|direction| direction.path.deadline()).min();
        let decision = decision.map(|ns| self.zero_ns.saturating_add(ns));
        while let Some(next) = self.queue.peek() {
            let now = now_ns();
            if next.0.due_ns > now {
                let next_ns = next.0.due_ns.min(decision.unwrap_or(u64::MAX));
                return Ok(Some(next_ns.saturating_sub(now)));
            }
            self.release_next(now)?;
        }
        Ok(decision.map(|ns| ns.saturating_sub(now_ns())))
    }

    /// Releases the packet that is due first, with those of its super-packet that follow it and are due too.
    fn release_next(&mut self, now: u64) -> io::Result<()> {
        let Some(Reverse(mut release)) = self.queue.pop() else {
            return Ok(());
        };
        self.left(&release, now);
        while let Some(next) = self.next_of(&mut release, now) {
            self.left(&next, now);
        }
        let (place, segments) = (release.place, release.segments());
        let held = self.store.get(place);
        let end = match held.way {
            UP => FlowEnd::Source,
            _ => FlowEnd::Destination,
        };
        let change = |headers: &mut [u8]| {
            release.translation.apply(headers, end);
            if let Some(ecn) = release.ecn {
                packet::set_ecn(headers, ecn);
            }
        };
        let tun = &self.pairs[held.pair][1 - held.way];
        held.packet.write(segments.clone(), change, tun)?;
        self.store.gone(place, segments.len());
        Ok(())
    }

    /// The one after a release, if it is due and has joined it.
    fn next_of(&mut self, release: &mut Release, now: u64) -> Option<Release> {
        let next = self.queue.peek_mut()?;
        let joined = self.joins && next.0.due_ns <= now && release.join(&next.0);
        joined.then(|| PeekMut::pop(next).0)
    }

    /// Counts packets that leave.
    fn left(&mut self, release: &Release, now: u64) {
        let held = self.store.get(release.place);
        if held.course != self.course || release.copy {
            return;
        }
        let segments = release.segments();
        let bytes = held.packet.bytes(segments.clone()) as u64;
        let amount = Released {
            packets: segments.len() as u64,
            bytes,
            ipv6_bytes: bytes * u64::from(packet::is_ipv6(held.packet.ip())),
        };
        self.directions[held.way].count(held.pair, amount, release.due_ns, now);
        if let Some(packets) = &mut self.packets {
            for place in segments.filter_map(|segment| held.record(segment)) {
                packets.left(place, now);
            }
        }
    }
}

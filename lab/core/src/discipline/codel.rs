//! CoDel (RFC 8289), with the arithmetic of Linux: time in units of 1024 ns, the square root of the count by one Newton step
//! for each drop, in 16 bits.

use super::Discipline;
use crate::backlog::Backlog;
use crate::item::Item;
use crate::parameters::CodelParameters;

/// Linux's unit of time in CoDel, as a shift of ns.
const UNIT: u32 = 10;
/// Bits that the reciprocal square root lacks to 32.
const ROOT_SHIFT: u32 = 16;
/// Linux gives up its schedule after so many drops for one packet sent.
const MOST_DROPS: u32 = 256;
/// With no more than this waiting, nothing is dropped: a full packet.
pub(crate) const MTU: u64 = 1500;

/// CoDel's state: one for each queue that it controls.
#[derive(Default)]
pub(crate) struct Control {
    /// Drops or marks since it began to drop.
    pub count: u32,
    last_count: u32,
    dropping: bool,
    /// 1 / sqrt(count), as a fraction of 2^16.
    root: u16,
    /// When the delay has been too long for an interval, in units; 0: it is not too long.
    first_above: u32,
    next_drop: u32,
    /// How long the packet that was looked at last had waited, in units.
    delay: u32,
}

/// CoDel's parameters in its units.
#[derive(Clone, Copy)]
pub(crate) struct Law {
    target: u32,
    interval: u32,
    ecn: bool,
    /// Packets that waited longer are marked, whatever the control says.
    mark_above: Option<u32>,
}

/// What CoDel controls: a queue whose head it takes, and how much waits, in bytes, where that counts.
pub(crate) trait Head {
    fn take(&mut self) -> Option<Item>;
    fn backlog(&self) -> u64;
}

impl Law {
    pub fn new(parameters: CodelParameters) -> Self {
        Law {
            target: units(parameters.target_ns),
            interval: units(parameters.interval_ns),
            ecn: parameters.ecn,
            mark_above: parameters.ce_threshold_ns.map(units),
        }
    }

    /// When the next drop is due, of `count` that follow each other at `interval / sqrt(count)`.
    fn next(&self, from: u32, root: u16) -> u32 {
        let share = u64::from(root) << ROOT_SHIFT;
        let wait = (u64::from(self.interval) * share) >> 32;
        from.wrapping_add((wait as u32).max(1))
    }
}

impl Control {
    /// The packet that is sent at `now`, ns.
    pub fn dequeue(&mut self, law: &Law, queue: &mut impl Head, now: u64, dropped: &mut Vec<Item>) -> Option<Item> {
        let Some(mut item) = queue.take() else {
            self.first_above = 0;
            self.dropping = false;
            return None;
        };
        let now = units(now);
        let above = self.is_above(law, Some(&item), queue.backlog(), now);
        let mut sent = if self.dropping {
            self.keep_dropping(law, above, item, queue, now, dropped)?
        } else if above {
            let sent = if law.ecn && item.mark() {
                Some(item)
            } else {
                dropped.push(item);
                let head = queue.take();
                self.is_above(law, head.as_ref(), queue.backlog(), now);
                head
            };
            self.begin_dropping(law, now);
            sent?
        } else {
            item
        };
        if law.mark_above.is_some_and(|limit| before(limit, self.delay)) {
            sent.mark();
        }
        Some(sent)
    }

    /// Drops or marks what is due since the last packet was sent; returns the packet that is sent.
    fn keep_dropping(
        &mut self,
        law: &Law,
        above: bool,
        mut item: Item,
        queue: &mut impl Head,
        now: u32,
        dropped: &mut Vec<Item>,
    ) -> Option<Item> {
        self.dropping = above;
        let mut drops = 0;
        while self.dropping && !before(now, self.next_drop) {
            drops += 1;
            if drops > MOST_DROPS {
                self.next_drop = law.next(now, self.root);
                break;
            }
            self.count = self.count.wrapping_add(1);
            self.improve_root();
            if law.ecn && item.mark() {
                self.next_drop = law.next(self.next_drop, self.root);
                break;
            }
            dropped.push(item);
            let head = queue.take();
            self.dropping = self.is_above(law, head.as_ref(), queue.backlog(), now);
            if self.dropping {
                self.next_drop = law.next(self.next_drop, self.root);
            }
            item = head?;
        }
        Some(item)
    }

    /// Whether packets have waited too long for an interval.
    fn is_above(&mut self, law: &Law, head: Option<&Item>, backlog: u64, now: u32) -> bool {
        let Some(head) = head else {
            self.first_above = 0;
            return false;
        };
        self.delay = now.wrapping_sub(units(head.entered));
        if before(self.delay, law.target) || backlog <= MTU {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now.wrapping_add(law.interval);
            return false;
        }
        before(self.first_above, now)
    }

    /// Begins where the last drops ended, if that was not long ago.
    fn begin_dropping(&mut self, law: &Law, now: u32) {
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let since = now.wrapping_sub(self.next_drop);
        if delta > 1 && before(since, law.interval.wrapping_mul(16)) {
            self.count = delta;
            self.improve_root();
        } else {
            self.count = 1;
            self.root = u16::MAX;
        }
        self.last_count = self.count;
        self.next_drop = law.next(now, self.root);
    }

    /// One step of Newton's method towards 1 / sqrt(count): `r (3 - count r^2) / 2`.
    fn improve_root(&mut self) {
        let root = u64::from(self.root) << ROOT_SHIFT;
        let square = (root * root) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square));
        let value = (rest >> 2).wrapping_mul(root) >> (32 - 2 + 1);
        self.root = (value >> ROOT_SHIFT) as u16;
    }
}

fn units(ns: u64) -> u32 {
    (ns >> UNIT) as u32
}

/// Whether a time is before another one, on a clock that wraps around.
fn before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

/// One queue under CoDel.
pub(crate) struct Codel {
    law: Law,
    control: Control,
    limit: usize,
    backlog: Backlog,
}

impl Codel {
    pub fn new(parameters: CodelParameters) -> Self {
        Codel {
            law: Law::new(parameters),
            control: Control::default(),
            limit: parameters.limit as usize,
            backlog: Backlog::default(),
        }
    }
}

impl Head for Backlog {
    fn take(&mut self) -> Option<Item> {
        self.pop()
    }

    fn backlog(&self) -> u64 {
        self.bytes()
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, _now: u64, item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        if self.backlog.len() + usize::from(ahead.is_some()) < self.limit {
            self.backlog.push(item);
        } else {
            dropped.push(item);
        }
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<Item>) -> Option<Item> {
        self.control.dequeue(&self.law, &mut self.backlog, now, dropped)
    }

    fn is_empty(&self) -> bool {
        self.backlog.is_empty()
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.backlog.items_mut())
    }
}

//! COBALT, as Linux's CAKE has it: CoDel, and BLUE against flows that do not respond, with times in ns.

use crate::item::Item;

/// How much BLUE's probability grows when the memory is full, and falls when the queue is empty, in 2^-32.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

/// 2^32 / sqrt(n), from where Newton's steps begin. The next ones are near enough for one step.
const INVERSE_ROOTS: [u32; 16] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// COBALT's parameters, ns.
pub(crate) struct Law {
    target: u64,
    interval: u64,
    /// The time that four full packets take: a shorter wait says nothing.
    four_packets: u64,
}

/// COBALT's state: one for each queue that it controls.
#[derive(Default)]
pub(crate) struct Control {
    count: u32,
    inverse_root: u32,
    drop_next: u64,
    dropping: bool,
    /// BLUE's probability of a drop, in 2^-32, and when it changed last.
    probability: u32,
    changed: Option<u64>,
}

impl Law {
    /// `packet`: how long a full packet takes.
    pub fn new(rtt: u64, packet: u64) -> Self {
        // As `tc` has it, which writes us.
        let (interval, least) = (rtt / 1000 * 1000, (rtt / 20_000).max(1) * 1000);
        let target = (packet * 3 / 2).max(least);
        Law { target, interval: (interval + target - least).max(target * 2), four_packets: packet * 4 }
    }
}

impl Control {
    /// Whether the packet, which is taken from the queue, should be dropped, unless it is the last one. Marks it if it may be
    /// instead. `draw`: 32 random bits.
    pub fn strikes(&mut self, law: &Law, now: u64, item: &mut Item, draw: impl FnOnce() -> u32) -> bool {
        let waited = now - item.entered;
        let mut late = now > self.drop_next;
        let mut count = self.count;
        let mut due = count > 0 && now >= self.drop_next;
        if waited > law.target && waited > law.four_packets {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(law, now);
            }
            count = count.max(1);
        } else {
            self.dropping = false;
        }
        let mut struck = false;
        if due && self.dropping {
            struck = !item.mark();
            count = count.saturating_add(1);
            self.schedule(law, count);
            late = now > self.drop_next;
        } else {
            while due {
                count -= 1;
                self.schedule(law, count);
                late = now > self.drop_next;
                due = count > 0 && now >= self.drop_next;
            }
        }
        // BLUE does not mark.
        if self.probability > 0 && !struck && draw() < self.probability {
            struck = true;
        }
        self.count = count;
        if count == 0 {
            self.drop_next = now.saturating_add(law.interval);
        } else if late && !struck {
            self.drop_next = now;
        }
        struck
    }

    /// Notes that a packet of this queue was dropped because the memory is full.
    pub fn full(&mut self, law: &Law, now: u64) {
        if self.may_change(law, now) {
            self.probability = self.probability.saturating_add(UP);
            self.changed = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Notes that it was the queue's turn and nothing waited. Whether its state has to decay further.
    pub fn empty(&mut self, law: &Law, now: u64) -> bool {
        if self.probability > 0 && self.may_change(law, now) {
            self.probability = self.probability.saturating_sub(DOWN);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.schedule(law, self.count);
        }
        self.probability > 0 || self.count > 0 || now < self.drop_next
    }

    fn may_change(&self, law: &Law, now: u64) -> bool {
        self.changed.is_none_or(|at| now - at > law.target)
    }

    /// The next drop comes after the one that was due, by the interval divided by the count's square root.
    fn schedule(&mut self, law: &Law, count: u32) {
        self.inverse_root = match INVERSE_ROOTS.get(count as usize) {
            Some(root) => *root,
            None => newton(self.inverse_root, count),
        };
        self.drop_next = self.after(law, self.drop_next);
    }

    /// Linux has 32 bits for the interval here.
    fn after(&self, law: &Law, time: u64) -> u64 {
        let interval = u64::from(law.interval as u32);
        time.saturating_add((interval * u64::from(self.inverse_root)) >> 32)
    }
}

fn newton(root: u32, count: u32) -> u32 {
    let root = u64::from(root);
    let square = (root * root) >> 32;
    let rest = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square));
    ((rest >> 2).wrapping_mul(root) >> 31) as u32
}

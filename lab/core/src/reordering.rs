//! How far packets come behind later ones of their flow: the reordering extent (RFC 4737, section 4.2.1).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// With so many later packets ahead of it, a packet counts as lost (RFC 5681, section 3.2; RFC 9002, section 6.1.1).
const FAR: usize = 3;

/// The packets of a direction whose order of arrival is not certain yet, and what is known of the flows.
#[derive(Clone, Default)]
pub(crate) struct Reordering {
    /// When each is delivered, ns, with its number and its flow.
    underway: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// One more than the highest number that a flow has delivered: with all packets, without the last one, the last two.
    flows: HashMap<u32, [u64; FAR]>,
    /// Packets that came behind one or two later ones, and behind more.
    pub near: u64,
    pub far: u64,
}

impl Reordering {
    /// Notes a packet that left at `departure` and is delivered at `at`, ns. No later one departs earlier.
    pub fn deliver(&mut self, departure: u64, at: u64, number: u64, flow: u32) {
        self.settle(departure);
        self.underway.push(Reverse((at, number, flow)));
    }

    /// Counts what arrives by then, ns.
    pub fn settle(&mut self, until: u64) {
        while let Some(&Reverse((at, number, flow))) = self.underway.peek()
            && at <= until
        {
            self.underway.pop();
            let [highest, without_one, without_two] = self.flows.entry(flow).or_default();
            if number < *without_two {
                self.far += 1;
            } else if number < *highest {
                self.near += 1;
            }
            (*without_two, *without_one) = (*without_one, *highest);
            *highest = (number + 1).max(*highest);
        }
    }
}

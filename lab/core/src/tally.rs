//! What became of the packets so far.

use sha2::{Digest, Sha256};

use crate::fate::{Ecn, Fate, Packet};

/// `packets_in = delivered + lost + queue_dropped + blocked + policed + too_large + thinned`, and what waits in a managed
/// queue or, if acknowledgements are thinned out, for an opportunity.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub packets_in: u64,
    pub bytes_in: u64,
    /// Delivered or on the way; copies are not counted here.
    pub delivered: u64,
    pub bytes_delivered: u64,
    /// Delivered packets that arrive twice.
    pub duplicated: u64,
    /// By the loss model or a blackout.
    pub lost: u64,
    pub queue_dropped: u64,
    /// Packets that could be marked when they came to the queue.
    pub ecn_capable: u64,
    /// Packets that the queue marked with Congestion Experienced.
    pub marked: u64,
    /// By the policy for UDP or an IP version, or because the address was no longer in use.
    pub blocked: u64,
    /// By the policer for all traffic.
    pub policed: u64,
    /// Packets larger than the path's MTU.
    pub too_large: u64,
    /// Acknowledgements for which a later one stands.
    pub thinned: u64,
    /// Delivered packets that come behind one or two later ones of their flow, and behind more (RFC 4737, section 4.2.1).
    pub reordered_near: u64,
    pub reordered_far: u64,
    /// That the queue let through to be sent, and for how long they waited for that in all and at most, ns: until they
    /// themselves were sent.
    pub passed: u64,
    pub waited_ns: u64,
    pub longest_wait_ns: u64,
    /// Indices of the lost packets.
    dropped: Vec<u64>,
}

impl Tally {
    /// SHA-256 (hexadecimal) over the indices of the lost packets, each 8 bytes little endian, in order.
    /// Packets that the queue dropped or the UDP policy blocked are not in it.
    pub fn drop_set(&self) -> String {
        let mut dropped = self.dropped.clone();
        dropped.sort_unstable();
        let digest =
            dropped.iter().fold(Sha256::new(), |digest, index| digest.chain_update(index.to_le_bytes())).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Packets that wait in the link or travel, if so many have left it.
    pub fn in_flight(&self, left: u64) -> u64 {
        let refused = self.queue_dropped + self.blocked + self.policed + self.too_large + self.thinned;
        self.packets_in - self.lost - refused - left
    }

    /// Counts a packet that the queue lets through.
    pub(crate) fn wait(&mut self, ns: u64) {
        self.passed += 1;
        self.waited_ns = self.waited_ns.saturating_add(ns);
        self.longest_wait_ns = self.longest_wait_ns.max(ns);
    }

    /// Counts a packet that is offered; returns its index.
    pub(crate) fn offer(&mut self, packet: Packet) -> u64 {
        let index = self.packets_in;
        self.packets_in += 1;
        self.bytes_in += u64::from(packet.bytes);
        index
    }

    /// Counts what became of the packet with this index.
    pub(crate) fn decide(&mut self, index: u64, packet: Packet, fate: Fate, marked: bool) {
        match fate {
            Fate::Deliver { copy, .. } => {
                self.delivered += 1;
                self.bytes_delivered += u64::from(packet.bytes);
                self.duplicated += u64::from(copy.is_some());
            }
            Fate::Lost => {
                self.lost += 1;
                self.dropped.push(index);
            }
            Fate::QueueDropped => self.queue_dropped += 1,
            Fate::Blocked { .. } => self.blocked += 1,
            Fate::Policed => self.policed += 1,
            Fate::TooLarge { .. } => self.too_large += 1,
            Fate::Thinned => self.thinned += 1,
        }
        self.ecn_capable += u64::from(packet.ecn != Ecn::NotEct);
        self.marked += u64::from(marked);
    }
}

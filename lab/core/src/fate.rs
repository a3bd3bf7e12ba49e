//! A packet as it comes to a link, and what becomes of it.

/// What a path needs to know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Length of the IP packet.
    pub bytes: u32,
    pub udp: bool,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Times in ns since the link's time zero; a copy is delivered right after the original.
    Deliver {
        at: u64,
        copy: Option<u64>,
    },
    Lost,
    QueueDropped,
    /// By the UDP policy; with `reject` the sender is to be told (ICMP). Or because nobody is there any more.
    Blocked {
        reject: bool,
    },
}

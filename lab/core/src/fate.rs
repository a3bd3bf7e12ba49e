//! A packet as it comes to a link, and what becomes of it.

/// What a path needs to know of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Length of the IP packet.
    pub bytes: u32,
    pub udp: bool,
    /// IPv6, not IPv4.
    pub ipv6: bool,
    /// A hash of its flow (addresses, protocol, ports): disciplines with a queue for each flow go by it.
    pub flow: u32,
    pub ecn: Ecn,
    /// If it is nothing but an acknowledgement of TCP: links that thin these out go by it.
    pub ack: Option<Ack>,
}

/// A segment of TCP that carries no data, and no flag but ACK and those of ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The byte that is expected next.
    pub number: u32,
    /// TCP's flags of ECN (ECE, CWR).
    pub ecn: u8,
    /// It also carries options other than a timestamp, such as selective acknowledgements, so that no later one says it all.
    pub says_more: bool,
}

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    #[default]
    NotEct,
    Ect1,
    Ect0,
    Ce,
}

impl Ecn {
    /// From the two low bits of the traffic class (IPv4: type of service).
    pub fn of_traffic_class(byte: u8) -> Self {
        match byte & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The field's two bits.
    pub fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        }
    }
}

/// Whose packets: those of the link's own hosts, or of cross traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    Own,
    Cross,
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
    /// By the policy for UDP or an IP version, or because the address is no longer in use. With `reject`, the sender gets an
    /// ICMP message.
    Blocked {
        reject: bool,
    },
    /// By the policer for all traffic.
    Policed,
    /// A later acknowledgement of the same flow, behind it, said more.
    Thinned,
    /// Larger than the path's MTU, which the sender is to learn (ICMP) if it is the `answer`.
    TooLarge {
        answer: Option<u32>,
    },
}

/// A path has decided on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What the packet was offered with.
    pub ticket: usize,
    pub fate: Fate,
    /// Whether the queue marked it with Congestion Experienced.
    pub marked: bool,
    /// Its ECN field when it leaves.
    pub ecn: Ecn,
}

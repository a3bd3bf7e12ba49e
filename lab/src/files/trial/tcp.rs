//! What a trial asks of TCP.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// More packets at once fit into no queue of a kernel.
const WINDOWS: RangeInclusive<u32> = 1..=1000;
const MILLISECOND_NS: u64 = 1_000_000;
/// What any path of IPv6 carries in packets of UDP over IPv4, and what a segment has room for on the lab's links.
const PAYLOADS: RangeInclusive<u32> = 1252..=1448;
/// The most that a segment over IPv6 has room for there.
pub const LARGEST_OVER_IPV6: u32 = 1428;
const LEAST_RTOS_NS: RangeInclusive<u64> = MILLISECOND_NS..=60_000 * MILLISECOND_NS;

/// What the lab asks of TCP, in every host; what is absent is the kernel's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// In packets.
    #[serde(default)]
    pub initial_window: Option<u32>,
    /// The least retransmission time; the kernel keeps whole milliseconds.
    #[serde(default)]
    pub min_rto_ns: Option<u64>,
    /// The most bytes of a segment.
    #[serde(default)]
    pub max_payload: Option<u32>,
    /// Go on after a silence with the window that there was, instead of the initial one.
    #[serde(default)]
    pub keep_idle_window: bool,
    /// Data in the first packet of a connection whose client has been there before (RFC 7413), where the client asks
    /// for it.
    #[serde(default)]
    pub fast_open: bool,
    /// Connections ask for ECN (RFC 3168); without it they accept it.
    #[serde(default)]
    pub ecn: bool,
    /// Acknowledge every segment at once (the route attribute `quickack`).
    #[serde(default)]
    pub quick_ack: bool,
}

impl Tcp {
    pub fn validate(&self) -> Result<(), String> {
        if self.initial_window.is_some_and(|n| !WINDOWS.contains(&n)) {
            return Err(format!("\"initial_window\" is {} to {} packets", WINDOWS.start(), WINDOWS.end()));
        }
        let whole = |ns: u64| ns.is_multiple_of(MILLISECOND_NS) && LEAST_RTOS_NS.contains(&ns);
        if self.min_rto_ns.is_some_and(|ns| !whole(ns)) {
            return Err("\"min_rto_ns\" is 1 ms to 60 s, in whole milliseconds".into());
        }
        if self.max_payload.is_some_and(|n| !PAYLOADS.contains(&n)) {
            return Err(format!("\"max_payload\" is {} to {} bytes", PAYLOADS.start(), PAYLOADS.end()));
        }
        Ok(())
    }
}

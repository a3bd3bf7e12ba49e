//! Addresses that clients have after a move.

use std::net::Ipv4Addr;

/// Of the addresses for carriers' translators (RFC 6598): each link has some, and each move to a new address one.
const MOVED: u32 = u32::from_be_bytes([100, 64, 0, 0]);
/// Of those of a link.
pub const PREFIX: u8 = 24;

/// The addresses of a link's client after it has moved.
pub fn network(link: usize) -> Ipv4Addr {
    Ipv4Addr::from(MOVED | (link as u32) << (32 - PREFIX))
}

/// Whether an address may be one of those, of any link.
pub fn is_moved(address: Ipv4Addr) -> bool {
    u32::from(address) >> 22 == MOVED >> 22
}

//! How far a rate came with a packet.

/// How far a service came with a packet before it went out of force.
pub(crate) enum Progress {
    /// It ended at this time, ns.
    Done(u64),
    /// This much work is left.
    Left(u128),
}

//! The pure part of an emulated link: from (time, packet) to fate.
//!
//! No I/O, no clock, no threads: the caller says what time it is. A [`Path`] is one direction of a
//! link; packets come in with [`Path::offer`], and decisions come out with [`Path::next`].
//!
//! # The stages, in order
//!
//! 1. **Entrance**, by arrival time: the UDP policy ([`Udp`]), the largest packet ([`Mtu`]), the ECN field ([`EcnPolicy`]) and
//!    the policer ([`PolicerParameters`]), each a file in `entrance/`.
//! 2. **Queue**: drop-tail holds the admitted packets that have not departed yet, the one being served included ([`Queue`]). A
//!    packet that departs at `t` is no longer there for an arrival at `t`. A managed queue decides when a packet's turn comes.
//! 3. **Rate**: a packet departs when the rate has served it after its predecessor ([`Rate`]). Bursts earn no credit while the
//!    link is idle, except with a token bucket.
//! 4. **Loss**, by departure time: the loss model, then [`Blackout`]s. A lost packet has used queue and rate.
//! 5. **Propagation**, by departure time: opportunities to send ([`AggregationParameters`]), [`Retransmission`], delay, [`Jitter`], [`Reorder`],
//!    then duplication. Packets that wait for an opportunity may be thinned out of acknowledgements: before they
//!    are lost, though each steps the loss model when it departs. A copy arrives together with its original and costs no rate.
//!
//! Beside all this, a client may be seen elsewhere from some moments on ([`Sightings`]): a packet that is sent to where
//! it was passes every stage and is then stopped ([`Path::next`]). And other hosts' packets may cross the link
//! ([`Party::Cross`]): they wait in the same queue for the same rate, with luck of their own.
//!
//! A timed [`Change`] takes effect at a stage when the packet meets it: the UDP policy by arrival, the rate in
//! the midst of a packet's service, loss and delay by departure. A packet that was refused by an earlier stage
//! steps the loss model at its arrival or at the last departure, whichever is later.
//!
//! # Randomness
//!
//! Each offered packet spends five draws, and one of other streams for its queue ([`queue_draws`]) and for the link layer,
//! whatever its fate ([`stream_seed`]), so a packet's luck depends on (seed, link, direction, packet index) alone; and on the version of all this, [`DRAWS`].
//! A stream that nothing in the direction needs is not drawn from.

mod aggregation;
mod air;
mod backlog;
mod bottleneck;
mod delay;
mod direction;
mod discipline;
mod draws;
mod entrance;
mod expectation;
mod fate;
mod interval;
mod item;
mod limiter;
mod loss;
mod moves;
mod parameters;
mod path;
mod progress;
mod queue;
mod reordering;
mod shaper;
mod tally;
mod timeline;
mod token_bucket;
mod trace;
mod validate;

pub use direction::{
    AggregationParameters, Blackout, Change, Direction, Distribution, EcnPolicy, GilbertElliott, IpPolicy, Jitter,
    Loss, Mtu, PolicerParameters, Queue, Rate, Reorder, Retransmission, Udp,
};
pub use draws::{DRAWS, queue_draws, stream_seed};
pub use fate::{Ack, Decision, Ecn, Fate, Packet, Party};
pub use interval::binomial_interval;
pub use loss::expected_losses;
pub use moves::{MOST_MOVES, Move, New, Place, Sightings, validate_moves};
pub use parameters::{
    CakeParameters, CodelParameters, DualPi2Parameters, FqCodelParameters, FqPieParameters, Isolation, PieParameters,
    RedParameters,
};
pub use path::Path;
pub use tally::Tally;
pub use validate::{Invalid, LONGEST_NS};

//! The pure part of an emulated link: from (time, packet) to fate.
//!
//! No I/O, no clock, no threads: the caller says what time it is. A [`Path`] is one direction of a
//! link; [`Path::offer`] decides at a packet's arrival all that will become of it.
//!
//! # The stages, in order
//!
//! 1. **UDP policy** ([`Udp`]), by arrival time.
//! 2. **Queue**: drop-tail. It holds the admitted packets that have not departed yet, the one being
//!    served included ([`Queue`]). A packet that departs at `t` is no longer there for an arrival at `t`.
//! 3. **Rate**: a virtual clock. A packet departs when the rate, a function of time known in advance,
//!    has served it after its predecessor ([`Rate`]). Bursts earn no credit while the link is idle.
//! 4. **Loss**, by departure time: the loss model, then [`Blackout`]s. A lost packet has used queue and rate.
//! 5. **Propagation**, by departure time: delay, [`Jitter`], [`Reorder`], then duplication. A copy
//!    arrives together with its original and costs no rate.
//!
//! Beside all this, a client may be seen elsewhere from some moments on ([`Sightings`]): a packet that is sent to where
//! it was passes every stage and is then stopped ([`Path::offer_if`]). And other hosts' packets may cross the link
//! ([`Path::offer_cross`]): they wait in the same queue for the same rate, with luck of their own.
//!
//! A timed [`Change`] takes effect at a stage when the packet meets it: the UDP policy by arrival, the rate in
//! the midst of a packet's service, loss and delay by departure. A packet that was refused by an earlier stage
//! steps the loss model at its arrival or at the last departure, whichever is later.
//!
//! # Randomness
//!
//! Each offered packet spends five draws, whatever the models and whatever its fate ([`stream_seed`]), so a
//! packet's luck depends on (seed, link, direction, packet index) alone; and on the version of all this, [`DRAWS`].

mod backlog;
mod bottleneck;
mod delay;
mod direction;
mod discipline;
mod draws;
mod expectation;
mod fate;
mod interval;
mod item;
mod limiter;
mod loss;
mod moves;
mod path;
mod policer;
mod progress;
mod queue;
mod tally;
mod timeline;
mod token_bucket;
mod trace;
mod validate;

pub use direction::{
    Blackout, Change, CodelParameters, Direction, Distribution, FqCodelParameters, GilbertElliott,
    Jitter, Loss, Queue, Rate, Reorder, Udp,
};
pub use draws::{DRAWS, stream_seed};
pub use fate::{Decision, Ecn, Fate, Packet, Party};
pub use interval::binomial_interval;
pub use loss::expected_losses;
pub use moves::{MOST_MOVES, Move, New, Place, Sightings, validate_moves};
pub use path::Path;
pub use tally::Tally;
pub use validate::{Invalid, LONGEST_NS};

//! What the lab reads and writes: the trial file, the machine's files as a trial sees them, messages.

pub mod arrangement;
pub mod atomic_file;
pub mod discarded;
pub mod log;
pub mod message;
pub mod mounts;
pub mod overlay;
pub mod per_direction;
pub mod refusal;
pub mod roots;
pub mod surroundings;
pub mod temporary;
pub mod trial;
pub mod visible;

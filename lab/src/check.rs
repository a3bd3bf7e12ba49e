//! The link check: trains of probes, and what the model predicts for them.

pub mod link_check;
pub mod probe;
pub mod train;
pub mod train_check;

//! The programs of a trial: how they start, how they are watched and stopped, and the report about them.

pub mod ending;
pub mod inspection;
pub mod launch;
pub mod lifecycle;
pub mod nameserver;
pub mod process;
pub mod process_tree;
pub mod ready;
pub mod report;
pub mod tcp_account;
pub mod trial_run;
pub mod usage;

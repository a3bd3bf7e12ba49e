//! The commands of the lab, one file each.

pub mod bench;
pub mod cli;
pub mod doctor;
pub mod exec;
pub mod gateway;
pub mod noise;
pub mod resolver;
pub mod run;
pub mod validate;
pub mod ways;

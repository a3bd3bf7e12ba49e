//! The virtual clock: a kernel that lets time pass only while everything waits.

pub mod boot;
pub mod guest;
pub mod heartbeat;
pub mod shared_processor;
pub mod watchdog;

//! The virtual clock: a kernel that lets time pass only while everything waits.

pub mod boot;
pub mod guest;
pub mod heap;
pub mod heartbeat;
pub mod layout;
pub mod machine;
pub mod shared_processor;
pub mod site;
pub mod watchdog;

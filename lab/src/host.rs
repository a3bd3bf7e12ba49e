//! The machine and the hosts on it: namespaces, their network settings, processes, time.

pub mod account;
pub mod confinement;
pub mod connection_table;
pub mod enclosure;
pub mod inet_diag;
pub mod monotonic;
pub mod namespace;
pub mod netlink;
pub mod outside;
pub mod privilege;
pub mod realtime;
pub mod stalls;
pub mod sysfs;
pub mod tcp;
pub mod watch;

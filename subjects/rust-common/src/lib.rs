//! What the Rust subjects have in common, so that each holds only what its QUIC stack makes different.

pub mod body;
#[cfg(feature = "client")]
pub mod client;
pub mod command;
#[cfg(feature = "datagrams")]
pub mod datagrams;
#[cfg(feature = "h3")]
pub mod h3;
pub mod protocol;
pub mod routes;
pub mod sending;
pub mod serving;
pub mod stop;
#[cfg(feature = "tcp")]
pub mod tcp;
pub mod udp;
pub mod windows;

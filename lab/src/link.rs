//! Links between hosts: devices, the thread that runs the model, and records of packets.

pub mod arrival;
pub mod capture;
pub mod course;
pub mod cross_traffic;
pub mod emulated;
pub mod emulated_link;
pub mod frames;
pub mod lateness;
pub mod nat;
pub mod network;
pub mod packet;
pub mod packet_record;
pub mod super_packet;
pub mod tun;
pub mod worker;

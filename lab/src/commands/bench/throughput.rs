//! Measures how much a link without limits carries, and how much processor time it takes.

use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use anyhow::{Context, Result};
use h123_link::{Direction, Loss};
use nix::sys::socket::{MsgFlags, recv, setsockopt, sockopt::UdpGsoSegment};

use super::bed::Bed;
use crate::check::probe::{Endpoint, enlarge};
use crate::check::train::SMALLEST;
use crate::host::account::{process_cpu_ns, thread_cpu_ns};
use crate::host::monotonic::now_ns;
use crate::link::emulated::Emulated;

const FLOOD_SECONDS: u64 = 2;
/// As many as the kernel takes at once.
pub const FLOOD_SEGMENTS: usize = 64;
const TCP_PORT: u16 = 5201;
const SEGMENT: usize = 1200;
pub const SEGMENTS: usize = 20;
const BATCHES: usize = 500;

/// What the link let through, and the lab's processor time for it.
struct Through {
    packets: u64,
    ns: u64,
    /// With the kernel's work on what the lab hands to a host, which is done in the lab's name.
    lab_ns: u64,
}

impl Through {
    /// While `others` have run, whose threads' processor time is not the lab's: they return it beside what else they tell.
    fn of<T>(emulated: &mut Emulated, others: impl FnOnce() -> Result<(T, u64)>) -> Result<(T, Self)> {
        let course = emulated.base.clone();
        emulated.link.begin(&course)?;
        let (begin, spent) = (now_ns(), process_cpu_ns());
        let (output, theirs_ns) = others()?;
        let (ns, spent) = (now_ns() - begin, process_cpu_ns() - spent);
        let ways = emulated.link.begin(&course)?.ledgers;
        let through = Self {
            packets: ways.iter().map(|way| way.released.packets).sum(),
            ns,
            lab_ns: spent.saturating_sub(theirs_ns),
        };
        Ok((output, through))
    }

    fn per_second(&self) -> u64 {
        self.packets * 1_000_000_000 / self.ns.max(1)
    }
}

impl std::fmt::Display for Through {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        let us = self.lab_ns as f64 / 1e3 / self.packets.max(1) as f64;
        write!(to, "{} packets/s, {us:.2} us CPU per packet", self.per_second())
    }
}

/// What one bulk connection over a plain veth pair gets, Gbit/s.
pub fn veth() -> Result<f64> {
    let mut bed = Bed::veth()?;
    Ok(transfer(bed.parts().1)?.0)
}

/// One bulk connection over a link, compared with what it gets over a plain veth pair; the bar is a share of that.
pub fn tcp(direction: Direction, veth_gbit: f64, bar: f64) -> Result<(String, bool)> {
    let mut bed = Bed::new(direction)?;
    let (emulated, ends) = bed.link_and_ends();
    let (gbit, through) = Through::of(emulated, || transfer(ends))?;
    let share = gbit / veth_gbit;
    let measured = format!("{gbit:.2} Gbit/s, {share:.2} of veth's {veth_gbit:.1}, {through}");
    Ok((measured, share >= bar))
}

/// One bulk connection, client to server: Gbit/s, and the processor time of both ends' threads, ns.
fn transfer([client, server]: [Endpoint; 2]) -> Result<(f64, u64)> {
    let listener = server.0.within(|| Ok(TcpListener::bind(SocketAddrV4::new(server.1, TCP_PORT))?))?;
    let mut outgoing = client.0.within(|| Ok(TcpStream::connect(SocketAddrV4::new(server.1, TCP_PORT))?))?;
    let (mut incoming, _) = listener.accept()?;
    let end_ns = now_ns() + FLOOD_SECONDS * 1_000_000_000;
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || -> Result<u64> {
            let data = vec![0; 1 << 18];
            while now_ns() < end_ns {
                outgoing.write_all(&data)?;
            }
            Ok(thread_cpu_ns())
        });
        let (begin, spent) = (now_ns(), thread_cpu_ns());
        let (mut bytes, mut buffer) = (0, vec![0; 1 << 18]);
        loop {
            match incoming.read(&mut buffer)? {
                0 => break,
                n => bytes += n as u64,
            }
        }
        let sender_ns = sender.join().expect("the sender does not panic")?;
        let ns = now_ns() - begin;
        let gbit = bytes as f64 * 8.0 / ns as f64;
        Ok((gbit, sender_ns + thread_cpu_ns() - spent))
    })
}

/// As many small datagrams as a sender can send, which hands them over in batches; those that nobody has read are thrown away
/// by the receiver's socket.
pub fn flood() -> Result<(String, bool)> {
    let mut bed = Bed::new(Direction::default())?;
    let (emulated, [client, server]) = bed.link_and_ends();
    let address = SocketAddrV4::new(server.1, TCP_PORT);
    let _receiver = server.0.within(|| Ok(UdpSocket::bind(address)?))?;
    let sender = client.0.within(|| Ok(UdpSocket::bind(SocketAddrV4::new(client.1, 0))?))?;
    setsockopt(&sender, UdpGsoSegment, &(i32::try_from(SMALLEST)?))?;
    let batch = vec![0; SMALLEST as usize * FLOOD_SEGMENTS];
    let end_ns = now_ns() + FLOOD_SECONDS * 1_000_000_000;
    let ((), through) = Through::of(emulated, || {
        let spent = thread_cpu_ns();
        while now_ns() < end_ns {
            sender.send_to(&batch, address).context("sending a GSO batch")?;
        }
        Ok(((), thread_cpu_ns() - spent))
    })?;
    Ok((through.to_string(), through.per_second() >= 500_000))
}

/// Batches that the kernel segments (UDP_SEGMENT): losses must hit single datagrams.
pub fn gso() -> Result<(String, bool)> {
    let loss = Some(Loss::Random(0.01));
    let mut bed = Bed::new(Direction { loss, ..Direction::default() })?;
    let (_, [client, server]) = bed.link_and_ends();
    let address = SocketAddrV4::new(server.1, TCP_PORT);
    let receiver = server.0.within(|| Ok(UdpSocket::bind(address)?))?;
    enlarge(&receiver)?;
    let sender = client.0.within(|| Ok(UdpSocket::bind(SocketAddrV4::new(client.1, 0))?))?;
    setsockopt(&sender, UdpGsoSegment, &(SEGMENT as i32))?;
    let mut batch = vec![0; SEGMENT * SEGMENTS];
    let mut lost = vec![true; BATCHES * SEGMENTS];
    for number in 0..BATCHES {
        for (segment, bytes) in batch.chunks_mut(SEGMENT).enumerate() {
            bytes[..8].copy_from_slice(&((number * SEGMENTS + segment) as u64).to_le_bytes());
        }
        sender.send_to(&batch, address).context("sending a GSO batch")?;
        std::thread::sleep(Duration::from_micros(500));
        mark_received(&receiver, &mut lost);
    }
    std::thread::sleep(Duration::from_millis(50));
    mark_received(&receiver, &mut lost);
    let losses = lost.iter().filter(|l| **l).count();
    let runs = lost.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
    let mean = losses as f64 / runs.max(1) as f64;
    let share = 100.0 * losses as f64 / lost.len() as f64;
    Ok((format!("{share:.2} % lost, mean burst {mean:.3}"), losses > 0 && mean < 1.1))
}

/// Reads what has come, so that a small receive buffer is enough.
fn mark_received(receiver: &UdpSocket, lost: &mut [bool]) {
    let mut buffer = [0; 2048];
    while recv(receiver.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT).is_ok() {
        lost[u64::from_le_bytes(buffer[..8].try_into().expect("eight bytes")) as usize] = false;
    }
}

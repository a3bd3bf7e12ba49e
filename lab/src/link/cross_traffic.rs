//! Cross traffic: what two hosts besides send through a link, with sockets as real as the roles', so that the link's own
//! packets find its queue taken. It begins before the main role and ends with the trial.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::files::per_direction::UP;
use crate::files::trial::{Cross, Tcp, Traffic};
use crate::host::monotonic::{now_ns, sleep_until};
use crate::host::namespace::Host;
use crate::link::tun::Tun;

/// For documentation (RFC 5737); its hosts see nobody but each other.
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2)];
const PORT: u16 = 9;
/// Of its TCP, whatever the trial's: what there is in the link's way is the same for all treatments.
const CONGESTION: &str = "cubic";
const PACKET_BYTES: usize = 1500;
const HEADER_BYTES: usize = 28;
const CHUNK: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks of a receiver of datagrams at whether it is all over.
const LOOK: Duration = Duration::from_millis(100);

/// The traffic of one link. Side 0 is that of the link's host `a`.
pub struct CrossTraffic {
    hosts: [Host; 2],
    traffic: Cross,
    over: Arc<AtomicBool>,
    connections: Vec<TcpStream>,
    threads: Vec<JoinHandle<()>>,
    /// Bytes that came to programs, by way.
    received: [Arc<AtomicU64>; 2],
    /// The same when the main role began.
    before: [u64; 2],
}

impl CrossTraffic {
    /// Its hosts, and the devices that the link is to carry packets between; nothing is sent yet.
    pub fn lay(traffic: &Cross, device: &str) -> Result<(Self, [Tun; 2])> {
        let hosts = [Host::create("cross-a")?, Host::create("cross-b")?];
        let create = |host: &Host| host.within(|| Tun::create(device));
        let tuns = [create(&hosts[0])?, create(&hosts[1])?];
        for (host, address) in hosts.iter().zip(ADDRESSES) {
            host.address(device, address.into(), Some(CONGESTION), Tcp::default())?;
        }
        for host in &hosts {
            host.wait_until_running(device)?;
        }
        let traffic = Self {
            hosts,
            traffic: traffic.clone(),
            over: Arc::default(),
            connections: vec![],
            threads: vec![],
            received: Default::default(),
            before: [0; 2],
        };
        Ok((traffic, tuns))
    }

    /// Begins to send; how long that is to go on before the main role starts, ns.
    pub fn start(&mut self) -> Result<u64> {
        for (way, traffic) in self.traffic.directions().into_iter().enumerate() {
            match traffic {
                Some(Traffic::Tcp(connections)) => {
                    (0..connections).try_for_each(|number| self.transfer(way, number as u16))
                }
                Some(Traffic::Udp(bps)) => self.stream(way, bps),
                None => Ok(()),
            }
            .context("cross traffic")?;
        }
        Ok(self.traffic.ahead_ns)
    }

    /// What comes from now on counts.
    pub fn begin(&mut self) {
        self.before = self.bytes_so_far();
    }

    /// Bytes that have come since, by way.
    pub fn received(&self) -> [u64; 2] {
        let now = self.bytes_so_far();
        [0, 1].map(|way| now[way] - self.before[way])
    }

    fn bytes_so_far(&self) -> [u64; 2] {
        self.received.each_ref().map(|bytes| bytes.load(Ordering::Relaxed))
    }

    /// A connection that is never short of data.
    fn transfer(&mut self, way: usize, number: u16) -> Result<()> {
        let (from, to) = ends(way);
        let target = SocketAddrV4::new(ADDRESSES[to], PORT + number);
        let listener = self.hosts[to].within(|| Ok(TcpListener::bind(target)?))?;
        let mut sender = self.hosts[from].within(|| Ok(TcpStream::connect_timeout(&target.into(), PATIENCE)?))?;
        let (mut receiver, _) = listener.accept()?;
        for end in [&sender, &receiver] {
            self.connections.push(end.try_clone()?);
        }
        let received = self.received[way].clone();
        self.run(move || {
            let chunk = vec![0; CHUNK];
            while sender.write_all(&chunk).is_ok() {}
        })?;
        self.run(move || {
            let mut chunk = vec![0; CHUNK];
            while let Ok(bytes @ 1..) = receiver.read(&mut chunk) {
                received.fetch_add(bytes as u64, Ordering::Relaxed);
            }
        })
    }

    /// Full packets at equal distances.
    fn stream(&mut self, way: usize, bps: u64) -> Result<()> {
        let (from, to) = ends(way);
        let target = SocketAddrV4::new(ADDRESSES[to], PORT);
        let receiver = self.hosts[to].within(|| Ok(UdpSocket::bind(target)?))?;
        receiver.set_read_timeout(Some(LOOK))?;
        let sender = self.hosts[from].within(|| Ok(UdpSocket::bind(SocketAddrV4::new(ADDRESSES[from], 0))?))?;
        let (over, received) = (self.over.clone(), self.received[way].clone());
        self.run(move || {
            let payload = [0; PACKET_BYTES - HEADER_BYTES];
            let start_ns = now_ns();
            for sent in 1u64.. {
                // A packet that finds no room on its own host is lost, as anywhere else.
                let _ = sender.send_to(&payload, target);
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let bits = u128::from(sent) * PACKET_BYTES as u128 * 8;
                sleep_until(start_ns + (bits * 1_000_000_000 / u128::from(bps)) as u64);
            }
        })?;
        let over = self.over.clone();
        self.run(move || {
            let mut packet = [0; PACKET_BYTES];
            while !over.load(Ordering::Relaxed) {
                if let Ok(bytes) = receiver.recv(&mut packet) {
                    received.fetch_add(bytes as u64, Ordering::Relaxed);
                }
            }
        })
    }

    fn run(&mut self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = Builder::new().name("cross".into()).spawn(work)?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Drop for CrossTraffic {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for connection in &self.connections {
            // Fails where the other end was quicker.
            let _ = connection.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Sides that a way leads from and to.
fn ends(way: usize) -> (usize, usize) {
    if way == UP { (0, 1) } else { (1, 0) }
}

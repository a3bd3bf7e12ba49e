//! UDP: each client's datagrams go on from a socket of its own, as they are. What the kernel has put together (GRO)
//! stays together, and is taken apart where it leaves (GSO).

use std::collections::HashMap;
use std::io::{ErrorKind, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};

use crate::host::outside::Outside;

/// The most that comes at once.
const BATCH: usize = 1 << 16;
/// Bytes that may wait for the gateway.
const WAITING: usize = 8 << 20;

/// A socket that datagrams may come to from now on.
pub fn listen(at: impl ToSocketAddrs) -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind(at)?;
    prepare(&socket)?;
    Ok(socket)
}

/// Passes on what comes, for ever.
pub fn pass(inner: UdpSocket, to: SocketAddr, outside: &Outside) -> Result<()> {
    let inner = Arc::new(inner);
    let mut servers: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let mut batch = Batch::new();
    loop {
        let Some(client) = batch.receive(&inner)? else {
            continue;
        };
        let server = match servers.get(&client) {
            Some(server) => server,
            None => {
                let opened = Arc::new(outside.within(|| Ok(towards(to)?))?);
                let (from, back) = (Arc::clone(&opened), Arc::clone(&inner));
                thread::spawn(move || answer(&from, &back, client));
                servers.entry(client).or_insert(opened)
            }
        };
        batch.send(server, None);
    }
}

/// A socket that is connected to the server, in the calling thread's namespace.
pub fn towards(to: SocketAddr) -> std::io::Result<UdpSocket> {
    let any: SocketAddr = match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    prepare(&socket)?;
    socket.connect(to)?;
    Ok(socket)
}

/// What the server sends goes back to the client.
fn answer(server: &UdpSocket, inner: &UdpSocket, client: SocketAddr) {
    let mut batch = Batch::new();
    while batch.receive(server).is_ok() {
        batch.send(inner, Some(client));
    }
}

/// Batches are taken whole, and nothing is cut into fragments: what is too large for a path is lost on it.
fn prepare(socket: &UdpSocket) -> std::io::Result<()> {
    setsockopt(socket, sockopt::UdpGroSegment, &true)?;
    setsockopt(socket, sockopt::RcvBufForce, &WAITING)?;
    setsockopt(socket, sockopt::SndBufForce, &WAITING)?;
    let (level, name, probe) = match socket.local_addr()? {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE),
    };
    // SAFETY: the value is an int that outlives the call.
    let set = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const probe).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Datagrams that came together, all of one size but perhaps the last.
struct Batch {
    bytes: Vec<u8>,
    length: usize,
    /// Of each; None where there is one.
    size: Option<u16>,
    control: Vec<u8>,
}

impl Batch {
    fn new() -> Self {
        Self { bytes: vec![0; BATCH], length: 0, size: None, control: cmsg_space!(i32) }
    }

    /// Waits for the next ones; who sent them, as far as that is known of a socket that is connected.
    fn receive(&mut self, socket: &UdpSocket) -> Result<Option<SocketAddr>> {
        let mut room = [IoSliceMut::new(&mut self.bytes)];
        let control = Some(&mut self.control[..]);
        let got = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut room, control, MsgFlags::empty());
        let got = match got.map_err(std::io::Error::from) {
            Ok(got) => got,
            // Word of an earlier datagram that nobody took.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                self.length = 0;
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        self.size = got.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::UdpGroSegments(size) => u16::try_from(size).ok(),
            _ => None,
        });
        self.length = got.bytes;
        Ok(got.address.as_ref().and_then(address))
    }

    /// What the other side does not take is lost, as on any path.
    fn send(&self, socket: &UdpSocket, to: Option<SocketAddr>) {
        if self.length == 0 {
            return;
        }
        let bytes = [IoSlice::new(&self.bytes[..self.length])];
        let size = self.size.filter(|&size| usize::from(size) < self.length);
        let segments = size.as_ref().map(ControlMessage::UdpGsoSegments);
        let to = to.map(SockaddrStorage::from);
        for _ in 0..2 {
            let sent = sendmsg(socket.as_raw_fd(), &bytes, segments.as_slice(), MsgFlags::empty(), to.as_ref());
            // The first may only get word of an earlier one.
            if sent != Err(nix::errno::Errno::ECONNREFUSED) {
                return;
            }
        }
    }
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let four = storage.as_sockaddr_in().map(|a| SocketAddr::V4((*a).into()));
    four.or_else(|| storage.as_sockaddr_in6().map(|a| SocketAddr::V6((*a).into())))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SIZE: u16 = 1200;
    const COUNT: usize = 20;

    #[test]
    fn a_batch_comes_back_as_it_went() {
        let echo = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        prepare(&echo).unwrap();
        let to = echo.local_addr().unwrap();
        thread::spawn(move || {
            let mut batch = Batch::new();
            while let Ok(from) = batch.receive(&echo) {
                batch.send(&echo, from);
            }
        });
        let inner = listen((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let at = inner.local_addr().unwrap();
        thread::spawn(move || pass(inner, to, &Outside::here().unwrap()));

        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        client.connect(at).unwrap();
        let mut batch = Batch::new();
        batch.length = usize::from(SIZE) * (COUNT - 1) + 7;
        batch.size = Some(SIZE);
        for (index, byte) in batch.bytes.iter_mut().enumerate() {
            *byte = (index / usize::from(SIZE)) as u8;
        }
        batch.send(&client, None);
        let mut room = [0; 2 * SIZE as usize];
        for number in 0..COUNT {
            let length = client.recv(&mut room).unwrap();
            let whole = if number + 1 == COUNT { 7 } else { usize::from(SIZE) };
            assert_eq!(length, whole);
            assert!(room[..length].iter().all(|&b| usize::from(b) == number));
        }
    }
}

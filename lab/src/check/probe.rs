//! Probes: trains of UDP packets sent through a link in both directions at once, each stamped by the one
//! clock that all hosts share.

use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrIn, getsockopt, recvmsg, setsockopt,
    sockopt::{RcvBuf, RcvBufForce, ReceiveTimestampns},
};
use nix::sys::time::TimeSpec;

use crate::check::train::{HEADERS, Train};
use crate::host::monotonic::{nanoseconds, now_ns, sleep_until, unix_offset_ns};
use crate::host::namespace::Host;
use crate::host::realtime;

const PORT: u16 = 9;
/// From the start of the threads to the first packet.
const LEAD_NS: u64 = 2_000_000;
const RECEIVE_BUFFER: usize = 32 << 20;

/// Where a probe starts or ends.
pub type Endpoint<'a> = (&'a Host, Ipv4Addr);

/// What became of a train.
pub struct Passage {
    /// When each packet was sent.
    pub sent_ns: Vec<u64>,
    pub arrivals: Vec<Arrival>,
}

pub struct Arrival {
    pub sequence: usize,
    /// As the kernel stamped it, so that a receiver which is late itself does not count.
    pub at_ns: u64,
}

/// Sends one train each way, `[up, down]`, at the same time.
pub fn exchange(ends: [Endpoint; 2], trains: [Option<&Train>; 2]) -> Result<[Option<Passage>; 2]> {
    // All sockets are open before anything is sent: a probe without a receiver would be answered by ICMP.
    let mut ways = [None, None];
    for way in [0, 1] {
        ways[way] = trains[way].map(|train| Way::open(ends[way], ends[1 - way], train)).transpose()?;
    }
    let start_ns = now_ns() + LEAD_NS;
    std::thread::scope(|scope| {
        let running = ways.each_ref().map(|way| {
            let way = way.as_ref();
            way.map(|way| way.start(scope, start_ns)).transpose()
        });
        let passages = running.map(|way| way?.map(Running::finish).transpose());
        let [up, down] = passages;
        Ok([up?, down?])
    })
}

/// One way of an exchange.
struct Way<'a> {
    train: &'a Train,
    sender: UdpSocket,
    receiver: UdpSocket,
    target: SocketAddrV4,
    /// When the receiver stops; known once all is sent.
    stop_ns: AtomicU64,
}

struct Running<'s> {
    sender: ScopedJoinHandle<'s, Result<Vec<u64>>>,
    receiver: ScopedJoinHandle<'s, Result<Vec<Arrival>>>,
}

impl<'a> Way<'a> {
    fn open(from: Endpoint, to: Endpoint, train: &'a Train) -> Result<Self> {
        let target = SocketAddrV4::new(to.1, PORT);
        let bind = |place: Endpoint, port| place.0.within(|| Ok(UdpSocket::bind(SocketAddrV4::new(place.1, port))?));
        let receiver = bind(to, PORT)?;
        enlarge(&receiver)?;
        setsockopt(&receiver, ReceiveTimestampns, &true)?;
        Ok(Self { train, sender: bind(from, 0)?, receiver, target, stop_ns: AtomicU64::new(u64::MAX) })
    }

    fn start<'s>(&'s self, scope: &'s Scope<'s, '_>, start_ns: u64) -> Result<Running<'s>> {
        let receiver = Builder::new().spawn_scoped(scope, || self.receive());
        let sender = Builder::new().spawn_scoped(scope, move || {
            let sent = self.send(start_ns);
            self.stop_ns.store(now_ns() + self.train.tail_ns, Ordering::Release);
            sent
        });
        if sender.is_err() {
            self.stop_ns.store(0, Ordering::Release);
        }
        Ok(Running {
            sender: sender.context("starting a probe's sender")?,
            receiver: receiver.context("starting a probe's receiver")?,
        })
    }

    fn send(&self, start_ns: u64) -> Result<Vec<u64>> {
        realtime::prefer(realtime::PROBE);
        let mut payload = vec![0; self.train.bytes as usize - HEADERS];
        let mut sent_ns = Vec::with_capacity(self.train.offsets_ns.len());
        let mut late_ns = 0;
        for (sequence, offset) in self.train.offsets_ns.iter().enumerate() {
            let due = start_ns + offset + late_ns;
            sleep_until(due);
            let now = now_ns();
            if !self.train.catch_up {
                late_ns += now.saturating_sub(due);
            }
            payload[..8].copy_from_slice(&(sequence as u64).to_le_bytes());
            self.sender.send_to(&payload, self.target).context("sending a probe")?;
            sent_ns.push(now);
        }
        Ok(sent_ns)
    }

    fn receive(&self) -> Result<Vec<Arrival>> {
        realtime::prefer(realtime::PROBE);
        let offset_ns = unix_offset_ns();
        let mut arrivals = Vec::with_capacity(self.train.offsets_ns.len());
        loop {
            match receive_one(&self.receiver) {
                Ok(Received { length, sequence, unix_ns }) => {
                    if length + HEADERS == self.train.bytes as usize {
                        let at_ns = (unix_ns as i64 - offset_ns) as u64;
                        arrivals.push(Arrival { sequence, at_ns });
                    }
                }
                Err(Errno::EAGAIN) if now_ns() >= self.stop_ns.load(Ordering::Acquire) => {
                    return Ok(arrivals);
                }
                Err(Errno::EAGAIN) => {
                    let mut events = [PollFd::new(self.receiver.as_fd(), PollFlags::POLLIN)];
                    // Short, because the time to stop is only known once all is sent.
                    ppoll(&mut events, Some(TimeSpec::new(0, 2_000_000)), None)?;
                }
                Err(error) => return Err(error).context("receiving a probe"),
            }
        }
    }
}

/// Gives a receiver as large a buffer as the machine lets this user have.
pub fn enlarge(receiver: &UdpSocket) -> nix::Result<()> {
    match setsockopt(receiver, RcvBufForce, &RECEIVE_BUFFER) {
        Err(Errno::EPERM) => setsockopt(receiver, RcvBuf, &RECEIVE_BUFFER),
        done => done,
    }
}

/// What a receiver gets, as the kernel counts: twice what was asked for; 0 where there is no socket.
pub fn granted_buffer() -> u64 {
    let granted = || {
        let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        enlarge(&receiver).ok()?;
        getsockopt(&receiver, RcvBuf).ok()
    };
    granted().unwrap_or(0) as u64
}

struct Received {
    length: usize,
    sequence: usize,
    unix_ns: u64,
}

/// The next probe; EAGAIN if none is waiting.
fn receive_one(socket: &UdpSocket) -> nix::Result<Received> {
    let mut buffer = [0; 2048];
    let mut space = nix::cmsg_space!(TimeSpec);
    let mut parts = [IoSliceMut::new(&mut buffer)];
    let message = recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_DONTWAIT)?;
    let stamp = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(time) => Some(nanoseconds(time)),
        _ => None,
    });
    let length = message.bytes;
    Ok(Received {
        length,
        unix_ns: stamp.expect("a socket with SO_TIMESTAMPNS stamps every datagram"),
        sequence: u64::from_le_bytes(buffer[..8].try_into().expect("eight bytes")) as usize,
    })
}

impl Running<'_> {
    fn finish(self) -> Result<Passage> {
        let sent_ns = self.sender.join().expect("a probe's sender does not panic")?;
        let arrivals = self.receiver.join().expect("a probe's receiver does not panic")?;
        Ok(Passage { sent_ns, arrivals })
    }
}

//! An emulated link at work, seen by those who use it: its thread, and how to put it on another course.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::host::realtime;
use crate::link::course::Course;
use crate::link::tun::Tun;
use crate::link::worker::{Order, Turn, Worker};

/// A running link. Side 0 is host `a`, side 1 is host `b`; direction 0 is `up`, a to b.
pub struct EmulatedLink {
    orders: Sender<Order>,
    wake: Arc<EventFd>,
    thread: Option<JoinHandle<io::Result<()>>>,
    pub realtime: bool,
    /// Whether the kernel stamps arrivals: then a stall of the thread changes no packet's fate.
    pub stamps: bool,
}

impl EmulatedLink {
    /// Starts the link between the devices of one pair of hosts, or of its own and of another whose packets cross it; what
    /// the devices hold is thrown away.
    pub fn start(pairs: Vec<[Tun; 2]>, course: &Course) -> Result<Self> {
        let (orders, inbox) = channel();
        let (tell, started) = channel();
        let wake = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?);
        let woken = wake.clone();
        let stamps = pairs.as_flattened().iter().all(Tun::stamps);
        // Its memory is that of this thread: what another one allocates, malloc has from the kernel page by page.
        let worker = Worker::new(pairs, course);
        let thread = std::thread::Builder::new().name("link".into()).spawn(move || {
            let realtime = realtime::prefer(realtime::LINK);
            // The starter waits for this message, so it cannot have gone.
            let _ = tell.send(realtime);
            worker.run(&inbox, &woken)
        })?;
        let realtime = started.recv().context("starting the link's thread")?;
        Ok(Self { orders, wake, thread: Some(thread), realtime, stamps })
    }

    /// Ends the running course and begins another: its packet index and its time start at zero. Packets in flight
    /// stay so, and count for neither.
    pub fn begin(&mut self, course: &Course) -> Result<Turn> {
        let (reply, turn) = channel();
        let order = Order { course: course.clone(), reply };
        // An order that cannot be sent comes back with its reply's sender: kept, it would be waited for in vain.
        let sent = self.orders.send(order).is_ok();
        self.wake.write(1)?;
        match sent.then(|| turn.recv()) {
            Some(Ok(turn)) => Ok(turn),
            _ => Err(self.cause_of_end()),
        }
    }

    fn cause_of_end(&mut self) -> anyhow::Error {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => anyhow!("the link stopped: {error}"),
            _ => anyhow!("the link stopped"),
        }
    }
}

//! A worker of the server: a socket and the connections whose datagrams the kernel deals to it.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use h123_common::command::Result;
use h123_common::datagrams::{Inbox, Socket};
use tokio::sync::watch;
use tquic::{Endpoint, PacketInfo, PacketSendHandler};

use crate::host::Host;

/// With nothing to wait for, look again after this time.
const IDLE: Duration = Duration::from_secs(3600);

/// Serves until it is told to stop.
pub async fn serve(
    socket: std::net::UdpSocket,
    config: tquic::Config,
    host: Host,
    mut stop: watch::Receiver<bool>,
) -> Result<()> {
    let post = Rc::new(Post::new(Socket::new(socket)?));
    let mut endpoint = Endpoint::new(Box::new(config), true, Box::new(host), post.clone());
    let mut inbox = Inbox::default();
    loop {
        let wait = endpoint.timeout().unwrap_or(IDLE);
        tokio::select! {
            received = post.socket.receive(&mut inbox) => {
                received?;
                for (src, datagram) in inbox.datagrams() {
                    let facts = PacketInfo { src, dst: post.socket.address, time: Instant::now() };
                    // A datagram that cannot be read counts as lost; what it breaks, the connection says itself.
                    let _ = endpoint.recv(datagram, &facts);
                }
            }
            () = tokio::time::sleep(wait) => endpoint.on_timeout(Instant::now()),
            _ = stop.changed() => return Ok(()),
        }
        endpoint.process_connections()?;
    }
}

/// Sends what TQUIC hands over.
struct Post {
    socket: Socket,
    /// Packets one after another, as the kernel wants them.
    gathered: RefCell<Vec<u8>>,
}

impl Post {
    fn new(socket: Socket) -> Self {
        Self {
            socket,
            gathered: RefCell::default(),
        }
    }
}

impl PacketSendHandler for Post {
    fn on_packets_send(&self, packets: &[(Vec<u8>, PacketInfo)]) -> tquic::Result<usize> {
        let mut gathered = self.gathered.borrow_mut();
        let mut sent = 0;
        while sent < packets.len() {
            let run = run(&packets[sent..], self.socket.segments());
            let (first, facts) = &run[0];
            let contents = if run.len() == 1 {
                first
            } else {
                gathered.clear();
                run.iter()
                    .for_each(|(packet, _)| gathered.extend_from_slice(packet));
                &*gathered
            };
            match self.socket.try_send(facts.dst, contents, first.len()) {
                Ok(()) => sent += run.len(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break, // TQUIC tries again
                Err(error) => return Err(tquic::Error::IoError(error.to_string())),
            }
        }
        Ok(sent)
    }
}

/// As many packets as the kernel sends at once: all to the same address and as long as the first, but the last may be
/// shorter.
fn run(packets: &[(Vec<u8>, PacketInfo)], most: usize) -> &[(Vec<u8>, PacketInfo)] {
    let (first, facts) = &packets[0];
    let fits = |(packet, other): &&(Vec<u8>, PacketInfo)| {
        other.dst == facts.dst && packet.len() == first.len()
    };
    let equal = packets.iter().take(most).take_while(fits).count();
    match packets.get(equal) {
        Some((last, other))
            if equal < most && other.dst == facts.dst && last.len() < first.len() =>
        {
            &packets[..=equal]
        }
        _ => &packets[..equal],
    }
}

//! What the gateway adds to a round trip: an echo on the machine's loopback is asked through it and without it, by turns.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use super::{datagrams, streams};
use crate::host::outside::Outside;

const TIMES: usize = 41;
const SIZE: usize = 100;
const PATIENCE: Duration = Duration::from_secs(3);
const ANYWHERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Medians.
#[derive(Serialize)]
pub struct Added {
    through_ns: u64,
    without_ns: u64,
}

pub fn over_tcp(outside: &Arc<Outside>) -> Result<Added> {
    let echo = outside.within(|| Ok(TcpListener::bind(ANYWHERE)?))?;
    let to = echo.local_addr()?;
    thread::spawn(move || {
        while let Ok((mut one, _)) = echo.accept() {
            thread::spawn(move || {
                let mut bytes = [0; SIZE];
                while one.read_exact(&mut bytes).and_then(|()| one.write_all(&bytes)).is_ok() {}
            });
        }
    });
    let listener = TcpListener::bind(ANYWHERE)?;
    let at = listener.local_addr()?;
    let through = Arc::clone(outside);
    thread::spawn(move || streams::pass(&listener, to, &through));
    let mut ways = [connected(at)?, outside.within(|| connected(to))?];
    measured(|way| {
        let mut bytes = [0; SIZE];
        ways[way].write_all(&bytes)?;
        Ok(ways[way].read_exact(&mut bytes)?)
    })
}

fn connected(to: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

pub fn over_udp(outside: &Arc<Outside>) -> Result<Added> {
    let echo = outside.within(|| Ok(UdpSocket::bind(ANYWHERE)?))?;
    let to = echo.local_addr()?;
    thread::spawn(move || {
        let mut bytes = [0; SIZE];
        while let Ok((length, from)) = echo.recv_from(&mut bytes) {
            let _ = echo.send_to(&bytes[..length], from);
        }
    });
    let inner = datagrams::listen(ANYWHERE)?;
    let at = inner.local_addr()?;
    let through = Arc::clone(outside);
    thread::spawn(move || datagrams::pass(inner, to, &through));
    let ways = [asking(at)?, outside.within(|| asking(to))?];
    measured(|way| {
        let mut bytes = [0; SIZE];
        ways[way].send(&bytes)?;
        ways[way].recv(&mut bytes)?;
        Ok(())
    })
}

fn asking(to: SocketAddr) -> Result<UdpSocket> {
    let socket = UdpSocket::bind(ANYWHERE)?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// Round trips by turns, through the gateway (way 0) and without it (way 1); the first of each opens what is needed.
fn measured(mut round_trip: impl FnMut(usize) -> Result<()>) -> Result<Added> {
    let mut taken = [vec![], vec![]];
    for turn in 0..=TIMES {
        for (way, times) in taken.iter_mut().enumerate() {
            let began = Instant::now();
            round_trip(way)?;
            if turn > 0 {
                times.push(began.elapsed().as_nanos() as u64);
            }
        }
    }
    let [through_ns, without_ns] = taken.map(|mut times| {
        times.sort_unstable();
        times[TIMES / 2]
    });
    Ok(Added { through_ns, without_ns })
}

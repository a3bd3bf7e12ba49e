//! `gateway`: stands at a link's end for a server that runs elsewhere, and passes on what comes.
//!
//! Datagrams pass through as they are, in batches where they come so (GRO and GSO), and with them QUIC. TCP ends here:
//! a connection of the client's meets this machine's TCP at the emulated link, and its bytes, TLS and all, go on over
//! another one. What that adds is measured first, over an echo of its own, and so is the time that a connection to the
//! server takes from here.

mod added;
mod datagrams;
mod streams;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::commands::cli::Gateway;
use crate::files::atomic_file::write_atomically;
use crate::files::refusal::Refusal;
use crate::host::outside::Outside;
use added::Added;

/// Printed when it listens.
const READY: &str = "gateway: ready";
/// For a connection to the server.
const PATIENCE: Duration = Duration::from_secs(3);
/// For word that nobody takes datagrams there.
const REFUSAL: Duration = Duration::from_millis(200);

/// `gateway.json`.
#[derive(Serialize)]
struct Facts {
    h123: &'static str,
    to: SocketAddr,
    /// What a round trip over each takes with and without the gateway.
    tcp: Added,
    udp: Added,
    /// What a TCP connection to the server takes from here; null: it takes none.
    beyond_ns: Option<u64>,
}

pub fn gateway(arguments: &Gateway) -> Result<u8, Refusal> {
    serve(arguments).map_err(|e| Refusal::input(format!("{e:#}")))?;
    Ok(0)
}

fn serve(arguments: &Gateway) -> Result<()> {
    let outside = Arc::new(Outside::inherited()?);
    let beyond = connection_ns(&outside, arguments.to)?;
    let facts = Facts {
        h123: "gateway/1",
        to: arguments.to,
        tcp: added::over_tcp(&outside).context("measuring what the gateway adds to TCP")?,
        udp: added::over_udp(&outside).context("measuring what the gateway adds to UDP")?,
        beyond_ns: beyond,
    };
    write_atomically(&facts, &arguments.facts)?;
    let datagrams = datagrams::listen(arguments.at).context("listening for datagrams")?;
    let (to, through) = (arguments.to, Arc::clone(&outside));
    if beyond.is_some() {
        let listener = TcpListener::bind(arguments.at).context("listening for connections")?;
        thread::spawn(move || streams::pass(&listener, to, &through));
    }
    println!("{READY}");
    datagrams::pass(datagrams, to, &outside)
}

/// What a TCP connection to the server takes; None where it takes none, and may yet take datagrams.
fn connection_ns(outside: &Outside, to: SocketAddr) -> Result<Option<u64>> {
    let began = Instant::now();
    let connected = outside.within(|| Ok(TcpStream::connect_timeout(&to, PATIENCE)))?;
    match connected {
        Ok(_) => Ok(Some(began.elapsed().as_nanos() as u64)),
        Err(error) if error.kind() != ErrorKind::ConnectionRefused => {
            bail!("no connection to {to}: {error}")
        }
        Err(_) if outside.within(|| Ok(takes_no_datagrams(to)?))? => {
            bail!("nothing listens at {to}, over TCP or UDP")
        }
        Err(_) => Ok(None),
    }
}

/// Whether the other side says so. An empty datagram is no packet of QUIC.
fn takes_no_datagrams(to: SocketAddr) -> std::io::Result<bool> {
    let socket = datagrams::towards(to)?;
    socket.set_read_timeout(Some(REFUSAL))?;
    socket.send(&[])?;
    let refused = |error: std::io::Error| error.kind() == ErrorKind::ConnectionRefused;
    Ok(socket.recv(&mut [0; 1]).is_err_and(refused))
}

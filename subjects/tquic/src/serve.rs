//! The server.

use std::fs::File;
use std::io::Read;
use std::net::UdpSocket;
use std::thread::{self, available_parallelism};

use h123_common::command::{Failure, Flags, Result};
use h123_common::protocol::Protocol;
use h123_common::serving::Serving;
use h123_common::{stop, udp};
use tokio::sync::{mpsc, watch};

use crate::host::Host;
use crate::{endpoint, transport};

/// The length of the key that BoringSSL encrypts session tickets with.
const TICKET_KEY: usize = 48;

pub fn serve(flags: Flags) -> Result<()> {
    let serving = Serving::parse(flags)?;
    if serving.protocol != Protocol::H3 {
        return Err(Failure::unsupported(format!(
            "protocol {}",
            serving.protocol
        )));
    }
    let mut key = [0; TICKET_KEY];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    // One worker a processor. They share a key, so that each resumes the sessions of all.
    let workers = available_parallelism()?.get();
    let sockets = (0..workers)
        .map(|_| Ok(udp::bind(serving.address, true)?))
        .collect::<Result<Vec<_>>>()?;
    let (stop, stopped) = watch::channel(false);
    let (end, mut ended) = mpsc::unbounded_channel();
    thread::scope(|scope| {
        for socket in sockets {
            let (serving, stopped, end) = (&serving, stopped.clone(), end.clone());
            scope.spawn(move || end.send(work(serving, &key, socket, stopped)));
        }
        let first = stop::run(stop::until_told(async {
            let first = ended.recv().await;
            first.unwrap_or_else(|| Err(Failure::new("no worker is left")))
        }));
        stop.send_replace(true);
        first
    })
}

/// TQUIC's endpoints do not leave their thread.
fn work(
    serving: &Serving,
    key: &[u8],
    socket: UdpSocket,
    stop: watch::Receiver<bool>,
) -> Result<()> {
    let config = transport::config(serving, key)?;
    let host = Host::new(serving.qlog.clone())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(endpoint::serve(socket, config, host, stop))
}

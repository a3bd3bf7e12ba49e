//! The client.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use h123_common::client::{self, Dialer, Problem, Tls, Workload};
use h123_common::command::{Flags, Result};
use h123_common::datagrams::Socket;
use h123_common::sending::Sending;
use h123_common::udp;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::handle::Handle;
use crate::pilot::Pilot;
use crate::{tls, transport};

/// For the farewells of connections.
const FAREWELL: Duration = Duration::from_millis(50);

pub fn drive(flags: Flags) -> Result<()> {
    client::drive(flags, Quiche::new)
}

/// Each connection has a socket of its own.
struct Quiche {
    config: Mutex<quiche::Config>,
    server: SocketAddr,
    pilots: Mutex<JoinSet<()>>,
}

impl Quiche {
    fn new(workload: &Workload, sending: &Sending) -> Result<Self> {
        let config = transport::config(tls::client(&workload.ca)?, sending)?;
        Ok(Self {
            config: Mutex::new(config),
            server: workload.server(),
            pilots: Mutex::default(),
        })
    }

    fn pilot(&self, host: &str) -> Result<Pilot> {
        let any = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = udp::bind(any, false)?;
        // So that the socket has one address, and hears when nobody is there.
        socket.connect(self.server)?;
        let socket = Socket::new(socket)?;
        let id = transport::connection_id()?;
        let mut config = self.config.lock().expect("no thread panics with it");
        let quic = quiche::connect(Some(host), &id, socket.address, self.server, &mut config)?;
        Ok(Pilot::new(quic, socket))
    }
}

impl Dialer for Quiche {
    type Connection = Handle;

    async fn dial(&self, host: &str) -> std::result::Result<(Handle, Tls), Problem> {
        let pilot = self.pilot(host).map_err(Problem::other)?;
        let (ready, done) = oneshot::channel();
        let (handle, orders) = Handle::new();
        self.pilots
            .lock()
            .expect("no thread panics with it")
            .spawn(pilot.fly(ready, orders));
        // Without an answer the pilot has ended.
        let handshake = done.await.unwrap_or(Err(Problem::Reset))?;
        Ok((handle, handshake))
    }

    async fn finish(&self) {
        let pilots = std::mem::take(&mut *self.pilots.lock().expect("no thread panics with it"));
        let _ = tokio::time::timeout(FAREWELL, pilots.join_all()).await;
    }
}

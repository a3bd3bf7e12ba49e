//! A worker of the server: a socket and the connections whose datagrams the kernel deals to it.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::LineWriter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use h123_common::command::Result;
use h123_common::datagrams::{Inbox, Socket};
use quiche::{ConnectionId, Header, RecvInfo, Type};
use tokio::sync::watch;

use crate::outbox::Outbox;
use crate::session::Session;
use crate::transport;

/// HTTP/3's H3_NO_ERROR.
const NO_ERROR: u64 = 0x100;
/// With nothing to wait for, look again after this time.
const IDLE: Duration = Duration::from_secs(3600);

pub struct Endpoint {
    socket: Socket,
    config: quiche::Config,
    http: quiche::h3::Config,
    qlog: Option<PathBuf>,
    outbox: Outbox,
    /// For bodies received.
    buffer: Vec<u8>,
    sessions: HashMap<u64, Session>,
    /// Sessions by connection IDs: ours, and the one that the client chose for its first datagrams.
    ids: HashMap<ConnectionId<'static>, u64>,
    accepted: u64,
    /// Sessions with something to do.
    busy: BTreeSet<u64>,
    /// When each has something to do even if nothing arrives.
    wakes: BTreeSet<(Instant, u64)>,
}

impl Endpoint {
    pub fn new(socket: Socket, config: quiche::Config, qlog: Option<PathBuf>) -> Result<Self> {
        Ok(Self {
            socket,
            config,
            http: quiche::h3::Config::new()?,
            qlog,
            outbox: Outbox::new(),
            buffer: vec![0; 65_536],
            sessions: HashMap::new(),
            ids: HashMap::new(),
            accepted: 0,
            busy: BTreeSet::new(),
            wakes: BTreeSet::new(),
        })
    }

    /// Serves until it is told to stop.
    pub async fn serve(mut self, mut stop: watch::Receiver<bool>) -> Result<()> {
        let mut inbox = Inbox::default();
        loop {
            let wake = match self.wakes.first() {
                Some(&(wake, _)) => wake,
                None => Instant::now() + IDLE,
            };
            tokio::select! {
                received = self.socket.receive(&mut inbox) => {
                    received?;
                    for (from, datagram) in inbox.datagrams() {
                        self.take(from, datagram).await?;
                    }
                }
                () = tokio::time::sleep_until(wake.into()) => self.rouse(),
                _ = stop.changed() => return self.leave().await,
            }
            self.advance().await?;
        }
    }

    /// Hands a datagram to its session.
    async fn take(&mut self, from: SocketAddr, datagram: &mut [u8]) -> Result<()> {
        let Ok(header) = Header::from_slice(datagram, quiche::MAX_CONN_ID_LEN) else {
            return Ok(());
        };
        let number = match self.ids.get(&header.dcid) {
            Some(&number) => number,
            None if header.ty != Type::Initial => return Ok(()),
            None if !quiche::version_is_supported(header.version) => {
                return self.negotiate(from, &header).await;
            }
            None => self.accept(from, &header)?,
        };
        if let Some(session) = self.sessions.get_mut(&number) {
            // A datagram that cannot be read counts as lost; what it breaks, the connection says itself.
            let _ = session.quic.recv(
                datagram,
                RecvInfo {
                    from,
                    to: self.socket.address,
                },
            );
            self.busy.insert(number);
        }
        Ok(())
    }

    /// Tells a client which versions of QUIC there are.
    async fn negotiate(&mut self, from: SocketAddr, header: &Header<'_>) -> Result<()> {
        let length = quiche::negotiate_version(&header.scid, &header.dcid, &mut self.buffer)?;
        Ok(self
            .socket
            .send(from, &self.buffer[..length], length)
            .await?)
    }

    fn accept(&mut self, from: SocketAddr, header: &Header<'_>) -> Result<u64> {
        let number = self.accepted;
        self.accepted += 1;
        let id = transport::connection_id()?;
        let mut quic = quiche::accept(&id, None, self.socket.address, from, &mut self.config)?;
        if let Some(folder) = &self.qlog {
            let file = File::create(folder.join(format!("server-{}.sqlog", quic.trace_id())))?;
            let writer = Box::new(LineWriter::new(file));
            quic.set_qlog(writer, "h123 quiche".to_owned(), "server".to_owned());
        }
        self.sessions.insert(number, Session::new(quic));
        self.ids.insert(id, number);
        self.ids.insert(header.dcid.clone().into_owned(), number);
        Ok(number)
    }

    /// Marks the sessions whose time has come.
    fn rouse(&mut self) {
        let now = Instant::now();
        let later = self.wakes.split_off(&(now, u64::MAX));
        for (_, number) in std::mem::replace(&mut self.wakes, later) {
            let Some(session) = self.sessions.get_mut(&number) else {
                continue;
            };
            let timeout = session.quic.timeout_instant();
            if timeout.is_some_and(|timeout| timeout <= now) {
                session.quic.on_timeout();
            }
            self.busy.insert(number);
        }
    }

    /// Does what the busy sessions have to do.
    async fn advance(&mut self) -> Result<()> {
        while let Some(number) = self.busy.pop_first() {
            let Some(session) = self.sessions.get_mut(&number) else {
                continue;
            };
            session.advance(&self.http, &mut self.buffer);
            let paced = self.outbox.flush(&mut session.quic, &self.socket).await?;
            if let Some(before) = session.wake.take() {
                self.wakes.remove(&(before, number));
            }
            if session.quic.is_closed() {
                self.sessions.remove(&number);
                self.ids.retain(|_, of| *of != number);
            } else {
                let timeout = session.quic.timeout_instant();
                session.wake = paced.into_iter().chain(timeout).min();
                self.wakes.extend(session.wake.map(|wake| (wake, number)));
            }
        }
        Ok(())
    }

    /// Says farewell to all clients.
    async fn leave(mut self) -> Result<()> {
        for session in self.sessions.values_mut() {
            let _ = session.quic.close(true, NO_ERROR, b"");
            self.outbox.flush(&mut session.quic, &self.socket).await?;
        }
        Ok(())
    }
}

//! The client's side of one connection: a task that reads and sends its datagrams and carries out orders.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use h123_common::body::Body;
use h123_common::client::{Problem, Tls, now};
use h123_common::datagrams::{Inbox, Socket};
use quiche::RecvInfo;
use quiche::h3::{self, Header, NameValue};
use tokio::sync::{mpsc, oneshot};

use crate::handle::{News, Order};
use crate::outbox::Outbox;

/// HTTP/3's codes.
const NO_ERROR: u64 = 0x100;
const INTERNAL_ERROR: u64 = 0x102;
const REQUEST_CANCELLED: u64 = 0x10c;
/// With nothing to wait for, look again after this time.
const IDLE: Duration = Duration::from_secs(3600);

/// A request under way.
struct Trip {
    body: Body,
    part: Bytes,
    sent: bool,
    news: mpsc::UnboundedSender<News>,
}

pub struct Pilot {
    quic: quiche::Connection,
    http: Option<h3::Connection>,
    socket: Socket,
    inbox: Inbox,
    outbox: Outbox,
    /// For bodies received.
    buffer: Vec<u8>,
    /// Requests that the server does not take yet.
    waiting: VecDeque<Order>,
    /// Requests under way, by stream.
    trips: HashMap<u64, Trip>,
}

impl Pilot {
    pub fn new(quic: quiche::Connection, socket: Socket) -> Self {
        Self {
            quic,
            http: None,
            socket,
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            buffer: vec![0; 65_536],
            waiting: VecDeque::new(),
            trips: HashMap::new(),
        }
    }

    /// Makes the handshake, says that it is done, and carries out orders until nobody can give any.
    pub async fn fly(
        mut self,
        ready: oneshot::Sender<Result<Tls, Problem>>,
        mut orders: mpsc::UnboundedReceiver<Order>,
    ) {
        let mut ready = Some(ready);
        let problem = match self.travel(&mut ready, &mut orders).await {
            Ok(()) => return,
            Err(problem) => problem,
        };
        orders.close(); // from here on the connection is not usable
        if let Some(ready) = ready {
            let _ = ready.send(Err(problem.clone()));
        }
        let waiting = self.waiting.into_iter().map(|order| order.news);
        for news in waiting.chain(self.trips.into_values().map(|trip| trip.news)) {
            let _ = news.send(News::Ended(Err(problem.clone())));
        }
    }

    async fn travel(
        &mut self,
        ready: &mut Option<oneshot::Sender<Result<Tls, Problem>>>,
        orders: &mut mpsc::UnboundedReceiver<Order>,
    ) -> Result<(), Problem> {
        loop {
            let paced = self
                .outbox
                .flush(&mut self.quic, &self.socket)
                .await
                .map_err(|error| broken(&error))?;
            if let Some(problem) = self.ending() {
                return Err(problem);
            }
            if let Some(ready) = ready.take_if(|_| self.http.is_some()) {
                let _ = ready.send(Ok(self.handshake()));
            }
            let wake = paced.into_iter().chain(self.quic.timeout_instant()).min();
            let wake = wake.unwrap_or_else(|| Instant::now() + IDLE);
            tokio::select! {
                received = self.socket.receive(&mut self.inbox) => {
                    received.map_err(|error| broken(&error))?;
                    self.take();
                }
                () = tokio::time::sleep_until(wake.into()) => {
                    if self.quic.timeout_instant().is_some_and(|timeout| timeout <= Instant::now()) {
                        self.quic.on_timeout();
                    }
                }
                order = orders.recv() => match order {
                    Some(order) => self.waiting.push_back(order),
                    None => return self.leave().await,
                }
            }
            if self.speak().is_err() {
                // Where the server broke a rule, quiche has closed it already, with that rule's code.
                let _ = self.quic.close(true, INTERNAL_ERROR, b"");
            }
        }
    }

    fn take(&mut self) {
        for (from, datagram) in self.inbox.datagrams() {
            // A datagram that cannot be read counts as lost; what it breaks, the connection says itself.
            let _ = self.quic.recv(
                datagram,
                RecvInfo {
                    from,
                    to: self.socket.address,
                },
            );
        }
    }

    async fn leave(&mut self) -> Result<(), Problem> {
        let _ = self.quic.close(true, NO_ERROR, b"");
        self.outbox
            .flush(&mut self.quic, &self.socket)
            .await
            .map_err(|error| broken(&error))?;
        Ok(())
    }

    /// Does what HTTP/3 has to do now.
    fn speak(&mut self) -> h3::Result<()> {
        if self.http.is_none() {
            if !self.quic.is_established() {
                return Ok(());
            }
            self.http = Some(h3::Connection::with_transport(
                &mut self.quic,
                &h3::Config::new()?,
            )?);
        }
        let Some(http) = &mut self.http else {
            return Ok(());
        };
        depart(&mut self.waiting, &mut self.trips, http, &mut self.quic);
        loop {
            match http.poll(&mut self.quic) {
                Ok((stream, event)) => {
                    heed(
                        stream,
                        event,
                        &mut self.trips,
                        http,
                        &mut self.quic,
                        &mut self.buffer,
                    );
                }
                Err(h3::Error::Done) => break,
                Err(error) => return Err(error),
            }
        }
        self.trips
            .retain(|&stream, trip| trip.goes_on(stream, http, &mut self.quic));
        Ok(())
    }

    /// Why the connection has ended, if it has.
    fn ending(&self) -> Option<Problem> {
        let of = |error: &quiche::ConnectionError, app: Problem| match error.is_app {
            true => app,
            false => Problem::of_transport(error.error_code),
        };
        if self.quic.is_timed_out() {
            return Some(Problem::Timeout);
        }
        let theirs = self
            .quic
            .peer_error()
            .map(|error| of(error, Problem::Reset));
        let ours = self
            .quic
            .local_error()
            .map(|error| of(error, Problem::Protocol));
        theirs
            .or(ours)
            .or(self.quic.is_closed().then_some(Problem::Reset))
    }

    fn handshake(&mut self) -> Tls {
        let alpn = String::from_utf8_lossy(self.quic.application_proto()).into_owned();
        let ssl: &mut boring::ssl::SslRef = self.quic.as_mut();
        let cipher = ssl
            .current_cipher()
            .and_then(|cipher| cipher.standard_name())
            .unwrap_or_default();
        Tls {
            version: "1.3".to_owned(), // QUIC has no other
            cipher: cipher.to_owned(),
            key_exchange: ssl.curve_name().unwrap_or_default().to_owned(),
            alpn,
        }
    }
}

/// Sends the waiting requests that the server takes.
fn depart(
    waiting: &mut VecDeque<Order>,
    trips: &mut HashMap<u64, Trip>,
    http: &mut h3::Connection,
    quic: &mut quiche::Connection,
) {
    while let Some(Order { head, body, news }) = waiting.pop_front() {
        match http.send_request(quic, &head, body.left() == 0) {
            Ok(stream) => drop(trips.insert(
                stream,
                Trip {
                    body,
                    part: Bytes::new(),
                    sent: false,
                    news,
                },
            )),
            Err(
                h3::Error::StreamBlocked | h3::Error::TransportError(quiche::Error::StreamLimit),
            ) => {
                return waiting.push_front(Order { head, body, news });
            }
            Err(_) => drop(news.send(News::Ended(Err(Problem::Protocol)))),
        }
    }
}

fn heed(
    stream: u64,
    event: h3::Event,
    trips: &mut HashMap<u64, Trip>,
    http: &mut h3::Connection,
    quic: &mut quiche::Connection,
    buffer: &mut [u8],
) {
    let Some(trip) = trips.get(&stream) else {
        return;
    };
    let news = match event {
        h3::Event::Headers { list, .. } => match answered(&list) {
            Some((status, length)) => News::Head {
                at: now(),
                status,
                length,
            },
            None => return, // trailers
        },
        h3::Event::Data => {
            let mut count = 0;
            while let Ok(length) = http.recv_body(quic, stream, buffer) {
                count += length as u64;
            }
            News::Received(count)
        }
        h3::Event::Finished => News::Ended(Ok(())),
        h3::Event::Reset(_) => News::Ended(Err(Problem::Reset)),
        h3::Event::PriorityUpdate | h3::Event::GoAway => return,
    };
    let ended = matches!(news, News::Ended(_));
    let _ = trip.news.send(news);
    if ended {
        trips.remove(&stream);
    }
}

/// Status and length of a response's header; none: it is not the header of a response.
fn answered(fields: &[Header]) -> Option<(u16, Option<u64>)> {
    let field = |name: &[u8]| fields.iter().find(|field| field.name() == name);
    let text = |name: &[u8]| std::str::from_utf8(field(name)?.value()).ok();
    let length = text(b"content-length").and_then(|length| length.parse().ok());
    Some((text(b":status")?.parse().ok()?, length))
}

impl Trip {
    /// Sends as much of the body as the connection takes now. False: the request has failed, or is given up.
    fn goes_on(
        &mut self,
        stream: u64,
        http: &mut h3::Connection,
        quic: &mut quiche::Connection,
    ) -> bool {
        if self.news.is_closed() {
            for way in [quiche::Shutdown::Read, quiche::Shutdown::Write] {
                let _ = quic.stream_shutdown(stream, way, REQUEST_CANCELLED);
            }
            return false;
        }
        if self.sent {
            return true;
        }
        match self.push(stream, http, quic) {
            Ok(()) | Err(h3::Error::Done) => true,
            Err(_) => {
                let _ = self.news.send(News::Ended(Err(Problem::Reset)));
                false
            }
        }
    }

    fn push(
        &mut self,
        stream: u64,
        http: &mut h3::Connection,
        quic: &mut quiche::Connection,
    ) -> h3::Result<()> {
        loop {
            if self.part.is_empty() {
                match self.body.next() {
                    Some(part) => self.part = part,
                    None => break,
                }
            }
            let sent = http.send_body(quic, stream, &self.part, self.body.left() == 0)?;
            self.part.advance(sent);
            let _ = self.news.send(News::Taken(sent as u64));
        }
        self.sent = true;
        let _ = self.news.send(News::Sent { at: now() });
        Ok(())
    }
}

fn broken(error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Problem::Refused,
        _ => Problem::other(error),
    }
}

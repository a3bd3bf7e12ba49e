//! The client.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf, Bytes};
use h3::client::{RequestStream, SendRequest};
use h3::error::StreamError;
use h123_common::body::Body;
use h123_common::client::{
    self, Connection, Dialer, Exchange, Problem, Request, Tls, Workload, now,
};
use h123_common::command::{Flags, Result};
use h123_common::protocol::Protocol;
use h123_common::sending::Sending;
use h123_common::udp;
use http::header::CONTENT_LENGTH;
use quinn::crypto::rustls::{HandshakeData, QuicClientConfig};
use quinn::{ClientConfig, ConnectionError, Endpoint, EndpointConfig, TokioRuntime};

use crate::{quic, tls};

/// For the farewells of connections.
const FAREWELL: Duration = Duration::from_millis(50);
/// How often a connection is looked at, and what it may bring beside bodies.
const LOOK: Duration = Duration::from_millis(250);
const BESIDE_BODIES: u64 = 64 << 20;

pub fn drive(flags: Flags) -> Result<()> {
    client::drive(flags, Quinn::new)
}

/// Each connection has a socket of its own.
struct Quinn {
    config: ClientConfig,
    server: SocketAddr,
    endpoints: Mutex<Vec<Endpoint>>,
}

impl Quinn {
    fn new(workload: &Workload, sending: &Sending) -> Result<Self> {
        let crypto: QuicClientConfig = tls::client(Protocol::H3, &workload.ca)?.try_into()?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::new(quic::transport(sending)?));
        Ok(Self {
            config,
            server: workload.server(),
            endpoints: Mutex::default(),
        })
    }

    fn endpoint(&self) -> std::io::Result<Endpoint> {
        let any = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = udp::bind(any, false)?;
        Endpoint::new(
            EndpointConfig::default(),
            None,
            socket,
            Arc::new(TokioRuntime),
        )
    }

    /// Until its connection is over, so that many visits leave no sockets behind.
    fn keep(&self, endpoint: Endpoint) {
        let mut endpoints = self.endpoints.lock().expect("no thread panics with it");
        endpoints.retain(|endpoint| endpoint.open_connections() > 0);
        endpoints.push(endpoint);
    }
}

impl Dialer for Quinn {
    type Connection = Http;

    async fn dial(&self, host: &str) -> std::result::Result<(Http, Tls), Problem> {
        let endpoint = self.endpoint().map_err(Problem::other)?;
        let connecting = endpoint.connect_with(self.config.clone(), self.server, host);
        self.keep(endpoint);
        let connection = connecting
            .map_err(Problem::other)?
            .await
            .map_err(|error| problem(&error))?;
        let mut builder = h3::client::builder();
        let http = builder
            .send_grease(false)
            .build(h3_quinn::Connection::new(connection.clone()))
            .await;
        let (mut driver, requests) = http.map_err(Problem::other)?;
        tokio::spawn(async move { driver.wait_idle().await });
        let progress = Arc::default();
        tokio::spawn(watch(connection.clone(), Arc::clone(&progress)));
        let handshake = handshake(&connection);
        Ok((
            Http {
                connection,
                requests,
                progress,
            },
            handshake,
        ))
    }

    async fn finish(&self) {
        let endpoints =
            std::mem::take(&mut *self.endpoints.lock().expect("no thread panics with it"));
        let farewells = async {
            for endpoint in &endpoints {
                endpoint.wait_idle().await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, farewells).await;
    }
}

/// quinn tells only ALPN; of all else there is one choice (`tls`).
fn handshake(connection: &quinn::Connection) -> Tls {
    let data = connection
        .handshake_data()
        .and_then(|data| data.downcast::<HandshakeData>().ok());
    let alpn = data.and_then(|data| data.protocol).unwrap_or_default();
    Tls {
        version: "1.3".to_owned(),
        cipher: "TLS_AES_128_GCM_SHA256".to_owned(),
        key_exchange: "X25519".to_owned(),
        alpn: String::from_utf8_lossy(&alpn).into_owned(),
    }
}

/// Closes a connection that brings far more than bodies need. h3 keeps what has not ended, such as a header or a frame
/// of settings, however long it gets.
async fn watch(connection: quinn::Connection, progress: Arc<AtomicU64>) {
    while connection.close_reason().is_none() {
        let bodies = progress.load(Ordering::Relaxed);
        if connection.stats().udp_rx.bytes > 2 * bodies + BESIDE_BODIES {
            connection.close(quic::EXCESSIVE_LOAD, b"");
        }
        tokio::time::sleep(LOOK).await;
    }
}

struct Http {
    connection: quinn::Connection,
    requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
    /// Bytes of bodies, in both directions.
    progress: Arc<AtomicU64>,
}

type Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

impl Connection for Http {
    fn is_usable(&self) -> bool {
        self.connection.close_reason().is_none()
    }

    async fn perform(
        &self,
        request: &Request,
        exchange: &mut Exchange,
    ) -> std::result::Result<(), Problem> {
        let head = head(request).map_err(Problem::other)?;
        let mut requests = self.requests.clone();
        let asked = async {
            let mut stream = requests.send_request(head).await?;
            send(&mut stream, request.upload, exchange, &self.progress).await?;
            receive(&mut stream, exchange, &self.progress).await
        };
        asked.await.map_err(|error| self.problem(error))
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.connection.close(quic::NO_ERROR, b"");
    }
}

impl Http {
    fn problem(&self, error: StreamError) -> Problem {
        match (self.connection.close_reason(), error) {
            (Some(ConnectionError::LocallyClosed), _) => Problem::Protocol, // by `watch`
            (Some(reason), _) => problem(&reason),
            (None, StreamError::RemoteTerminate { .. }) => Problem::Reset,
            (None, _) => Problem::Protocol,
        }
    }
}

fn head(request: &Request) -> http::Result<http::Request<()>> {
    let mut head = http::Request::builder()
        .method(request.method.as_str())
        .uri(format!("https://{}{}", request.authority, request.path));
    for (name, value) in &request.headers {
        head = head.header(name, value);
    }
    if request.upload > 0 {
        head = head.header(CONTENT_LENGTH, request.upload);
    }
    head.body(())
}

async fn send(
    stream: &mut Stream,
    upload: u64,
    exchange: &mut Exchange,
    progress: &AtomicU64,
) -> std::result::Result<(), StreamError> {
    for part in Body::block(upload) {
        let length = part.len() as u64;
        stream.send_data(part).await?;
        exchange.up += length;
        progress.fetch_add(length, Ordering::Relaxed);
    }
    stream.finish().await?;
    exchange.sent = now();
    Ok(())
}

async fn receive(
    stream: &mut Stream,
    exchange: &mut Exchange,
    progress: &AtomicU64,
) -> std::result::Result<(), StreamError> {
    let head = stream.recv_response().await?;
    exchange.first_byte = now();
    exchange.status = head.status().as_u16();
    let length = head.headers().get(CONTENT_LENGTH);
    exchange.announced = length.and_then(|length| length.to_str().ok()?.parse().ok());
    while let Some(mut part) = stream.recv_data().await? {
        progress.fetch_add(part.remaining() as u64, Ordering::Relaxed);
        while part.has_remaining() {
            let length = part.chunk().len();
            exchange.take(part.chunk());
            part.advance(length);
        }
    }
    Ok(())
}

fn problem(error: &ConnectionError) -> Problem {
    match error {
        ConnectionError::TransportError(error) => Problem::of_transport(error.code.into()),
        ConnectionError::ConnectionClosed(close) => Problem::of_transport(close.error_code.into()),
        ConnectionError::TimedOut => Problem::Timeout,
        ConnectionError::VersionMismatch => Problem::Protocol,
        ConnectionError::ApplicationClosed(_)
        | ConnectionError::Reset
        | ConnectionError::LocallyClosed => Problem::Reset,
        ConnectionError::CidsExhausted => Problem::other(error),
    }
}

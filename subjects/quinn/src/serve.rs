//! The server.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use h123_common::command::{Flags, Result};
use h123_common::protocol::Protocol;
use h123_common::sending::Sending;
use h123_common::serving::Serving;
use h123_common::{h3, stop, tcp, udp};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, EndpointConfig, Incoming, ServerConfig, TokioRuntime};

use crate::quic;
use crate::tls::{self, Rustls};

/// For the farewells of QUIC connections.
const FAREWELL: Duration = Duration::from_millis(300);

pub fn serve(flags: Flags) -> Result<()> {
    let serving = Serving::parse(flags)?;
    stop::run(async {
        match serving.protocol {
            Protocol::H3 => serve_quic(&serving).await,
            _ => stop::until_told(tcp::serve(&serving, Rustls::new(&serving)?)).await,
        }
    })
}

async fn serve_quic(serving: &Serving) -> Result<()> {
    let crypto: QuicServerConfig = tls::server(serving)?.try_into()?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(quic::transport(&serving.sending)?));
    let logbook = serving
        .qlog
        .clone()
        .map(|folder| Arc::new(Logbook::new(folder, serving, &config)));
    let socket = udp::bind(serving.address, false)?;
    let endpoint = Endpoint::new(
        EndpointConfig::default(),
        Some(config),
        socket,
        Arc::new(TokioRuntime),
    )?;
    let accepting = async {
        while let Some(incoming) = endpoint.accept().await {
            tokio::spawn(greet(incoming, logbook.clone()));
        }
        Ok(())
    };
    stop::until_told(accepting).await?;
    endpoint.close(quic::NO_ERROR, b"");
    let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
    Ok(())
}

async fn greet(incoming: Incoming, logbook: Option<Arc<Logbook>>) -> Result<()> {
    let mut connecting = match logbook {
        Some(logbook) => incoming.accept_with(logbook.config()?)?,
        None => incoming.accept()?,
    };
    // Before the client's hello is whole no stream can be opened, and nothing tells when one can.
    connecting.handshake_data().await?;
    // Answers to early data need not wait for the handshake's end; a server's handshake never fails to convert.
    let connection = match connecting.into_0rtt() {
        Ok((connection, _)) => connection,
        Err(connecting) => connecting.await?,
    };
    h3::serve(h3_quinn::Connection::new(connection)).await;
    Ok(())
}

/// Gives each connection a qlog of its own.
struct Logbook {
    folder: PathBuf,
    sending: Sending,
    config: ServerConfig,
    count: AtomicU64,
}

impl Logbook {
    fn new(folder: PathBuf, serving: &Serving, config: &ServerConfig) -> Self {
        Self {
            folder,
            sending: serving.sending.clone(),
            config: config.clone(),
            count: AtomicU64::new(0),
        }
    }

    /// The server's configuration for one connection more.
    fn config(&self) -> Result<Arc<ServerConfig>> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let mut transport = quic::transport(&self.sending)?;
        quic::log(
            &mut transport,
            &self.folder.join(format!("server-{number}.sqlog")),
        )?;
        let mut config = self.config.clone();
        config.transport_config(Arc::new(transport));
        Ok(Arc::new(config))
    }
}

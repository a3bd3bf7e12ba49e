//! The server.

use std::thread::available_parallelism;

use h123_common::command::{Flags, Result};
use h123_common::datagrams::Socket;
use h123_common::protocol::Protocol;
use h123_common::serving::Serving;
use h123_common::{stop, tcp, udp};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::endpoint::Endpoint;
use crate::tls::{self, Boring};
use crate::transport;

/// The length of the key that BoringSSL encrypts session tickets with.
const TICKET_KEY: usize = 48;

pub fn serve(flags: Flags) -> Result<()> {
    let serving = Serving::parse(flags)?;
    stop::run(async {
        match serving.protocol {
            Protocol::H3 => serve_quic(&serving).await,
            _ => stop::until_told(tcp::serve(&serving, Boring::new(&serving)?)).await,
        }
    })
}

/// As many endpoints as there are processors. They share a key, so that each resumes the sessions of all.
async fn serve_quic(serving: &Serving) -> Result<()> {
    let mut key = [0; TICKET_KEY];
    boring::rand::rand_bytes(&mut key)?;
    let (stop, stopped) = watch::channel(false);
    let mut workers = JoinSet::new();
    for _ in 0..available_parallelism()?.get() {
        let endpoint = endpoint(serving, &key)?;
        workers.spawn(endpoint.serve(stopped.clone()));
    }
    stop::until_told(async {
        match workers.join_next().await {
            Some(ended) => ended?,
            None => Ok(()),
        }
    })
    .await?;
    stop.send_replace(true);
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    Ok(())
}

fn endpoint(serving: &Serving, ticket_key: &[u8]) -> Result<Endpoint> {
    let mut config = transport::config(tls::server(serving)?, &serving.sending)?;
    config.set_ticket_key(ticket_key)?;
    config.enable_early_data();
    let socket = Socket::new(udp::bind(serving.address, true)?)?;
    Endpoint::new(socket, config, serving.qlog.clone())
}

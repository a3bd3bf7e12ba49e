//! A wait for the certificate, as of a server that looks it up elsewhere.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use h123_common::command::{Failure, Flags, Result};
use s2n_tls::callbacks::{ClientHelloCallback, ConnectionFuture};
use s2n_tls::connection::Connection;
use s2n_tls::error::Error;
use tokio::task::{self, JoinHandle};

pub struct Wait {
    time: Duration,
    /// Whether the server acknowledges the client's first message before the wait. After it, the server also reads
    /// nothing else meanwhile.
    instant_ack: bool,
}

impl Wait {
    pub fn take(flags: &mut Flags) -> Result<Option<Self>> {
        let time = flags.take("certificate-wait")?;
        let instant_ack = match flags.take("instant-ack")?.as_str() {
            "yes" => true,
            "no" => false,
            other => {
                let message = format!("--instant-ack cannot be {other:?}");
                return Err(Failure::bad_input(message));
            }
        };
        if time.is_empty() {
            return Ok(None);
        }
        let time = Duration::from_nanos(Flags::number(&time, "certificate-wait")?);
        Ok(Some(Self { time, instant_ack }))
    }
}

impl ClientHelloCallback for Wait {
    fn on_client_hello(
        &self,
        _: &mut Connection,
    ) -> std::result::Result<Option<Pin<Box<dyn ConnectionFuture>>>, Error> {
        let time = self.time;
        if self.instant_ack {
            // tokio's own timers are too coarse: they end up to a millisecond late.
            let wait = task::spawn_blocking(move || thread::sleep(time));
            return Ok(Some(Box::pin(Waiting(wait))));
        }
        thread::sleep(time);
        Ok(None)
    }
}

struct Waiting(JoinHandle<()>);

impl ConnectionFuture for Waiting {
    fn poll(
        mut self: Pin<&mut Self>,
        _: &mut Connection,
        context: &mut Context<'_>,
    ) -> Poll<std::result::Result<(), Error>> {
        let ended = Pin::new(&mut self.0).poll(context);
        ended.map(|result| result.map_err(|error| Error::application(error.into())))
    }
}

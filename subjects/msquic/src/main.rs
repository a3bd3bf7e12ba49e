//! The MsQuic subject of h123: HTTP/3 by MsQuic and h3. What is published to join the two (h3-msquic-async) keeps
//! whole bodies in memory and sends no session tickets; hence the glue here, in `connection` and `stream`.

mod connection;
mod quic;
mod reaper;
mod stream;

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

use h123_common::command::{self, Failure, Flags, Result};
use h123_common::protocol::Protocol;
use h123_common::serving::Serving;
use h123_common::{h3, stop};
use msquic::{Addr, BufferRef, Listener, ListenerEvent, Registration, RegistrationConfig};
use tokio::sync::mpsc;

use connection::Connection;

fn main() -> ExitCode {
    command::run("h123-msquic", &[("serve", serve)])
}

fn serve(flags: Flags) -> Result<()> {
    let serving = Serving::parse(flags)?;
    if serving.protocol != Protocol::H3 {
        return Err(Failure::unsupported(format!(
            "protocol {}",
            serving.protocol
        )));
    }
    stop::run(stop::until_told(serve_quic(&serving)))?;
    end()
}

/// Ends the process without a word to libraries: MsQuic's threads still run, and would miss what is torn down.
fn end() -> ! {
    unsafe extern "C" {
        fn _exit(status: c_int) -> !;
    }
    // SAFETY: it takes any status and touches nothing of ours.
    unsafe { _exit(0) }
}

async fn serve_quic(serving: &Serving) -> Result<()> {
    // Never closed: that would wait until the last client has gone.
    let registration = ManuallyDrop::new(Registration::new(&RegistrationConfig::default())?);
    let configuration = quic::configuration(&registration, serving)?;
    let (tell, mut connections) = mpsc::unbounded_channel();
    let listener = Listener::open(&registration, move |_, event| {
        if let ListenerEvent::NewConnection { connection, .. } = event {
            connection.set_configuration(&configuration)?;
            let _ = tell.send(Connection::adopt(&connection)); // else the server is ending
        }
        Ok(())
    })?;
    listener.start(&[BufferRef::from("h3")], Some(&Addr::from(serving.address)))?;
    while let Some(connection) = connections.recv().await {
        tokio::spawn(h3::serve(connection));
    }
    Err(Failure::new("the listener ended by itself"))
}

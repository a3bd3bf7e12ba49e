//! HTTP/3 for Node.js: Cloudflare's quiche behind Node-API.
//!
//! Sockets, QUIC and HTTP/3 live in a thread of their own (`endpoint`); a packet never reaches JavaScript. What crosses is what
//! an application sees: events one way, in batches, commands the other. Bodies are copied once in each direction.

mod command;
mod endpoint;
mod event;
mod outgoing;
mod session;
mod sessions;
mod settings;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use mio::Waker;
use napi::bindgen_prelude::{Buffer, Error, Function, Result};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use quiche::h3::Header;

use command::{Action, Command};
use event::Event;
use settings::Settings;

/// A UDP socket that speaks HTTP/3. JavaScript refers to sessions and streams by their numbers; what it says about one that
/// has ended in the meantime is ignored.
#[napi]
pub struct Endpoint {
    commands: Sender<Command>,
    waker: Waker,
    woken: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[napi]
impl Endpoint {
    /// Listens as the settings say; `listener` gets arrays of events.
    #[napi(constructor)]
    pub fn new(settings: Settings, listener: Function<Vec<Event>, ()>) -> Result<Self> {
        let listener = listener.build_threadsafe_function().build()?;
        let tell = Box::new(move |events| {
            listener.call(events, ThreadsafeFunctionCallMode::NonBlocking);
        });
        let (commands, inbox) = channel();
        let woken = Arc::new(AtomicBool::new(false));
        let (endpoint, waker) = endpoint::Endpoint::new(&settings, inbox, woken.clone(), tell)
            .map_err(|error| Error::from_reason(error.to_string()))?;
        let thread = std::thread::Builder::new()
            .name("h123-quiche".into())
            .spawn(move || endpoint.run())?;
        Ok(Self {
            commands,
            waker,
            woken,
            thread: Some(thread),
        })
    }

    /// Sends the response's header: names and values in turn.
    #[napi]
    pub fn respond(&self, session: u32, stream: i64, fields: Vec<String>, last: bool) {
        let headers = fields
            .chunks_exact(2)
            .map(|field| Header::new(field[0].as_bytes(), field[1].as_bytes()))
            .collect();
        self.act(session, stream, Action::Respond { headers, last });
    }

    /// Sends a piece of the response's body; a `drain` event asks for the next.
    #[napi]
    pub fn write(&self, session: u32, stream: i64, data: Buffer) {
        self.act(session, stream, Action::Write(data.to_vec()));
    }

    /// Ends the response.
    #[napi]
    pub fn end(&self, session: u32, stream: i64) {
        self.act(session, stream, Action::End);
    }

    /// Asks for one `data` event of the request's body.
    #[napi]
    pub fn read(&self, session: u32, stream: i64) {
        self.act(session, stream, Action::Read);
    }

    /// Gives a stream up, in both directions.
    #[napi]
    pub fn reset(&self, session: u32, stream: i64, code: u32) {
        self.act(session, stream, Action::Reset(code.into()));
    }

    /// Closes one session.
    #[napi]
    pub fn close_session(&self, session: u32) {
        self.send(Command::CloseSession(session));
    }

    /// Closes all sessions and the socket.
    #[napi]
    pub fn close(&mut self) {
        self.send(Command::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn act(&self, session: u32, stream: i64, action: Action) {
        self.send(Command::Stream {
            session,
            stream: stream as u64,
            action,
        });
    }

    fn send(&self, command: Command) {
        // Nobody listens after the end, and then nothing is left to be done.
        let _ = self.commands.send(command);
        if !self.woken.swap(true, Ordering::AcqRel) {
            let _ = self.waker.wake();
        }
    }
}

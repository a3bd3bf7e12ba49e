//! h3's view of a connection, on MsQuic, which tells what happens by callbacks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::Buf;
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming};
use msquic::{
    Api, ConnectionEvent, ConnectionRef, ConnectionShutdownFlags, StatusCode, StreamOpenFlags, ffi,
};

use crate::reaper::bury;
use crate::stream::{Bidirectional, Line, Receive, Send, both};

/// A connection of MsQuic and what it has told.
struct Wire {
    handle: msquic::Connection,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bidirectional: Queue,
    unidirectional: Queue,
    ended: Option<ConnectionErrorIncoming>,
}

/// Streams that the peer has started and h3 has not taken.
#[derive(Default)]
struct Queue {
    lines: VecDeque<Arc<Line>>,
    waker: Option<Waker>,
}

impl Wire {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with it")
    }

    fn heed(&self, event: ConnectionEvent<'_>) {
        match event {
            ConnectionEvent::Connected { .. } => self.send_ticket(),
            ConnectionEvent::PeerStreamStarted { stream, flags } => {
                let mut state = self.state();
                let queue = match flags.contains(StreamOpenFlags::UNIDIRECTIONAL) {
                    true => &mut state.unidirectional,
                    false => &mut state.bidirectional,
                };
                queue.lines.push_back(Line::adopt(&stream));
                queue.waker.take().into_iter().for_each(Waker::wake);
            }
            ConnectionEvent::ShutdownInitiatedByTransport { status, .. } => {
                self.end(match status.try_as_status_code() {
                    Ok(
                        StatusCode::QUIC_STATUS_CONNECTION_IDLE
                        | StatusCode::QUIC_STATUS_CONNECTION_TIMEOUT,
                    ) => ConnectionErrorIncoming::Timeout,
                    _ => ConnectionErrorIncoming::Undefined(Arc::new(status)),
                })
            }
            ConnectionEvent::ShutdownInitiatedByPeer { error_code } => {
                self.end(ConnectionErrorIncoming::ApplicationClose { error_code });
            }
            ConnectionEvent::ShutdownComplete { .. } => {
                self.end(ConnectionErrorIncoming::ApplicationClose {
                    error_code: Code::H3_NO_ERROR.value(),
                });
            }
            _ => {}
        }
    }

    /// Lets the client resume this session. The wrapper crate has no call for it.
    fn send_ticket(&self) {
        let send = Api::get_ffi()
            .ConnectionSendResumptionTicket
            .expect("MsQuic has all its calls");
        // SAFETY: the handle is open, and there are no data.
        unsafe {
            let flags = ffi::QUIC_SEND_RESUMPTION_FLAGS_QUIC_SEND_RESUMPTION_FLAG_NONE;
            send(self.handle.as_raw(), flags, 0, std::ptr::null());
        }
    }

    fn end(&self, why: ConnectionErrorIncoming) {
        let mut state = self.state();
        state.ended.get_or_insert(why);
        let wakers = [
            state.bidirectional.waker.take(),
            state.unidirectional.waker.take(),
        ];
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn poll(
        &self,
        context: &mut Context<'_>,
        queue: fn(&mut State) -> &mut Queue,
    ) -> Poll<Result<Arc<Line>, ConnectionErrorIncoming>> {
        let mut state = self.state();
        if let Some(line) = queue(&mut state).lines.pop_front() {
            return Poll::Ready(Ok(line));
        }
        if let Some(why) = &state.ended {
            return Poll::Ready(Err(why.clone()));
        }
        queue(&mut state).waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// When h3 drops it, the connection closes.
pub struct Connection(Opener);

impl Connection {
    /// One that a listener has been told of.
    pub fn adopt(connection: &ConnectionRef) -> Self {
        // SAFETY: MsQuic leaves it to the receiver of the event to close the handle.
        let handle = unsafe { msquic::Connection::from_raw(connection.as_raw()) };
        let wire = Arc::new(Wire {
            handle,
            state: Mutex::default(),
        });
        let mut kept = Some(wire.clone());
        wire.handle.set_callback_handler(move |_, event| {
            let over = matches!(event, ConnectionEvent::ShutdownComplete { .. });
            if let Some(wire) = &kept {
                wire.heed(event);
            }
            if over {
                bury(kept.take());
            }
            Ok(())
        });
        Self(Opener(wire))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.shutdown(Code::H3_NO_ERROR);
    }
}

impl<B: Buf> quic::Connection<B> for Connection {
    type RecvStream = Receive;
    type OpenStreams = Opener;

    fn poll_accept_recv(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Receive, ConnectionErrorIncoming>> {
        self.0
            .0
            .poll(context, |state| &mut state.unidirectional)
            .map_ok(Receive::new)
    }

    fn poll_accept_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, ConnectionErrorIncoming>> {
        self.0
            .0
            .poll(context, |state| &mut state.bidirectional)
            .map_ok(both)
    }

    fn opener(&self) -> Opener {
        self.0.clone()
    }
}

impl<B: Buf> quic::OpenStreams<B> for Connection {
    type BidiStream = Bidirectional<B>;
    type SendStream = Send<B>;

    fn poll_open_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, StreamErrorIncoming>> {
        self.0.poll_open_bidi(context)
    }

    fn poll_open_send(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Send<B>, StreamErrorIncoming>> {
        self.0.poll_open_send(context)
    }

    fn close(&mut self, code: Code, _: &[u8]) {
        self.0.shutdown(code);
    }
}

#[derive(Clone)]
pub struct Opener(Arc<Wire>);

impl Opener {
    fn shutdown(&self, code: Code) {
        self.0
            .handle
            .shutdown(ConnectionShutdownFlags::NONE, code.value());
    }
}

impl<B: Buf> quic::OpenStreams<B> for Opener {
    type BidiStream = Bidirectional<B>;
    type SendStream = Send<B>;

    fn poll_open_bidi(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, StreamErrorIncoming>> {
        unreachable!("a server of HTTP/3 opens no stream for requests")
    }

    /// MsQuic holds the stream back until the peer allows it.
    fn poll_open_send(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<Result<Send<B>, StreamErrorIncoming>> {
        let opened = Line::open(&self.0.handle).map(Send::new);
        Poll::Ready(opened.map_err(|status| StreamErrorIncoming::Unknown(Box::new(status))))
    }

    fn close(&mut self, code: Code, _: &[u8]) {
        self.shutdown(code);
    }
}

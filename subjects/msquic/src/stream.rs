//! h3's view of a stream, on MsQuic, which tells what happens by callbacks.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use h123_common::windows;
use msquic::{
    BufferRef, Connection, SendFlags, Status, Stream, StreamEvent, StreamOpenFlags, StreamRef,
    StreamShutdownFlags, StreamStartFlags,
};

use crate::reaper::bury;

/// How much of a stream MsQuic is given before the peer has it.
const UNSENT: usize = windows::STREAM as usize;

/// A stream of MsQuic and what it has told.
pub struct Line {
    handle: Stream,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    received: VecDeque<Bytes>,
    /// How receiving ended: with the last byte, or with the peer's code.
    received_all: Option<Result<(), u64>>,
    reader: Option<Waker>,
    /// Bytes that MsQuic has and the peer may not have.
    unsent: usize,
    /// The peer's code, if it wants no more.
    stopped: Option<u64>,
    writer: Option<Waker>,
    /// The stream is over.
    ended: bool,
}

/// Bytes that MsQuic reads until it says that they are sent.
struct Sending {
    buffer: BufferRef,
    bytes: Bytes,
}

impl Line {
    /// A stream that the peer has started.
    pub fn adopt(stream: &StreamRef) -> Arc<Self> {
        // SAFETY: MsQuic leaves it to the receiver of the event to close the handle.
        Self::new(unsafe { Stream::from_raw(stream.as_raw()) })
    }

    /// A new one, in one direction.
    pub fn open(connection: &Connection) -> Result<Arc<Self>, Status> {
        let line = Self::new(Stream::open(
            connection,
            StreamOpenFlags::UNIDIRECTIONAL,
            |_, _| Ok(()),
        )?);
        line.handle.start(StreamStartFlags::NONE)?;
        Ok(line)
    }

    fn new(handle: Stream) -> Arc<Self> {
        let line = Arc::new(Self {
            handle,
            state: Mutex::default(),
        });
        let mut kept = Some(line.clone());
        line.handle.set_callback_handler(move |_, event| {
            let over = matches!(event, StreamEvent::ShutdownComplete { .. });
            if let Some(line) = &kept {
                line.heed(event);
            }
            if over {
                bury(kept.take());
            }
            Ok(())
        });
        line
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with it")
    }

    fn heed(&self, event: StreamEvent<'_>) {
        let mut state = self.state();
        match event {
            StreamEvent::Receive { buffers, .. } => {
                state.received.extend(
                    buffers
                        .iter()
                        .map(|part| Bytes::copy_from_slice(part.as_bytes())),
                );
            }
            StreamEvent::PeerSendShutdown => state.received_all = Some(Ok(())),
            StreamEvent::PeerSendAborted { error_code } => {
                state.received_all = Some(Err(error_code))
            }
            StreamEvent::SendComplete { client_context, .. } => {
                // SAFETY: it is the one that `send` gave, and MsQuic gives it back once.
                let sent = unsafe { Box::from_raw(client_context as *mut Sending) };
                state.unsent -= sent.bytes.len();
            }
            StreamEvent::PeerReceiveAborted { error_code } => state.stopped = Some(error_code),
            StreamEvent::ShutdownComplete { .. } => state.ended = true,
            _ => return,
        }
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Gives bytes to MsQuic.
    fn send(&self, bytes: Bytes) -> Result<(), StreamErrorIncoming> {
        self.state().unsent += bytes.len();
        let sending = Box::into_raw(Box::new(Sending {
            buffer: BufferRef::from(&bytes[..]),
            bytes,
        }));
        // SAFETY: MsQuic is done with `sending` when it gives it back, or at once where it does not take it.
        unsafe {
            let buffers = std::slice::from_ref(&(*sending).buffer);
            self.handle
                .send(buffers, SendFlags::NONE, sending as *const c_void)
                .map_err(|status| {
                    drop(Box::from_raw(sending));
                    StreamErrorIncoming::Unknown(Box::new(status))
                })
        }
    }

    fn shutdown(&self, flags: StreamShutdownFlags, code: u64) {
        // It fails where that is so already.
        let _ = self.handle.shutdown(flags, code);
    }

    fn id(&self) -> StreamId {
        let id = self
            .handle
            .get_stream_id()
            .expect("a stream that has been started has an ID");
        id.try_into().expect("QUIC's stream IDs are h3's")
    }
}

/// The stream ended with its connection.
fn lost() -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming {
        connection_error: ConnectionErrorIncoming::Timeout,
    }
}

pub struct Receive(Arc<Line>);

impl Receive {
    pub fn new(line: Arc<Line>) -> Self {
        Self(line)
    }
}

impl quic::RecvStream for Receive {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        let mut state = self.0.state();
        if let Some(bytes) = state.received.pop_front() {
            return Poll::Ready(Ok(Some(bytes)));
        }
        match state.received_all {
            Some(Ok(())) => Poll::Ready(Ok(None)),
            Some(Err(error_code)) => {
                Poll::Ready(Err(StreamErrorIncoming::StreamTerminated { error_code }))
            }
            None if state.ended => Poll::Ready(Err(lost())),
            None => {
                state.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    fn stop_sending(&mut self, code: u64) {
        self.0.shutdown(StreamShutdownFlags::ABORT_RECEIVE, code);
    }

    fn recv_id(&self) -> StreamId {
        self.0.id()
    }
}

/// Who drops it unread wants no more.
impl Drop for Receive {
    fn drop(&mut self) {
        if self.0.state().received_all.is_none() {
            self.0.shutdown(
                StreamShutdownFlags::ABORT_RECEIVE,
                Code::H3_NO_ERROR.value(),
            );
        }
    }
}

pub struct Send<B> {
    line: Arc<Line>,
    /// What h3 has handed over and MsQuic has not been given yet.
    rest: Option<WriteBuf<B>>,
    finished: bool,
}

impl<B> Send<B> {
    pub fn new(line: Arc<Line>) -> Self {
        Self {
            line,
            rest: None,
            finished: false,
        }
    }

    /// Whether MsQuic may be given more.
    fn poll_room(&self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        let mut state = self.line.state();
        if let Some(error_code) = state.stopped {
            return Poll::Ready(Err(StreamErrorIncoming::StreamTerminated { error_code }));
        }
        if state.ended {
            return Poll::Ready(Err(lost()));
        }
        if state.unsent < UNSENT {
            return Poll::Ready(Ok(()));
        }
        state.writer = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<B: Buf> quic::SendStream<B> for Send<B> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        while self.rest.as_ref().is_some_and(Buf::has_remaining) {
            std::task::ready!(self.poll_room(context))?;
            if let Some(rest) = &mut self.rest {
                let bytes = rest.copy_to_bytes(rest.chunk().len());
                self.line.send(bytes)?;
            }
        }
        self.rest = None;
        Poll::Ready(Ok(()))
    }

    fn send_data<D: Into<WriteBuf<B>>>(&mut self, data: D) -> Result<(), StreamErrorIncoming> {
        debug_assert!(self.rest.is_none(), "h3 polls for readiness first");
        self.rest = Some(data.into());
        Ok(())
    }

    fn poll_finish(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.finished = true;
        self.line.shutdown(StreamShutdownFlags::GRACEFUL, 0);
        Poll::Ready(Ok(()))
    }

    fn reset(&mut self, code: u64) {
        self.finished = true;
        self.line.shutdown(StreamShutdownFlags::ABORT_SEND, code);
    }

    fn send_id(&self) -> StreamId {
        self.line.id()
    }
}

/// Who drops it unfinished has given the answer up.
impl<B> Drop for Send<B> {
    fn drop(&mut self) {
        if !self.finished {
            self.line.shutdown(
                StreamShutdownFlags::ABORT_SEND,
                Code::H3_REQUEST_CANCELLED.value(),
            );
        }
    }
}

pub type Bidirectional<B> = h123_common::h3::Bidirectional<Send<B>, Receive>;

/// Both directions of a stream.
pub fn both<B>(line: Arc<Line>) -> Bidirectional<B> {
    Bidirectional {
        send: Send::new(line.clone()),
        receive: Receive::new(line),
    }
}

//! h3's view of QUIC, on s2n-quic.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use s2n_quic::application;
use s2n_quic::connection::{self, BidirectionalStreamAcceptor, Handle, ReceiveStreamAcceptor};
use s2n_quic::stream::{self, BidirectionalStream};

pub struct Connection {
    opener: Opener,
    bidirectional: BidirectionalStreamAcceptor,
    receive: ReceiveStreamAcceptor,
}

impl Connection {
    pub fn new(connection: s2n_quic::Connection) -> Self {
        let (handle, acceptor) = connection.split();
        let (bidirectional, receive) = acceptor.split();
        Self {
            opener: Opener(handle),
            bidirectional,
            receive,
        }
    }
}

impl<B: Buf> quic::Connection<B> for Connection {
    type RecvStream = Receive;
    type OpenStreams = Opener;

    fn poll_accept_recv(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Receive, ConnectionErrorIncoming>> {
        let accepted = ready!(self.receive.poll_accept_receive_stream(context));
        Poll::Ready(some(accepted).map(Receive))
    }

    fn poll_accept_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, ConnectionErrorIncoming>> {
        let accepted = ready!(self.bidirectional.poll_accept_bidirectional_stream(context));
        Poll::Ready(some(accepted).map(both))
    }

    fn opener(&self) -> Opener {
        self.opener.clone()
    }
}

/// s2n-quic accepts no stream where the connection was closed without an error.
fn some<T>(accepted: connection::Result<Option<T>>) -> Result<T, ConnectionErrorIncoming> {
    match accepted {
        Ok(Some(stream)) => Ok(stream),
        Ok(None) => Err(ConnectionErrorIncoming::ApplicationClose {
            error_code: Code::H3_NO_ERROR.value(),
        }),
        Err(error) => Err(of_connection(error)),
    }
}

impl<B: Buf> quic::OpenStreams<B> for Connection {
    type BidiStream = Bidirectional<B>;
    type SendStream = Send<B>;

    fn poll_open_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, StreamErrorIncoming>> {
        self.opener.poll_open_bidi(context)
    }

    fn poll_open_send(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Send<B>, StreamErrorIncoming>> {
        self.opener.poll_open_send(context)
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        quic::OpenStreams::<B>::close(&mut self.opener, code, reason);
    }
}

#[derive(Clone)]
pub struct Opener(Handle);

impl<B: Buf> quic::OpenStreams<B> for Opener {
    type BidiStream = Bidirectional<B>;
    type SendStream = Send<B>;

    fn poll_open_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, StreamErrorIncoming>> {
        let opened = ready!(self.0.poll_open_bidirectional_stream(context));
        Poll::Ready(opened.map(both).map_err(of_opening))
    }

    fn poll_open_send(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Send<B>, StreamErrorIncoming>> {
        let opened = ready!(self.0.poll_open_send_stream(context));
        Poll::Ready(opened.map(Send::new).map_err(of_opening))
    }

    fn close(&mut self, code: Code, _: &[u8]) {
        self.0.close(application_error(code.value()));
    }
}

type Bidirectional<B> = h123_common::h3::Bidirectional<Send<B>, Receive>;

/// Both directions of a stream.
fn both<B>(stream: BidirectionalStream) -> Bidirectional<B> {
    let (receive, send) = stream.split();
    Bidirectional {
        send: Send::new(send),
        receive: Receive(receive),
    }
}

pub struct Receive(stream::ReceiveStream);

impl quic::RecvStream for Receive {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        self.0.poll_receive(context).map_err(of_stream)
    }

    fn stop_sending(&mut self, code: u64) {
        // It fails where nothing is to be stopped.
        let _ = self.0.stop_sending(application_error(code));
    }

    fn recv_id(&self) -> StreamId {
        stream_id(self.0.id())
    }
}

pub struct Send<B> {
    stream: stream::SendStream,
    /// What h3 has handed over and the stream has not taken yet: `part` before `rest`.
    part: Bytes,
    rest: Option<WriteBuf<B>>,
}

impl<B> Send<B> {
    fn new(stream: stream::SendStream) -> Self {
        Self {
            stream,
            part: Bytes::new(),
            rest: None,
        }
    }
}

impl<B: Buf> quic::SendStream<B> for Send<B> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        loop {
            if !self.part.is_empty() {
                ready!(self.stream.poll_send(&mut self.part, context)).map_err(of_stream)?;
                continue;
            }
            match &mut self.rest {
                Some(rest) if rest.has_remaining() => {
                    self.part = rest.copy_to_bytes(rest.chunk().len())
                }
                _ => {
                    self.rest = None;
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    fn send_data<D: Into<WriteBuf<B>>>(&mut self, data: D) -> Result<(), StreamErrorIncoming> {
        debug_assert!(self.rest.is_none(), "h3 polls for readiness first");
        self.rest = Some(data.into());
        Ok(())
    }

    fn poll_finish(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        Poll::Ready(self.stream.finish().map_err(of_stream))
    }

    fn reset(&mut self, code: u64) {
        // It fails where nothing is to be reset.
        let _ = self.stream.reset(application_error(code));
    }

    fn send_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}

fn stream_id(id: u64) -> StreamId {
    id.try_into().expect("QUIC's stream IDs are h3's")
}

fn application_error(code: u64) -> application::Error {
    application::Error::new(code).unwrap_or(application::Error::UNKNOWN)
}

fn of_connection(error: connection::Error) -> ConnectionErrorIncoming {
    match error {
        connection::Error::Application { error, .. } => ConnectionErrorIncoming::ApplicationClose {
            error_code: error.into(),
        },
        connection::Error::Closed { .. } => ConnectionErrorIncoming::ApplicationClose {
            error_code: Code::H3_NO_ERROR.value(),
        },
        connection::Error::IdleTimerExpired { .. } => ConnectionErrorIncoming::Timeout,
        error => ConnectionErrorIncoming::Undefined(Arc::new(error)),
    }
}

/// Of a stream whose connection has ended.
fn of_opening(error: connection::Error) -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming {
        connection_error: of_connection(error),
    }
}

fn of_stream(error: stream::Error) -> StreamErrorIncoming {
    match error {
        stream::Error::ConnectionError { error, .. } => of_opening(error),
        stream::Error::StreamReset { error, .. } => StreamErrorIncoming::StreamTerminated {
            error_code: error.into(),
        },
        error => StreamErrorIncoming::Unknown(Box::new(error)),
    }
}

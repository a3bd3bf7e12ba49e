//! A stream in both directions, made of one in each: all that h3 wants of it is in the two.

use std::task::{Context, Poll};

use bytes::Buf;
use h3::quic::{BidiStream, RecvStream, SendStream, StreamErrorIncoming, StreamId, WriteBuf};

pub struct Bidirectional<S, R> {
    pub send: S,
    pub receive: R,
}

impl<B: Buf, S: SendStream<B>, R: RecvStream> BidiStream<B> for Bidirectional<S, R> {
    type SendStream = S;
    type RecvStream = R;

    fn split(self) -> (S, R) {
        (self.send, self.receive)
    }
}

impl<S, R: RecvStream> RecvStream for Bidirectional<S, R> {
    type Buf = R::Buf;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<R::Buf>, StreamErrorIncoming>> {
        self.receive.poll_data(context)
    }

    fn stop_sending(&mut self, code: u64) {
        self.receive.stop_sending(code);
    }

    fn recv_id(&self) -> StreamId {
        self.receive.recv_id()
    }
}

impl<B: Buf, S: SendStream<B>, R> SendStream<B> for Bidirectional<S, R> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.send.poll_ready(context)
    }

    fn send_data<D: Into<WriteBuf<B>>>(&mut self, data: D) -> Result<(), StreamErrorIncoming> {
        self.send.send_data(data)
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.send.poll_finish(context)
    }

    fn reset(&mut self, code: u64) {
        self.send.reset(code);
    }

    fn send_id(&self) -> StreamId {
        self.send.send_id()
    }
}

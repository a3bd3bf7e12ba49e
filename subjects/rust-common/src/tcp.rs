//! HTTP/1.1 and HTTP/2 by hyper, over whatever TLS the subject has.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::body::Body;
use crate::command::Result;
use crate::protocol::Protocol;
use crate::routes::{Answer, Route, route};
use crate::serving::Serving;
use crate::windows;

/// TLS's side of a connection.
pub trait Acceptor: Send + Sync + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Makes the handshake; an error too if another protocol was negotiated than the one asked for.
    fn accept(&self, socket: TcpStream) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

pub async fn serve(serving: &Serving, acceptor: impl Acceptor) -> Result<()> {
    let listener = TcpListener::bind(serving.address).await?;
    let acceptor = Arc::new(acceptor);
    let protocol = serving.protocol;
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            // The client has gone already, or there are too many: neither ends a server.
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        };
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            socket.set_nodelay(true)?;
            speak(protocol, acceptor.accept(socket).await?).await
        });
    }
}

/// Serves one connection to its end. Errors are the client's: it left, or does not speak HTTP.
async fn speak<S>(protocol: Protocol, stream: S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = TokioIo::new(stream);
    let service = service_fn(respond);
    let ended = if protocol == Protocol::H1 {
        http1::Builder::new()
            .serve_connection(stream, service)
            .await
    } else {
        http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(windows::STREAM)
            .initial_connection_window_size(windows::CONNECTION)
            .max_concurrent_streams(windows::STREAMS)
            .serve_connection(stream, service)
            .await
    };
    ended.map_err(io::Error::other)
}

async fn respond(request: Request<Incoming>) -> hyper::Result<Response<Body>> {
    let answer = match route(request.method(), request.uri().path()) {
        Route::Answer(answer) => answer,
        Route::Upload => Answer::received(count(request.into_body()).await?),
    };
    let (head, body) = answer.into_parts();
    Ok(head.map(|()| body))
}

async fn count(mut body: Incoming) -> hyper::Result<u64> {
    let mut count = 0;
    while let Some(frame) = next_frame(&mut body).await {
        count += frame?.data_ref().map_or(0, |part| part.len() as u64);
    }
    Ok(count)
}

async fn next_frame(body: &mut Incoming) -> Option<hyper::Result<http_body::Frame<bytes::Bytes>>> {
    std::future::poll_fn(|context| std::pin::Pin::new(&mut *body).poll_frame(context)).await
}

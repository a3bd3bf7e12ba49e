//! HTTP/3 by the crate h3, over whatever QUIC the subject has.

mod bidirectional;

use bytes::{Buf, Bytes};
use h3::error::StreamError;
use h3::quic::{BidiStream, Connection};
use h3::server::{RequestResolver, RequestStream};

pub use bidirectional::Bidirectional;

use crate::routes::{Answer, Route, route};

/// Serves one connection to its end. Errors are the client's: it left, or does not speak HTTP/3.
pub async fn serve<C>(connection: C)
where
    C: Connection<Bytes> + Send + 'static,
    C::BidiStream: BidiStream<Bytes> + Send + 'static,
    RequestResolver<C, Bytes>: Send,
    <C as Connection<Bytes>>::RecvStream: Send,
{
    let Ok(mut http) = h3::server::builder()
        .send_grease(false)
        .build(connection)
        .await
    else {
        return;
    };
    while let Ok(Some(request)) = http.accept().await {
        tokio::spawn(async move {
            if let Ok((request, stream)) = request.resolve_request().await {
                let route = route(request.method(), request.uri().path());
                let _ = respond(route, stream).await;
            }
        });
    }
}

async fn respond<S>(route: Route, mut stream: RequestStream<S, Bytes>) -> Result<(), StreamError>
where
    S: BidiStream<Bytes>,
{
    let answer = match route {
        Route::Answer(answer) => answer,
        Route::Upload => Answer::received(count(&mut stream).await?),
    };
    let (head, body) = answer.into_parts();
    stream.send_response(head).await?;
    for part in body {
        stream.send_data(part).await?;
    }
    stream.finish().await?;
    read_to_the_end(&mut stream).await
}

/// A request that is dropped before its end has been read is told to stop sending, which some clients take for a failure
/// even of an answer that is whole.
async fn read_to_the_end<S>(stream: &mut RequestStream<S, Bytes>) -> Result<(), StreamError>
where
    S: BidiStream<Bytes>,
{
    while stream.recv_data().await?.is_some() {}
    Ok(())
}

async fn count<S>(stream: &mut RequestStream<S, Bytes>) -> Result<u64, StreamError>
where
    S: BidiStream<Bytes>,
{
    let mut count = 0;
    while let Some(part) = stream.recv_data().await? {
        count += part.remaining() as u64;
    }
    Ok(count)
}

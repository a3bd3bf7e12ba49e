//! BoringSSL, the same for all protocols: TLS 1.3 and X25519 (no post-quantum share, which would add about
//! 1.1 kB each way to some stacks only). It takes AES-128-GCM where both processors have AES instructions.

use std::io;
use std::path::Path;

use boring::ssl::{
    AlpnError, Ssl, SslContext, SslContextBuilder, SslFiletype, SslMethod, SslVerifyMode,
    SslVersion,
};
use h123_common::command::Result;
use h123_common::protocol::Protocol;
use h123_common::serving::Serving;
use h123_common::tcp::Acceptor;
use tokio::net::TcpStream;
use tokio_boring::{SslStream, SslStreamBuilder};

fn pinned() -> Result<SslContextBuilder> {
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_min_proto_version(Some(SslVersion::TLS1_3))?;
    context.set_max_proto_version(Some(SslVersion::TLS1_3))?;
    context.set_curves_list("X25519")?;
    Ok(context)
}

/// ALPN is left to who uses it.
pub fn server(serving: &Serving) -> Result<SslContextBuilder> {
    let mut context = pinned()?;
    context.set_certificate_chain_file(&serving.certificate)?;
    context.set_private_key_file(&serving.key, SslFiletype::PEM)?;
    Ok(context)
}

/// Trusts the roots of a PEM file alone.
pub fn client(roots: &Path) -> Result<SslContextBuilder> {
    let mut context = pinned()?;
    context.set_ca_file(roots)?;
    context.set_verify(SslVerifyMode::PEER);
    Ok(context)
}

/// TLS over TCP.
pub struct Boring {
    context: SslContext,
    protocol: Protocol,
}

impl Boring {
    pub fn new(serving: &Serving) -> Result<Self> {
        let protocol = serving.protocol;
        let mut context = server(serving)?;
        context.set_session_id_context(b"h123")?;
        context.set_alpn_select_callback(move |_, offered| {
            offers(offered, protocol.alpn()).ok_or(AlpnError::ALERT_FATAL)
        });
        Ok(Self {
            context: context.build(),
            protocol,
        })
    }
}

/// A name in a list of ALPN's form: each name behind a byte with its length.
fn offers<'a>(mut list: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    while let Some((&length, rest)) = list.split_first() {
        let (name, others) = rest.split_at_checked(length.into())?;
        if name == wanted {
            return Some(name);
        }
        list = others;
    }
    None
}

impl Acceptor for Boring {
    type Stream = SslStream<TcpStream>;

    async fn accept(&self, socket: TcpStream) -> io::Result<Self::Stream> {
        let ssl = Ssl::new(&self.context)?;
        let handshake = SslStreamBuilder::new(ssl, socket).accept().await;
        let stream = handshake.map_err(|_| io::ErrorKind::InvalidData)?;
        if self.protocol.accepts(stream.ssl().selected_alpn_protocol()) {
            Ok(stream)
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

//! rustls, the same for all protocols: TLS 1.3, X25519 (no post-quantum share, which would add about 1.1 kB
//! each way to some stacks only), AES-128-GCM.

use std::io;
use std::path::Path;
use std::sync::Arc;

use h123_common::command::Result;
use h123_common::protocol::Protocol;
use h123_common::serving::Serving;
use h123_common::tcp::Acceptor;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ServerSessionMemoryCache;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// For how many clients the server remembers how to resume.
const SESSIONS: usize = 10_000;

fn pinned() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![ring::kx_group::X25519],
        ..ring::default_provider()
    })
}

pub fn server(serving: &Serving) -> Result<ServerConfig> {
    let certificates = CertificateDer::pem_file_iter(&serving.certificate)?
        .collect::<std::result::Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(&serving.key)?;
    let mut config = ServerConfig::builder_with_provider(pinned())
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    config.alpn_protocols = vec![serving.protocol.alpn().to_vec()];
    // rustls takes early data only where it keeps the sessions itself.
    config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
    if serving.protocol == Protocol::H3 {
        config.max_early_data_size = u32::MAX; // the one value, beside none, that QUIC knows
    }
    Ok(config)
}

/// Trusts the roots of a PEM file alone, and resumes no session.
pub fn client(protocol: Protocol, roots: &Path) -> Result<ClientConfig> {
    let mut trusted = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(roots)? {
        trusted.add(certificate?)?;
    }
    let mut config = ClientConfig::builder_with_provider(pinned())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.alpn().to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// TLS over TCP.
pub struct Rustls {
    acceptor: TlsAcceptor,
    protocol: Protocol,
}

impl Rustls {
    pub fn new(serving: &Serving) -> Result<Self> {
        Ok(Self {
            acceptor: Arc::new(server(serving)?).into(),
            protocol: serving.protocol,
        })
    }
}

impl Acceptor for Rustls {
    type Stream = TlsStream<TcpStream>;

    async fn accept(&self, socket: TcpStream) -> io::Result<Self::Stream> {
        let stream = self.acceptor.accept(socket).await?;
        if self.protocol.accepts(stream.get_ref().1.alpn_protocol()) {
            Ok(stream)
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

//! What the first messages of a TLS handshake say (RFC 8446, section 4; RFC 5246, section 7.4).

use super::bytes::Bytes;
use super::keys::Random;

const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const ENCRYPTED_EXTENSIONS: u8 = 8;
const SUPPORTED_VERSIONS: u16 = 43;
const TRANSPORT_PARAMETERS: u16 = 57;
const TLS13: u16 = 0x0304;
/// The random of a ServerHello that asks for another ClientHello.
const RETRY: Random = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The messages of a handshake that are whole, each with its type.
pub fn messages(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut bytes = Bytes::new(bytes);
    std::iter::from_fn(move || Some((bytes.byte()?, bytes.counted(3)?)))
}

/// The random of the ClientHello, and its parameters of QUIC, if it has them.
pub fn client(handshake: &[u8]) -> Option<(Random, Option<&[u8]>)> {
    let (_, body) = messages(handshake).find(|&(kind, _)| kind == CLIENT_HELLO)?;
    let mut body = Bytes::new(body);
    body.take(2)?;
    let random = body.take(32)?.try_into().ok()?;
    body.counted(1)?; // session ID
    body.counted(2)?; // cipher suites
    body.counted(1)?; // compression
    let extensions = body.counted(2).unwrap_or_default();
    Some((random, extension(extensions, TRANSPORT_PARAMETERS)))
}

pub struct ServerHello {
    pub random: Random,
    /// Its number.
    pub suite: u16,
    pub tls13: bool,
}

/// The ServerHello that settles the suite.
pub fn server(handshake: &[u8]) -> Option<ServerHello> {
    let hellos = messages(handshake).filter(|&(kind, _)| kind == SERVER_HELLO);
    hellos.filter_map(|(_, body)| server_hello(body)).find(|hello| hello.random != RETRY)
}

fn server_hello(body: &[u8]) -> Option<ServerHello> {
    let mut body = Bytes::new(body);
    body.take(2)?;
    let random = body.take(32)?.try_into().ok()?;
    body.counted(1)?; // session ID
    let suite = body.short()?;
    body.take(1)?; // compression
    let extensions = body.counted(2).unwrap_or_default();
    let version = extension(extensions, SUPPORTED_VERSIONS);
    Some(ServerHello { random, suite, tls13: version == Some(&TLS13.to_be_bytes()) })
}

/// The server's parameters of QUIC.
pub fn server_parameters(handshake: &[u8]) -> Option<&[u8]> {
    let (_, body) = messages(handshake).find(|&(kind, _)| kind == ENCRYPTED_EXTENSIONS)?;
    extension(Bytes::new(body).counted(2)?, TRANSPORT_PARAMETERS)
}

fn extension(extensions: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut extensions = Bytes::new(extensions);
    loop {
        let (kind, body) = (extensions.short()?, extensions.counted(2)?);
        if kind == wanted {
            return Some(body);
        }
    }
}

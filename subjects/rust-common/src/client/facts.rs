//! client.json: what the connections of a run were like.

use serde::Serialize;

/// What a handshake came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tls {
    pub version: String,
    pub cipher: String,
    pub key_exchange: String,
    pub alpn: String,
}

#[derive(Serialize)]
pub struct Facts {
    h123: &'static str,
    tls: Vec<Counted>,
    /// None where there was no connection.
    congestion: Option<String>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Counted {
    #[serde(flatten)]
    tls: Tls,
    connections: usize,
}

impl Facts {
    /// Like connections are counted together.
    pub fn new(handshakes: &[Tls], congestion: &str) -> Self {
        let mut tls: Vec<Counted> = Vec::new();
        for handshake in handshakes {
            match tls.iter_mut().find(|counted| counted.tls == *handshake) {
                Some(counted) => counted.connections += 1,
                None => tls.push(Counted {
                    tls: handshake.clone(),
                    connections: 1,
                }),
            }
        }
        let congestion = (!handshakes.is_empty()).then(|| congestion.to_owned());
        Self {
            h123: "client/1",
            tls,
            congestion,
            notes: Vec::new(),
        }
    }
}

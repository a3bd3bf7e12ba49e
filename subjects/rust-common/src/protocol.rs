//! HTTP versions as the contract names them.

use std::fmt;
use std::str::FromStr;

use crate::command::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    H1,
    H2,
    H3,
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Self::H1 => "h1",
            Self::H2 => "h2",
            Self::H3 => "h3",
        }
    }

    /// Its name in TLS.
    pub fn alpn(self) -> &'static [u8] {
        match self {
            Self::H1 => b"http/1.1",
            Self::H2 => b"h2",
            Self::H3 => b"h3",
        }
    }

    /// Whether a connection that negotiated this ALPN speaks the protocol: without any, it is HTTP/1.1.
    pub fn accepts(self, negotiated: Option<&[u8]>) -> bool {
        match negotiated {
            Some(name) => name == self.alpn(),
            None => self == Self::H1,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = Failure;

    fn from_str(name: &str) -> Result<Self, Failure> {
        [Self::H1, Self::H2, Self::H3]
            .into_iter()
            .find(|protocol| protocol.name() == name)
            .ok_or_else(|| Failure::unsupported(format!("protocol {name}")))
    }
}

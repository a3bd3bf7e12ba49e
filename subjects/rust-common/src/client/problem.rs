//! Why a request failed, in the words of the contract.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    Timeout,
    Reset,
    Refused,
    Tls,
    Protocol,
    /// The body came whole and is not the block.
    WrongBytes,
    Other(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("timeout"),
            Self::Reset => f.write_str("reset"),
            Self::Refused => f.write_str("refused"),
            Self::Tls => f.write_str("tls"),
            Self::Protocol => f.write_str("protocol"),
            Self::WrongBytes => f.write_str("wrong-bytes"),
            Self::Other(text) => write!(f, "other: {text}"),
        }
    }
}

impl Problem {
    /// Of an error that the contract has no word for.
    pub fn other(error: impl fmt::Display) -> Self {
        Self::Other(error.to_string())
    }

    /// Of a code that ended a QUIC connection. TLS's alerts are QUIC's errors from 0x100 on; that of 120, "no
    /// application protocol", is about HTTP.
    pub fn of_transport(code: u64) -> Self {
        match code {
            0 | 1 => Self::Reset, // no error, internal error
            2 => Self::Refused,
            0x178 => Self::Protocol,
            0x100..=0x1ff => Self::Tls,
            _ => Self::Protocol,
        }
    }
}

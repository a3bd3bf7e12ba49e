//! How a QUIC stack sends, as far as its command line says.

use std::str::FromStr;

use crate::command::{Failure, Flags, Result};

#[derive(Clone)]
pub struct Sending {
    pub congestion: String,
    /// Packets that it begins with; none: as many as it has by itself.
    pub initial_window: Option<u32>,
    /// Send at once what the window allows; otherwise as it does by itself.
    pub unpaced: bool,
    /// The payload of its large datagrams, without a search for another; none: as it has by itself.
    pub max_datagram: Option<u16>,
}

impl Sending {
    pub fn take(flags: &mut Flags) -> Result<Self> {
        Ok(Self {
            congestion: flags.take("congestion")?,
            initial_window: number(flags, "initial-window")?,
            unpaced: match flags.take("pacing")?.as_str() {
                "" => false,
                "off" => true,
                other => {
                    let message = format!("--pacing cannot be {other:?}");
                    return Err(Failure::bad_input(message));
                }
            },
            max_datagram: number(flags, "max-datagram")?,
        })
    }
}

/// A number, or none where the flag is empty.
fn number<T: FromStr>(flags: &mut Flags, name: &str) -> Result<Option<T>> {
    match flags.take(name)?.as_str() {
        "" => Ok(None),
        text => Flags::number(text, name).map(Some),
    }
}

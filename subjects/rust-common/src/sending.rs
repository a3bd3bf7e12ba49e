//! How a QUIC stack sends, as far as its command line says.

use crate::command::{Flags, Result};

#[derive(Clone)]
pub struct Sending {
    pub congestion: String,
    /// Packets that it begins with; none: as many as it has by itself.
    pub initial_window: Option<u32>,
}

impl Sending {
    pub fn take(flags: &mut Flags) -> Result<Self> {
        let congestion = flags.take("congestion")?;
        let window = flags.take("initial-window")?;
        let initial_window = match window.as_str() {
            "" => None,
            packets => Some(Flags::number(packets, "initial-window")?),
        };
        Ok(Self {
            congestion,
            initial_window,
        })
    }
}

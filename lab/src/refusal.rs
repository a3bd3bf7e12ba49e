//! Why the program ends without having executed anything, and with which exit status.

use std::fmt;

/// A refusal to start: exit status 2 for bad input, 3 for a machine that cannot run a lab.
#[derive(Debug)]
pub struct Refusal {
    pub status: u8,
    message: String,
}

impl Refusal {
    pub fn input(message: impl fmt::Display) -> Self {
        Self {
            status: 2,
            message: message.to_string(),
        }
    }

    pub fn machine(message: impl fmt::Display) -> Self {
        Self {
            status: 3,
            message: message.to_string(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

//! Why the program ends without a report, and with which exit status.

use std::fmt;

/// A refusal to start, exit status 2 for bad input, 3 for a machine that cannot run a lab; or a lab that was killed.
#[derive(Debug)]
pub struct Refusal {
    pub status: u8,
    message: String,
}

impl Refusal {
    pub fn input(message: impl fmt::Display) -> Self {
        Self { status: 2, message: message.to_string() }
    }

    /// The process inside the enclosure was: exit status 128 + n.
    pub fn killed(signal: u8) -> Self {
        let why = if i32::from(signal) == libc::SIGKILL {
            "perhaps because memory ran out (see `dmesg`)"
        } else {
            "which is a fault in h123-lab: please report it with the trial.json"
        };
        Self {
            status: 128 + signal,
            message: format!("the inner lab was killed by signal {signal}, {why}; nothing of it is left"),
        }
    }

    pub fn machine(message: impl fmt::Display) -> Self {
        Self { status: 3, message: message.to_string() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

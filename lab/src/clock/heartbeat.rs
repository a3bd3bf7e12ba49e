//! A heartbeat of a virtual kernel: how far its time and its packets have come.

use std::fmt;

/// One line each beat: `1300000000 4711`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// Virtual time since the boot.
    pub now_ns: u64,
    /// Received in there until then, about.
    pub packets: u64,
}

impl Heartbeat {
    /// None where the line is no heartbeat.
    pub fn read(line: &str) -> Option<Self> {
        let (now_ns, packets) = line.trim().split_once(' ')?;
        Some(Self { now_ns: now_ns.parse().ok()?, packets: packets.parse().ok()? })
    }
}

impl fmt::Display for Heartbeat {
    fn fmt(&self, line: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(line, "{} {}", self.now_ns, self.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_was_written() {
        let heartbeat = Heartbeat { now_ns: 1_300_000_000, packets: 4711 };
        assert_eq!(Heartbeat::read(&format!("{heartbeat}\r\n")), Some(heartbeat));
        assert_eq!(Heartbeat::read("1300000000"), None);
        assert_eq!(Heartbeat::read("kernel panic"), None);
    }
}

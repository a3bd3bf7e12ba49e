//! A sign of life from a virtual kernel: how far it has come.

use std::fmt;

/// What is told each beat, a line each: `1300000000 4711`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sign {
    /// Virtual time since the boot.
    pub now_ns: u64,
    /// Received in there until then, about.
    pub packets: u64,
}

impl Sign {
    /// None where the line is no sign.
    pub fn read(line: &str) -> Option<Self> {
        let (now_ns, packets) = line.trim().split_once(' ')?;
        Some(Self {
            now_ns: now_ns.parse().ok()?,
            packets: packets.parse().ok()?,
        })
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, line: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(line, "{} {}", self.now_ns, self.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_was_told() {
        let sign = Sign {
            now_ns: 1_300_000_000,
            packets: 4711,
        };
        assert_eq!(Sign::read(&format!("{sign}\r\n")), Some(sign));
        assert_eq!(Sign::read("1300000000"), None);
        assert_eq!(Sign::read("kernel panic"), None);
    }
}

//! When a service is ready: seen in its host's socket tables and its output, without a connection.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::Result;

use crate::namespace::Host;
use crate::trial::Ready;

/// States in `/proc/net/tcp` and `udp`.
pub const LISTEN: &str = "0A";
const UNCONNECTED: &str = "07";

/// What a service still has to show.
pub struct Readiness {
    condition: Condition,
    /// The output so far, if a line is waited for.
    output: Option<File>,
}

enum Condition {
    Declared(Ready),
    AnySocket,
}

impl Readiness {
    /// As the trial declares it; `log` is where the output goes.
    pub fn declared(ready: Ready, log: Option<&Path>) -> Result<Self> {
        let output = match (&ready.line, log) {
            (Some(_), Some(log)) => Some(File::open(log)?),
            _ => None,
        };
        Ok(Self {
            condition: Condition::Declared(ready),
            output,
        })
    }

    /// Any listening TCP or bound UDP socket.
    pub fn any_socket() -> Self {
        Self {
            condition: Condition::AnySocket,
            output: None,
        }
    }

    /// What is still missing; empty when the service is ready.
    pub fn missing(&mut self, host: &mut Host) -> Result<Vec<String>> {
        let (tcp, udp) = host.sockets()?;
        let (tcp, udp) = (ports(&tcp, LISTEN), ports(&udp, UNCONNECTED));
        let absent = |protocol: &str, wanted: &[u16], open: &[u16]| -> Vec<String> {
            wanted
                .iter()
                .filter(|p| !open.contains(p))
                .map(|p| format!("{protocol} port {p}"))
                .collect()
        };
        match &self.condition {
            Condition::AnySocket if tcp.is_empty() && udp.is_empty() => {
                Ok(vec!["any open port".into()])
            }
            Condition::AnySocket => Ok(vec![]),
            Condition::Declared(ready) => {
                let mut missing = absent("TCP", &ready.tcp, &tcp);
                missing.extend(absent("UDP", &ready.udp, &udp));
                if let (Some(line), Some(output)) = (&ready.line, &mut self.output)
                    && !contains(output, line)?
                {
                    missing.push(format!("the output \"{line}\""));
                }
                Ok(missing)
            }
        }
    }
}

/// Local ports of the sockets in this state.
pub fn ports(table: &str, state: &str) -> Vec<u16> {
    let port = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (_, port) = fields.next()?.rsplit_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (fields.nth(1)? == state).then_some(port)
    };
    table.lines().filter_map(port).collect()
}

fn contains(output: &mut File, line: &str) -> Result<bool> {
    let mut text = vec![];
    output.seek(SeekFrom::Start(0))?;
    output.read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).contains(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_a_table() {
        let table = "  sl  local_address rem_address   st tx_queue\n   0: 0100007F:115B 00000000:0000 0A 00000000:00000000\n   \
                     1: 0100007F:0050 0100007F:D431 01 00000000:00000000\n";
        assert_eq!(ports(table, LISTEN), [4443]);
    }
}

//! When a service is ready: seen in its host's socket tables and its output, without a connection unless it is asked
//! whether it accepts any.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::files::trial::Ready;
use crate::host::namespace::Host;

/// States in `/proc/net/tcp` and `udp`.
pub const LISTEN: &str = "0A";
const UNCONNECTED: &str = "07";
/// Flags in `/proc/net/unix` of what accepts connections.
const ACCEPTS: &str = "00010000";
/// For a connection on the host itself.
const KNOCK: Duration = Duration::from_secs(1);
/// Of the sockets that a service has elsewhere.
const SHOWN: usize = 5;

/// What a service still has to show.
pub struct Readiness {
    condition: Condition,
    /// The output so far, if a line is waited for.
    output: Option<File>,
    /// A connection that is to be accepted.
    knock: Option<TcpStream>,
    /// Before the service: other roles'.
    before: Open,
    /// At the last look.
    now: Open,
    /// Whether a port was missing at the last look.
    port_missing: bool,
    /// Since when it has listened in other places alone, in nanoseconds since its start.
    elsewhere_since: Option<u64>,
}

enum Condition {
    Declared(Ready),
    AnySocket,
}

/// The listening TCP and Unix sockets and the bound UDP sockets of a host.
#[derive(Default)]
pub struct Open {
    tcp: Vec<SocketAddr>,
    udp: Vec<SocketAddr>,
    /// By their names.
    unix: Vec<String>,
}

impl Open {
    pub fn on(host: &mut Host) -> Result<Self> {
        let (tcp, udp) = host.sockets()?;
        Ok(Self { tcp: bound(&tcp, LISTEN), udp: bound(&udp, UNCONNECTED), unix: accepting(&host.unix_sockets()?) })
    }

    /// As a person would name them.
    fn names(&self) -> impl Iterator<Item = String> {
        let tcp = self.tcp.iter().map(|at| format!("TCP {at}"));
        let udp = self.udp.iter().map(|at| format!("UDP {at}"));
        let unix = self.unix.iter().map(|name| format!("the Unix socket {name}"));
        tcp.chain(udp).chain(unix)
    }
}

impl Readiness {
    /// As the trial declares it; `log` is where the output goes, `before` what others have opened on the host.
    pub fn declared(ready: Ready, log: Option<&Path>, before: Open) -> Result<Self> {
        let output = match (&ready.line, log) {
            (Some(_), Some(log)) => Some(File::open(log)?),
            _ => None,
        };
        Ok(Self {
            condition: Condition::Declared(ready),
            output,
            knock: None,
            before,
            now: Open::default(),
            port_missing: true,
            elsewhere_since: None,
        })
    }

    /// Any listening TCP or bound UDP socket.
    pub fn any_socket() -> Self {
        Self {
            condition: Condition::AnySocket,
            output: None,
            knock: None,
            before: Open::default(),
            now: Open::default(),
            port_missing: true,
            elsewhere_since: None,
        }
    }

    /// What is still missing; empty when the service is ready.
    pub fn missing(&mut self, host: &mut Host) -> Result<Vec<String>> {
        self.now = Open::on(host)?;
        match &self.condition {
            Condition::AnySocket if self.now.tcp.is_empty() && self.now.udp.is_empty() => {
                Ok(vec!["any open port".into()])
            }
            Condition::AnySocket => Ok(vec![]),
            Condition::Declared(ready) => {
                let mut missing = absent("TCP", &ready.tcp, &self.now.tcp, ready.address);
                missing.extend(absent("UDP", &ready.udp, &self.now.udp, ready.address));
                missing.extend(absent("TCP", &ready.besides, &self.now.tcp, None));
                self.port_missing = !missing.is_empty();
                if let (Some(line), Some(output)) = (&ready.line, &mut self.output)
                    && !contains(output, line)?
                {
                    missing.push(format!("the output \"{line}\""));
                }
                if let Some(&port) = ready.tcp.first()
                    && ready.accepts
                    && missing.is_empty()
                {
                    match knock(&mut self.knock, host, ready.address, port)? {
                        Door::Open => {}
                        Door::Waits => {
                            missing.push(format!("a connection to TCP port {port} to be accepted"));
                        }
                        Door::Shut => {
                            self.port_missing = true;
                            let family = match ready.address {
                                Some(IpAddr::V6(_)) => "IPv6",
                                _ => "IPv4",
                            };
                            missing.push(format!("TCP port {port} over {family}"));
                        }
                    }
                }
                Ok(missing)
            }
        }
    }

    /// Whether by the last look the service had listened in other places alone for longer than it may; `elapsed`
    /// nanoseconds after its start.
    pub fn elsewhere_too_long(&mut self, elapsed: u64) -> bool {
        let Condition::Declared(Ready { elsewhere_ns: Some(longest), .. }) = self.condition else {
            return false;
        };
        if !self.port_missing || self.opened().is_empty() {
            self.elsewhere_since = None;
            return false;
        }
        elapsed - *self.elsewhere_since.get_or_insert(elapsed) > longest
    }

    /// What the service had opened by the last look, to be appended to what was missing.
    pub fn instead(&self) -> String {
        let opened = self.opened();
        let named: Vec<_> = opened.iter().take(SHOWN).map(String::as_str).collect();
        if named.is_empty() {
            return String::new();
        }
        format!("; it listens on {}", named.join(", "))
    }

    fn opened(&self) -> Vec<String> {
        let others: BTreeSet<_> = self.before.names().collect();
        let all: BTreeSet<_> = self.now.names().collect();
        all.difference(&others).cloned().collect()
    }
}

/// What a connection to the service meets.
enum Door {
    Open,
    /// It is not accepted yet.
    Waits,
    /// A socket of IPv6 that takes no connections over IPv4 looks like one that does.
    Shut,
}

/// Whether the service has taken the connection, which is made if there is none yet. A client's would wait as long, and
/// the time would be taken for the protocol's.
fn knock(knock: &mut Option<TcpStream>, host: &mut Host, address: Option<IpAddr>, port: u16) -> Result<Door> {
    if knock.is_none() {
        let at = SocketAddr::from((address.unwrap_or(Ipv4Addr::LOCALHOST.into()), port));
        return host.within(|| {
            Ok(match TcpStream::connect_timeout(&at, KNOCK) {
                Ok(made) => {
                    *knock = Some(made);
                    Door::Waits
                }
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => Door::Shut,
                Err(_) => Door::Waits,
            })
        });
    }
    let accepted = waiting(&host.sockets()?.0, port) == 0;
    Ok(if accepted { Door::Open } else { Door::Waits })
}

/// Connections to a port that nobody has accepted yet.
fn waiting(table: &str, port: u16) -> u64 {
    let queued = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let (_, at) = fields.get(1)?.rsplit_once(':')?;
        let listens = *fields.get(3)? == LISTEN && u16::from_str_radix(at, 16) == Ok(port);
        let (_, length) = fields.get(4)?.split_once(':')?;
        listens.then(|| u64::from_str_radix(length, 16).ok())?
    };
    table.lines().filter_map(queued).sum()
}

/// The ports that nobody listens on where others reach them, at this address.
fn absent(protocol: &str, wanted: &[u16], open: &[SocketAddr], address: Option<IpAddr>) -> Vec<String> {
    // All of IPv6 is all of IPv4 too, unless the socket refuses that, which its table does not say.
    let all = |at: IpAddr, address: IpAddr| at.is_unspecified() && (at.is_ipv6() || address.is_ipv4());
    let reached = |at: &SocketAddr| address.is_none_or(|address| all(at.ip(), address) || at.ip() == address);
    let there = |port: &u16| open.iter().any(|at| at.port() == *port && reached(at));
    let at = address.map_or(String::new(), |address| format!(" of {address}"));
    let missing = wanted.iter().filter(|port| !there(port));
    missing.map(|port| format!("{protocol} port {port}{at}")).collect()
}

/// Local addresses and ports of the sockets in this state.
pub fn bound(table: &str, state: &str) -> Vec<SocketAddr> {
    let socket = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (address, port) = fields.next()?.rsplit_once(':')?;
        let at = SocketAddr::new(ip(address)?, u16::from_str_radix(port, 16).ok()?);
        (fields.nth(1)? == state).then_some(at)
    };
    table.lines().filter_map(socket).collect()
}

/// Names of the Unix sockets that accept connections. One that was made through a descriptor, as podman's monitor of a
/// container does, is no place where clients look for a server.
fn accepting(table: &str) -> Vec<String> {
    let name = |line: &str| {
        let mut fields = line.split_whitespace().skip(3);
        let accepts = fields.next()? == ACCEPTS;
        accepts.then(|| fields.nth(3).map(String::from))?.filter(|name| !name.starts_with("/proc/self/fd/"))
    };
    table.lines().filter_map(name).collect()
}

/// As the kernel prints it: words of four bytes, each in the machine's order. IPv4 within IPv6 is IPv4.
fn ip(hexadecimal: &str) -> Option<IpAddr> {
    let words: Option<Vec<u32>> =
        (0..hexadecimal.len() / 8).map(|n| u32::from_str_radix(hexadecimal.get(8 * n..8 * n + 8)?, 16).ok()).collect();
    let bytes: Vec<u8> = words?.iter().flat_map(|word| word.to_ne_bytes()).collect();
    if let Ok(four) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Some(four.into());
    }
    let sixteen = <[u8; 16]>::try_from(bytes.as_slice()).ok()?;
    Some(Ipv6Addr::from(sixteen).to_canonical())
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
    fn sockets_of_a_table() {
        let table = "  sl  local_address rem_address   st tx_queue\n   0: 0100007F:115B 00000000:0000 0A 00000000:00000000\n   \
                     1: 0100007F:0050 0100007F:D431 01 00000000:00000000\n";
        assert_eq!(bound(table, LISTEN), ["127.0.0.1:4443".parse().unwrap()]);
    }

    #[test]
    fn connections_that_nobody_has_accepted() {
        let table = "  sl  local_address rem_address   st tx_queue\n   0: 00000000:20FB 00000000:0000 0A 00000000:00000002 00:0\n   \
                     1: 0100007F:20FB 0100007F:D431 01 00000000:00000007 00:0\n";
        assert_eq!(waiting(table, 8443), 2);
        assert_eq!(waiting(table, 8444), 0);
    }

    #[test]
    fn unix_sockets_that_accept() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     0: 00000002 00000000 00010000 0001 01 19 /run/server.sock\n\
                     0: 00000003 00000000 00000000 0001 03 20 /run/server.sock\n\
                     0: 00000002 00000000 00010000 0001 01 20 /proc/self/fd/13/attach\n\
                     0: 00000002 00000000 00010000 0001 01 21\n";
        assert_eq!(accepting(table), ["/run/server.sock"]);
    }

    #[test]
    fn addresses_of_both_families() {
        let any = "0".repeat(32);
        assert_eq!(ip("0200010A"), Some([10, 1, 0, 2].into()));
        assert!(ip(&any).unwrap().is_unspecified());
        let within = "0000000000000000FFFF00000200010A";
        assert_eq!(ip(within), Some([10, 1, 0, 2].into()));
        for odd in ["", "0200", "XXXXXXXX", "0200010A0200010A"] {
            assert_eq!(ip(odd), None);
        }
    }

    #[test]
    fn a_port_counts_where_others_reach_it() {
        let host: IpAddr = [10, 1, 0, 2].into();
        let open = |at: &str| absent("TCP", &[4443], &[at.parse().unwrap()], Some(host));
        for reached in ["10.1.0.2:4443", "0.0.0.0:4443", "[::]:4443"] {
            assert!(open(reached).is_empty(), "{reached}");
        }
        for other in ["127.0.0.1:4443", "[::1]:4443", "10.1.0.2:8443"] {
            assert_eq!(open(other), ["TCP port 4443 of 10.1.0.2"], "{other}");
        }
        assert!(absent("TCP", &[4443], &["127.0.0.1:4443".parse().unwrap()], None).is_empty());
        let six: IpAddr = "fd00:1::2".parse().unwrap();
        for (at, reached) in
            [("[fd00:1::2]:4443", true), ("[::]:4443", true), ("0.0.0.0:4443", false), ("[fd00:1::1]:4443", false)]
        {
            let missing = absent("TCP", &[4443], &[at.parse().unwrap()], Some(six));
            assert_eq!(missing.is_empty(), reached, "{at}");
        }
    }
}

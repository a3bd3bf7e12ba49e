//! A client that is seen elsewhere in the midst of a trial: what its server, its sockets and the record of packets say.

mod common;

use common::{Bench, codes, service, trial};
use serde_json::{Value, json};

/// When the client moves, in ns: long after it began, on a busy machine too.
const AMID: u64 = 3_000_000_000;
/// Tells each datagram's sender from where it came.
const MIRROR: &str = r#"
exec python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 9))
while True:
    _, at = s.recvfrom(100)
    s.sendto(("%s %d" % at).encode(), at)
'"#;
/// Asks until it was seen from two places; says its own port, then these.
const ASKER: &str = r#"
exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.1)
s.connect(("10.1.0.2", 9))
seen, end = [], time.monotonic() + 30
while len(seen) < 2 and time.monotonic() < end:
    s.send(b"?")
    try:
        at = s.recv(100).decode()
    except TimeoutError:
        continue
    if at not in seen:
        seen.append(at)
    time.sleep(0.01)
print(s.getsockname()[1], *seen)
'"#;

fn moving(moves: Value, server: &str, ready: Value, client: &str) -> Value {
    let mut trial = trial(json!({"delay_ns": 1_000_000}), service(server, ready), client);
    trial["links"][0]["moves"] = moves;
    trial["links"][0]["packets"] = 100_000.into();
    trial
}

#[test]
fn a_server_sees_who_moved_from_another_place_and_reaches_him_there() {
    for (new, address) in [("port", "10.1.0.1"), ("address", "100.64.0.1")] {
        let bench = Bench::new();
        let moves = json!([{"at_ns": AMID, "new": new}]);
        let report = bench.run(&moving(moves, MIRROR, json!({"udp": [9]}), ASKER));
        assert_eq!(report["valid"], true, "{}", report["reasons"]);
        let said = bench.log("client");
        let said: Vec<&str> = said.split_whitespace().collect();
        let [own, first, first_port, second, second_port] = said[..] else { panic!("{said:?}") };
        assert_eq!([first, first_port, second], ["10.1.0.1", own, address]);
        assert_ne!(second_port, own);
        // The record has the packets as the server sees them: source of what goes up, destination of what comes down.
        let short = |packet: &[u8; 40], at: usize| u16::from_le_bytes([packet[at], packet[at + 1]]);
        let ports = bench
            .packets()
            .iter()
            .map(|packet| short(packet, if packet[34] == 0 { 30 } else { 32 }).to_string())
            .collect::<Vec<_>>();
        assert!(ports.iter().all(|port| port == own || port == second_port));
        assert_eq!(ports.first().map(String::as_str), Some(own));
        assert_eq!(ports.last().map(String::as_str), Some(second_port));
    }
}

#[test]
fn tcp_ends_there_and_begins_anew() {
    let bench = Bench::new();
    let server = r#"
exec python3 -c '
import socketserver
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(100):
            self.request.sendall(data)
socketserver.ThreadingTCPServer(("0.0.0.0", 9), Echo).serve_forever()
'"#;
    let client = r#"
exec python3 -c '
import socket, time
def connected():
    return socket.create_connection(("10.1.0.2", 9), timeout=20)
s, count, end = connected(), 0, time.monotonic() + 30
try:
    while time.monotonic() < end:
        s.sendall(b"x")
        s.recv(1)
        count += 1
        time.sleep(0.01)
except ConnectionResetError:
    print("reset", count > 0)
s = connected()
s.sendall(b"again")
print(s.recv(100).decode())
'"#;
    let moves = json!([{"at_ns": AMID, "new": "address"}]);
    let report = bench.run(&moving(moves, server, json!({"tcp": [9]}), client));
    assert_eq!(codes(&report), Vec::<String>::new(), "{}", report["reasons"]);
    assert_eq!(bench.log("client"), "reset True\nagain\n");
}

#[test]
fn moves_that_make_no_sense_are_refused() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let bench = Bench::new();
        let moves = json!([{"at_ns": 1, "new": "port"}]);
        let mut trial = moving(moves, "true", json!({}), "true");
        change(&mut trial);
        let output = bench.run_command(&trial).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        common::stderr(&output)
    };
    let twice = json!([{"at_ns": 1, "new": "port"}, {"at_ns": 1, "new": "port"}]);
    let said = refused(&|trial| trial["links"][0]["moves"] = twice.clone());
    assert!(said.contains("moves[1].at_ns is 1: moves must be in order"), "{said}");
    let said = refused(&|trial| {
        let link = &mut trial["links"][0];
        link["kind"] = "veth".into();
        link["packets"] = 0.into();
        for way in ["up", "down"] {
            link.as_object_mut().unwrap().remove(way);
        }
    });
    assert!(said.contains("a host can move only over an emulated link"), "{said}");
    let said = refused(&|trial| {
        trial["links"][0]["a"]["address"] = "100.64.0.1".into();
        trial["links"][0]["b"]["address"] = "100.64.0.2".into();
    });
    assert!(said.contains("100.64.0.0/10"), "{said}");
}

//! What a trial asks of TCP is what its connections do.

mod common;

use common::{Bench, codes, direction, service, trial};
use serde_json::{Value, json};

/// Sends to whoever connects more than a first flight, and says at once how many packets are under way and how long a
/// retransmission would wait (us), and the payload of a segment: long before any acknowledgement can be back.
const FIRST_FLIGHT: &str = "exec python3 -c '
import socket, struct, sys
listener = socket.create_server((\"\", 8000))
s, _ = listener.accept()
s.setblocking(False)
s.send(bytes(100_000))
told = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
rto, payload, unacked = (struct.unpack_from(\"I\", told, place)[0] for place in (8, 16, 24))
print(unacked, rto >= 1_000_000, payload, flush=True)
s.setblocking(True)
s.shutdown(socket.SHUT_WR)
s.recv(1)
'";

#[test]
fn tcp_begins_and_repeats_as_the_routes_ask() {
    let fetch = "exec python3 -c '
import socket
s = socket.create_connection((\"10.1.0.2\", 8000))
while s.recv(1_000_000): pass
'";
    for (asked, found, flight) in [
        (Value::Null, json!([null, null, null, false, false, false]), "10 False 1448\n"),
        (
            json!({"initial_window": 10, "keep_idle_window": true}),
            json!([10, null, null, true, false, false]),
            "10 False 1448\n",
        ),
        (
            json!({"initial_window": 32, "min_rto_ns": 1_000_000_000, "max_payload": 1252, "quick_ack": true}),
            json!([32, 1_000_000_000, 1252, false, false, true]),
            "32 True 1252\n",
        ),
    ] {
        let bench = Bench::new();
        let server = service(FIRST_FLIGHT, json!({"tcp": [8000]}));
        let mut trial = trial(direction(150), server, fetch);
        if !asked.is_null() {
            trial["tcp"] = asked;
        }
        let report = bench.run(&trial);
        assert_eq!(codes(&report), [""; 0], "{report}");
        assert_eq!(bench.log("server"), flight);
        for host in report["hosts"].as_array().unwrap() {
            let tcp = &host["tcp"];
            let names = ["initial_window", "min_rto_ns", "max_payload", "keep_idle_window", "fast_open", "quick_ack"];
            assert_eq!(json!(names.map(|name| &tcp[name])), found);
        }
    }
}

/// A server that asks for nothing, and a client that does (30 is TCP_FASTOPEN_CONNECT) and comes twice: first it gets a
/// cookie, with which its second first packet has data.
#[test]
fn tcp_opens_fast_where_that_is_asked_for() {
    let serve = "exec python3 -c '
import socket
s = socket.create_server((\"10.1.0.2\", 8000))
while True:
    c, _ = s.accept()
    c.sendall(c.recv(100))
'";
    let fetch = "exec python3 -c '
import socket
for _ in range(2):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, 30, 1)
    s.connect((\"10.1.0.2\", 8000))
    s.sendall(b\"hello\")
    assert s.recv(100) == b\"hello\"
    s.close()
'";
    for (asked, opened) in [(false, Value::Null), (true, json!(1))] {
        let bench = Bench::new();
        let mut trial = trial(direction(5), service(serve, json!({"tcp": [8000]})), fetch);
        trial["tcp"] = json!({"fast_open": asked});
        let report = bench.run(&trial);
        assert_eq!(codes(&report), [""; 0], "{report}");
        let client = &report["hosts"][0];
        assert_eq!(client["tcp"]["fast_open"], asked);
        assert_eq!(client["counters"]["after"]["TcpExt.TCPFastOpenActive"], opened);
    }
}

//! Hosts that have IPv6: what their programs, the link and its records make of it.

mod common;

use common::{Bench, codes, direction, service, stderr, trial};
use serde_json::{Value, json};

/// Of a trial's only link.
fn with_ipv6(mut trial: Value) -> Value {
    for (end, last) in [("a", 1), ("b", 2)] {
        trial["links"][0][end]["address6"] = format!("fd00:1::{last}").into();
    }
    trial
}

/// Of TCP: says to each that connects how many bytes it sent.
const COUNT: &str = "exec python3 -c '
import socket
server = socket.create_server((\"fd00:1::2\", 8000), family=socket.AF_INET6)
while True:
    connection, _ = server.accept()
    received = 0
    while block := connection.recv(65536): received += len(block)
    connection.sendall(str(received).encode())
    connection.close()
'";

/// Sends 300 kB.
const SEND: &str = "exec python3 -c '
import socket
s = socket.create_connection((\"fd00:1::2\", 8000))
s.sendall(bytes(300_000))
s.shutdown(socket.SHUT_WR)
print(s.recv(100).decode(), s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).strip(b\"\\0\").decode())
'";

#[test]
fn tcp_passes_with_its_settings_and_nothing_else_does() {
    let ready = json!({"tcp": [8000], "address": "fd00:1::2", "accepts": true});
    for (congestion, ecn) in [("cubic", false), ("reno", true)] {
        let mut trial = with_ipv6(trial(direction(5), service(COUNT, ready.clone()), SEND));
        trial["links"][0]["packets"] = 10_000.into();
        trial["links"][0]["capture"] = true.into();
        trial["congestion"] = congestion.into();
        trial["tcp"] = json!({"initial_window": 20, "max_payload": 1300, "ecn": ecn});
        trial["check"] = true.into();
        let bench = Bench::new();
        let report = bench.run(&trial);
        assert_eq!(codes(&report), [""; 0], "{report}");
        assert_eq!(bench.log("client"), format!("300000 {congestion}\n"));
        assert_eq!(report["hosts"][1]["tcp"]["max_payload"], 1300);
        let packets = bench.packets();
        let short = |row: &[u8; 40], at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        for row in &packets {
            let [bytes, payload, source, destination] = [26, 28, 30, 32].map(|at| short(row, at));
            assert!(source == 8000 || destination == 8000, "{row:?}");
            assert!(row[35] == 6 && payload <= 1300 && bytes >= payload + 60, "{row:?}");
        }
        assert!(packets.iter().any(|row| short(row, 26) == 1300 + 40 + 32));
        let marked = packets.iter().filter(|row| row[39] & 3 != 0).count();
        assert_eq!(marked > 200, ecn, "{marked}");
        let capture = std::fs::read(bench.dir.join("out/capture-access.pcapng")).unwrap();
        let ends = [1, 2].map(|last| [&[0xfd, 0, 0, 1][..], &[0; 11], &[last]].concat());
        assert!(capture.windows(32).any(|bytes| bytes == ends.concat()));
    }
}

/// Sends large datagrams, and says what its socket says and what it then takes to be the largest packet.
const DATAGRAMS: &str = "exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, 23, 2)  # IPV6_MTU_DISCOVER: do not fragment
s.connect((\"fd00:1::2\", 9))
for i in range(3):
    try: s.send(bytes(1400))
    except OSError as e: print(type(e).__name__, e.errno, s.getsockopt(socket.IPPROTO_IPV6, 24))
    time.sleep(0.1)
'";

#[test]
fn what_cannot_pass_is_answered() {
    for (up, said) in [
        (json!({"udp": "reject"}), "ConnectionRefusedError 111 1500\n"),
        (json!({"mtu": {"bytes": 1300}}), "OSError 90 1300\n"),
    ] {
        let mut trial = with_ipv6(trial(direction(0), Value::Null, DATAGRAMS));
        trial["links"][0]["up"] = up;
        let bench = Bench::new();
        let report = bench.run(&trial);
        assert_eq!(codes(&report), [""; 0], "{report}");
        let log = bench.log("client");
        assert!(log.starts_with(said), "{log}");
    }
}

/// Of TCP and both versions: closes each connection.
const SERVE: &str = "exec python3 -c '
import socket
s = socket.create_server((\"\", 8000), family=socket.AF_INET6, dualstack_ipv6=True)
while True: s.accept()[0].close()
'";

/// Connects to both addresses of a server, and says what comes of it.
const EACH: &str = "exec python3 -c '
import socket
for host in (\"10.1.0.2\", \"fd00:1::2\"):
    try: print(socket.create_connection((host, 8000), timeout=1).recv(1))
    except OSError as e: print(type(e).__name__)
'";

#[test]
fn a_path_without_one_version_carries_the_other() {
    let ready = json!({"tcp": [8000], "address": "::"});
    for (up, said, share) in [
        (json!({}), "b''\nb''\n", 0.4..0.7),
        (json!({"ipv6": "drop"}), "b''\nTimeoutError\n", 0.0..0.01),
        (json!({"ipv6": "reject"}), "b''\nConnectionRefusedError\n", 0.0..0.01),
        (json!({"ipv4": "reject"}), "ConnectionRefusedError\nb''\n", 0.99..1.01),
    ] {
        let mut trial = with_ipv6(trial(up, service(SERVE, ready.clone()), EACH));
        trial["links"][0]["down"] = json!({});
        trial["check"] = true.into();
        let bench = Bench::new();
        let report = bench.run(&trial);
        assert_eq!(codes(&report), [""; 0], "{report}");
        assert_eq!(bench.log("client"), said);
        let up = &report["links"][0]["directions"]["up"];
        let [six, all] = ["ipv6_bytes_delivered", "bytes_delivered"].map(|f| up[f].as_f64());
        assert!(share.contains(&(six.unwrap() / all.unwrap())), "{up}");
    }
}

#[test]
fn a_veth_and_a_server_of_both_families() {
    let fetch = "exec python3 -c '
import socket
for host in (\"10.1.0.2\", \"fd00:1::2\"): print(socket.create_connection((host, 8000)).recv(1))
'";
    let ready = json!({"tcp": [8000], "address": "fd00:1::2", "accepts": true});
    let mut trial = with_ipv6(trial(Value::Null, service(SERVE, ready), fetch));
    for way in ["up", "down"] {
        trial["links"][0].as_object_mut().unwrap().remove(way);
    }
    trial["links"][0]["kind"] = "veth".into();
    let bench = Bench::new();
    let report = bench.run(&trial);
    assert_eq!(codes(&report), [""; 0], "{report}");
    assert_eq!(bench.log("client"), "b''\nb''\n");
}

#[test]
fn a_program_finds_a_route_to_the_internet() {
    let probe = "exec python3 -c '
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.connect((\"2001:4860::1\", 443))
print(s.getsockname()[0])
'";
    let bench = Bench::new();
    let report = bench.run(&with_ipv6(trial(direction(0), Value::Null, probe)));
    assert_eq!(codes(&report), [""; 0], "{report}");
    assert_eq!(bench.log("client"), "fd00:1::1\n");
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: fn(&mut Value), why: &str| {
        let mut trial = with_ipv6(trial(direction(0), Value::Null, "true"));
        change(&mut trial);
        let output = Bench::new().run_command(&trial).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    };
    refused(|t| t["links"][0]["a"]["address6"] = Value::Null, "neither");
    for bad in ["fd00:1::2", "fd00:2::1", "fe80::1", "ff02::1", "::1", "fd00:1::"] {
        let mut trial = with_ipv6(trial(direction(0), Value::Null, "true"));
        trial["links"][0]["a"]["address6"] = bad.into();
        let output = Bench::new().run_command(&trial).output().unwrap();
        assert!(stderr(&output).contains("of one /64"), "{bad}: {}", stderr(&output));
    }
    refused(|t| t["links"][0]["moves"] = json!([{"at_ns": 5, "new": "address"}]), "IPv4 address only");
    refused(|t| t["links"][0]["up"]["mtu"] = json!({"bytes": 1000}), "at least 1280");
    refused(|t| t["tcp"] = json!({"max_payload": 1448}), "at most 1428");
}

#[test]
fn exec_with_an_address_of_ipv6() {
    let bench = Bench::new();
    let link = json!({"kind": "emulated", "up": {"delay_ns": 10_000_000}});
    let arguments = [
        "--address",
        "ipv6",
        "--server",
        "exec python3 -m http.server 8000 --bind $H123_SERVER",
        "--client",
        "python3 -c 'import os, urllib.request as u; print(u.urlopen(\"http://[%s]:8000/\" % os.environ[\"H123_SERVER\"]).status)'",
    ];
    let output = bench.exec(&link, &arguments).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "200\n", "{}", stderr(&output));
}

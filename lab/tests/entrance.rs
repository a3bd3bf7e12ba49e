//! Paths that change, limit or refuse packets: what two plain programs see agrees with what the link says it did.

mod common;

use common::{Bench, SINK, service, trial};
use serde_json::{Value, json};

/// Prints the ECN field of each datagram to the client that says "end".
const FIELDS: &str = r#"
exec python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
s.bind(("10.1.0.2", 9))
seen = [0, 0, 0, 0]
while True:
    data, ancillary, _, address = s.recvmsg(2000, 64)
    if data == b"end":
        s.sendto(" ".join(map(str, seen)).encode(), address)
    else:
        seen[ancillary[0][2][0] & 3 if ancillary else 0] += 1
'"#;
/// Sends 30 datagrams with each ECN field that is no mark; says what the server has seen of each.
const SENDER: &str = r#"
exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.1.0.2", 9))
for field in (0, 1, 2):
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, field)
    for _ in range(30):
        s.send(b"x" * 100)
        time.sleep(0.0005)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0)
s.settimeout(0.5)
answer = None
while not answer:
    s.send(b"end")
    try:
        answer = s.recv(100)
    except TimeoutError:
        pass
print(answer.decode())
'"#;
/// Receives a connection's bytes, and answers each with their number so far.
const COUNTER: &str = r#"
exec python3 -c '
import socket
listener = socket.create_server(("10.1.0.2", 8000))
while True:
    connection, _ = listener.accept()
    total = 0
    while data := connection.recv(1 << 16):
        total += len(data)
        connection.send(f"{total}\n".encode())
    connection.close()
'"#;
/// Uploads 300 kB; says how many came, or that the upload stood still.
const UPLOAD: &str = r#"
exec python3 -c '
import socket
s = socket.create_connection(("10.1.0.2", 8000))
s.settimeout(3)
try:
    s.sendall(bytes(300_000))
    s.shutdown(socket.SHUT_WR)
    answers = b""
    while data := s.recv(1 << 16):
        answers += data
    print(answers.split()[-1].decode())
except TimeoutError:
    print("stood still")
'"#;
/// Sends a megabyte on each connection.
const SENDING: &str = r#"
exec python3 -c '
import socket
listener = socket.create_server(("10.1.0.2", 8000))
while True:
    connection, _ = listener.accept()
    connection.sendall(bytes(1_000_000))
    connection.close()
'"#;
/// Says how many bytes came.
const DOWNLOAD: &str = r#"
exec python3 -c '
import socket
s = socket.create_connection(("10.1.0.2", 8000))
total = 0
while data := s.recv(1 << 16):
    total += len(data)
print(total)
'"#;
/// Sends datagrams of 1400 bytes that must not be cut into fragments; says how many the kernel refuses.
const UNCUT: &str = r#"
exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER: IP_PMTUDISC_DO
s.connect(("10.1.0.2", 9))
refused = 0
for _ in range(40):
    try:
        s.send(bytes(1400))
    except OSError as error:
        refused += error.errno == 90  # EMSGSIZE
    time.sleep(0.01)
print(refused)
'"#;

/// What the client says, and what the link says of the way up.
fn run(up: Value, server: Value, client: &str) -> (String, Value, Bench) {
    let mut trial = trial(up, server, client);
    trial["links"][0]["packets"] = 10_000.into();
    trial["links"][0]["down"] = json!({"delay_ns": 1_000_000});
    let bench = Bench::new();
    let report = bench.run(&trial);
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    let up = report["links"][0]["directions"]["up"].clone();
    (bench.log("client").trim().to_string(), up, bench)
}

#[test]
fn the_server_sees_the_ecn_field_that_the_path_leaves() {
    for (policy, seen) in [
        ("pass", "30 30 30 0"),
        ("bleach", "90 0 0 0"),
        ("mark", "30 0 0 60"),
        ("swap", "30 30 30 0"),
        ("drop", "30 0 0 0"),
    ] {
        let up = json!({"delay_ns": 1_000_000, "ecn": policy});
        let server = service(FIELDS, json!({"udp": [9]}));
        let (said, up, bench) = run(up, server, SENDER);
        assert_eq!(said, seen, "{policy}");
        let blocked = if policy == "drop" { 60 } else { 0 };
        assert_eq!((&up["blocked"], &up["marked"]), (&json!(blocked), &json!(0)));
        let records = bench.packets().into_iter().filter(|record| record[34] == 0);
        let swapped = records.filter(|record| record[39] == 2 + 8).count();
        assert_eq!(swapped, if policy == "swap" { 30 } else { 0 }, "{policy}");
    }
}

#[test]
fn tcp_finds_the_path_mtu_if_icmp_says_it_and_not_otherwise() {
    for (silent, said) in [(false, "300000"), (true, "stood still")] {
        let up = json!({"delay_ns": 1_000_000, "mtu": {"bytes": 1280, "silent": silent}});
        let server = service(COUNTER, json!({"tcp": [8000]}));
        let (upload, up, bench) = run(up, server, UPLOAD);
        assert_eq!(upload, said);
        assert!(up["too_large"].as_u64().unwrap() > 0, "{up}");
        let size = |record: &[u8; 40]| u16::from_le_bytes([record[26], record[27]]);
        let records = bench.packets();
        let up = records.iter().filter(|record| record[34] == 0);
        let (large, passed): (Vec<&[u8; 40]>, Vec<_>) = up.partition(|&record| size(record) > 1280);
        assert!(large.iter().all(|record| record[37] == 5));
        assert!(passed.iter().all(|record| record[37] == 0));
        assert_eq!(passed.iter().any(|record| size(record) == 1280), !silent);
    }
}

#[test]
fn udp_learns_the_path_mtu_too() {
    let up = json!({"delay_ns": 1_000_000, "mtu": {"bytes": 1280}});
    let (refused, up, _) = run(up, service(SINK, json!({"udp": [9]})), UNCUT);
    let (refused, too_large) = (refused.parse::<u64>().unwrap(), up["too_large"].as_u64().unwrap());
    assert!(refused > 0 && too_large > 0, "{refused} {up}");
    assert_eq!(refused + too_large, 40);
}

#[test]
fn acknowledgements_of_tcp_are_thinned_out_and_none_of_udp() {
    let up = json!({"delay_ns": 1_000_000, "aggregation": {"every_ns": 20_000_000, "thin_acks": true}});
    let server = service(SENDING, json!({"tcp": [8000]}));
    let (said, direction, bench) = run(up.clone(), server, DOWNLOAD);
    assert_eq!(said, "1000000");
    let number = |name: &str| direction[name].as_u64().unwrap();
    let (thinned, came) = (number("thinned"), number("packets_in"));
    assert!(thinned > 20, "{direction}");
    assert_eq!(number("delivered") + thinned + number("in_flight"), came);
    let records = bench.packets().into_iter();
    let gone: Vec<_> = records.filter(|record| record[37] == 6).collect();
    assert_eq!(gone.len() as u64, thinned);
    assert!(gone.iter().all(|record| record[34..37] == [0, 6, 0x10]));
    let (said, direction, _) = run(up, service(SINK, json!({"udp": [9]})), UNCUT);
    assert_eq!((said.as_str(), &direction["thinned"]), ("0", &json!(0)));
}

#[test]
fn a_policer_drops_what_exceeds_it_of_any_protocol() {
    // The burst is ten packets; the second that the upload takes at least lets a thousand pass.
    let up = json!({"delay_ns": 1_000_000, "policer": {"bps": 12_000_000, "burst_bytes": 15_000}});
    let server = service(COUNTER, json!({"tcp": [8000]}));
    let (said, up, bench) = run(up, server, UPLOAD);
    assert_eq!(said, "300000");
    let policed = up["policed"].as_u64().unwrap();
    assert!(policed > 0, "{up}");
    let records = bench.packets().into_iter();
    assert_eq!(records.filter(|record| record[37] == 4).count() as u64, policed);
}

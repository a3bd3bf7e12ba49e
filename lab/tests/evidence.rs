//! What a trial leaves beside its report so that its times can be explained.

mod common;

use std::fs;

use common::{Bench, SINK, codes, datagrams, direction, service, trial};
use serde_json::{Value, json};

/// Sends 200 kB to whoever connects, then waits until the other side closes.
const GIVING: &str = "exec python3 -c '
import socket
s = socket.create_server((\"10.1.0.2\", 8000))
while True:
    c, _ = s.accept()
    c.sendall(bytes(200_000))
    c.recv(1)
'";

fn long(row: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*row[at..].first_chunk().unwrap())
}

fn short(row: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(*row[at..].first_chunk().unwrap())
}

#[test]
fn tcp_tells_of_its_connections_while_they_last_and_at_the_end() {
    let bench = Bench::new();
    let slow = json!({"delay_ns": 20_000_000, "rate": {"bps": 500_000}});
    // The connection is open when the client ends: the last look still finds the server's end.
    let client = "exec python3 -c '
import socket, time
s = socket.create_connection((\"10.1.0.2\", 8000))
left = 200_000
while left: left -= len(s.recv(65536))
'";
    let mut trial = trial(slow, service(GIVING, json!({"tcp": [8000]})), client);
    trial["tcp_account"] = true.into();
    let report = bench.run(&trial);
    assert_eq!(codes(&report), [""; 0], "{report}");
    assert_eq!(report["tcp_left_out"], 0);
    let file = fs::read(bench.dir.join("out/tcp.bin")).unwrap();
    let (rows, rest) = file.as_chunks::<116>();
    assert!(rest.is_empty());
    // The server's end: host 1, port 8000.
    let sender: Vec<_> = rows.iter().filter(|row| short(*row, 108) == 1).collect();
    assert!(sender.iter().all(|row| short(*row, 110) == 8000));
    let times: Vec<u64> = sender.iter().map(|row| long(*row, 0)).collect();
    assert!(times.is_sorted() && times[0] >= report["main_began_ns"].as_u64().unwrap());
    // In 3.2 s at this rate. How often is up to what a look takes: the dearer, the fewer.
    assert!(times.len() >= 5, "{times:?}");
    let last = sender.last().unwrap();
    assert!(long(*last, 16) >= 150_000, "{} bytes acknowledged", long(*last, 16));
    assert!(long(*last, 8) >= 40_000_000, "a round trip of {} ns", long(*last, 8));
    // The client's end of the same connection.
    let ports = |row: &[u8]| (short(row, 110), short(row, 112));
    let (local, remote) = ports(*last);
    let of_client = rows.iter().filter(|row| short(*row, 108) == 0);
    let received = of_client.map(|row| {
        assert_eq!(ports(row), (remote, local));
        long(row, 24)
    });
    assert!(received.max().unwrap() > 100_000);
}

#[test]
fn the_record_of_packets_is_no_longer_than_was_asked_for() {
    let bench = Bench::new();
    let server = service(SINK, json!({"udp": [9]}));
    let mut trial = trial(direction(5), server, &datagrams(300));
    trial["links"][0]["packets"] = 100.into();
    let report = bench.run(&trial);
    assert_eq!(bench.packets().len(), 100);
    assert_eq!(report["links"][0]["packets_left_out"], 200);
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(report["tcp_left_out"], Value::Null);
    assert!(!bench.dir.join("out/tcp.bin").exists());
}

#[test]
fn packets_that_a_receiver_has_no_room_for_are_counted() {
    let bench = Bench::new();
    let full = SINK
        .replace("s.bind", "s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4000); s.bind")
        .replace("s.recv(2000)", "__import__(\"time\").sleep(9)");
    let server = service(&full, json!({"udp": [9]}));
    let report = bench.run(&trial(direction(1), server, &datagrams(300)));
    assert_eq!(codes(&report), [""; 0], "{report}");
    let of = |host: usize, when: &str, name: &str| {
        let counter = &report["hosts"][host]["counters"][when][name];
        counter.as_u64().unwrap_or(0)
    };
    assert_eq!(of(1, "before", "Udp.RcvbufErrors"), 0);
    let dropped = of(1, "after", "Udp.RcvbufErrors");
    // A packet or two may still be under way.
    assert!((200..300).contains(&dropped), "{dropped}");
    assert_eq!(of(1, "after", "Udp.InErrors"), dropped);
    assert_eq!(of(0, "after", "Udp.RcvbufErrors"), 0);
}

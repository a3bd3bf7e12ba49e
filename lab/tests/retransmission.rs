//! Packets that the link layer sends again: what the receiver sees of their order is what the report counts.

mod common;

use common::{Bench, service, trial};
use serde_json::{Value, json};

/// Prints the number in each datagram.
const NUMBERS: &str = r#"
exec python3 -uc '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.1.0.2", 9))
while True:
    print(s.recv(100).decode())
'"#;
const PACKETS: usize = 300;
/// Sends them, about one a millisecond.
const COUNTING: &str = r#"
exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(300):
    s.sendto(str(number).encode(), ("10.1.0.2", 9))
    time.sleep(0.001)
time.sleep(0.2)
'"#;

/// The numbers as they came, and what the report says of the way up.
fn run(again: Value) -> (Vec<usize>, Value) {
    let up = json!({"delay_ns": 5_000_000, "retransmission": again});
    let bench = Bench::new();
    let report = bench.run(&trial(up, service(NUMBERS, json!({"udp": [9]})), COUNTING));
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    let came = bench.log("server");
    let came = came.lines().map(|line| line.parse().unwrap());
    (came.collect(), report["links"][0]["directions"]["up"].clone())
}

/// Packets that came behind one or two later ones, and behind more: RFC 4737, section 4.2.1.
fn extents(came: &[usize]) -> [usize; 2] {
    let mut extents = [0; 2];
    for (place, number) in came.iter().enumerate() {
        if let Some(first) = came[..place].iter().position(|other| other > number) {
            extents[usize::from(place - first >= 3)] += 1;
        }
    }
    extents
}

#[test]
fn a_receiver_sees_the_order_that_the_report_counts() {
    for (delay_ns, which) in [(1_500_000, 0), (20_000_000, 1)] {
        let (came, up) = run(json!({"share": 0.1, "delay_ns": delay_ns}));
        assert_eq!(came.len(), PACKETS);
        let seen = extents(&came);
        assert!(seen[which] > 5, "{seen:?}");
        let counted = ["reordered_near", "reordered_far"].map(|name| up[name].as_u64().unwrap() as usize);
        assert_eq!(counted, seen, "{delay_ns}");
    }
    let (came, up) = run(json!({"share": 0.1, "delay_ns": 20_000_000, "in_order": true}));
    assert_eq!(came, (0..PACKETS).collect::<Vec<_>>());
    assert_eq!((&up["reordered_near"], &up["reordered_far"]), (&json!(0), &json!(0)));
}

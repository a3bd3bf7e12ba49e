//! Queues that are managed: what two plain programs see agrees with what the link says it did.

mod common;

use common::{Bench, service, trial};
use serde_json::{Value, json};

/// Counts datagrams, and those that come with Congestion Experienced; answers the last one with both.
const SERVER: &str = r#"
exec python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
s.bind(("10.1.0.2", 9))
came = marked = 0
while True:
    data, ancillary, _, address = s.recvmsg(2000, 64)
    if data == b"end":
        s.sendto(f"{came} {marked}".encode(), address)
        continue
    came += 1
    marked += ancillary[0][2][0] & 3 == 3
'"#;
/// Sends 600 full packets, a quarter more than the link can carry, with this ECN field; says what the server has counted.
const CLIENT: &str = r#"
exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.1.0.2", 9))
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECN)
begin = time.monotonic()
for i in range(600):
    time.sleep(max(0, begin + i * 0.00096 - time.monotonic()))
    s.send(bytes(1472))
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

/// What the server has counted, and what the link says of the way up.
fn crowd(queue: Value, ecn: u8) -> ([u64; 2], Value, Bench) {
    let up = json!({"delay_ns": 1_000_000, "rate": {"bps": 10_000_000}, "queue": queue});
    let client = CLIENT.replace("ECN", &ecn.to_string());
    let mut trial = trial(up, service(SERVER, json!({"udp": [9]})), &client);
    trial["links"][0]["packets"] = 10_000.into();
    let bench = Bench::new();
    let report = bench.run(&trial);
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    let said = bench.log("client");
    let mut counted = said.split_whitespace().map(|word| word.parse().unwrap());
    let counted = [counted.next().unwrap(), counted.next().unwrap()];
    let up = report["links"][0]["directions"]["up"].clone();
    (counted, up, bench)
}

/// How many records of the way up have this in their last byte: the ECN field as it came, 4 for a mark of the link's queue, and
/// 8 times the field as it left.
fn noted(bench: &Bench, ecn: u8) -> u64 {
    let up = bench.packets().into_iter().filter(|record| record[34] == 0);
    up.filter(|record| record[39] == ecn).count() as u64
}

#[test]
fn queues_mark_what_is_ecn_capable_and_the_server_sees_it() {
    let red = json!({"limit": 150_000, "min": 6_000, "max": 15_000, "avpkt": 1500, "burst": 6,
                     "probability": 0.5, "bandwidth_bps": 10_000_000, "ecn": true});
    for (queue, field) in [
        (json!({"codel": {"ecn": true}}), 2),
        (json!({"fq_codel": {}}), 2),
        (json!({"red": red}), 2),
    ] {
        let ([came, marked], up, bench) = crowd(queue.clone(), field);
        let dropped = up["queue_dropped"].as_u64().unwrap();
        assert!(came + dropped >= 600, "{queue} {came} {dropped}");
        assert!(marked > 5, "{queue} {marked}");
        assert_eq!(up["marked"], marked, "{queue}");
        let (with, without) = (field + 4 + 8 * 3, field + 8 * field);
        let counted = (noted(&bench, with), noted(&bench, without));
        assert_eq!(counted, (marked, came - marked), "{queue}");
    }
}

#[test]
fn codel_drops_what_is_not() {
    let ([came, marked], up, bench) = crowd(json!({"codel": {"ecn": true}}), 0);
    assert_eq!((marked, &up["marked"]), (0, &json!(0)));
    let dropped = up["queue_dropped"].as_u64().unwrap();
    assert!(dropped > 5, "{dropped}");
    assert_eq!(came + dropped, 600);
    assert_eq!(noted(&bench, 0), up["packets_in"].as_u64().unwrap());
}

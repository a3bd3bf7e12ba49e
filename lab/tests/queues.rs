//! Queues that are managed: what two plain programs see agrees with what the link says it did.

mod common;

use common::{Bench, service, trial};
use serde_json::{Value, json};

/// Counts datagrams, and those that come with Congestion Experienced; answers the last one with both. Prints how long each took,
/// ns, from the sender's time in it to the kernel's when it came.
const SERVER: &str = r#"
exec python3 -c '
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
s.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE: none is lost here
s.bind(("10.1.0.2", 9))
came = marked = 0
while True:
    data, ancillary, _, address = s.recvmsg(2000, 100)
    if data == b"end":
        s.sendto(f"{came} {marked}".encode(), address)
        continue
    said = {level: value for level, _, value in ancillary}
    seconds, ns = struct.unpack("qq", said[socket.SOL_SOCKET])
    print(seconds * 10**9 + ns - int.from_bytes(data[:8], "big"), flush=True)
    came += 1
    marked += said[socket.IPPROTO_IP][0] & 3 == 3
'"#;
/// Sends 1200 full packets, two thirds more than the link can carry, with this ECN field; says what the server has counted once
/// that stays the same for 0.2 s, in which the link carries what its queues hold: the question may overtake packets in another
/// queue. After a stall it sends only the packets of 5 ms at once.
const CLIENT: &str = r#"
exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.1.0.2", 9))
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECN)
due = time.monotonic()
for i in range(1200):
    due = max(due + 0.00072, time.monotonic() - 0.005)
    time.sleep(max(0, due - time.monotonic()))
    s.send(time.time_ns().to_bytes(8, "big") + bytes(1464))
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0)
s.settimeout(0.5)
before = answer = None
while answer is None or answer != before:
    before = answer
    s.send(b"end")
    try:
        answer = s.recv(100)
    except TimeoutError:
        answer = None
    time.sleep(0.2)
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

/// How much longer than in the link each datagram was on its way, ns: from the sender's time to the link, and from there to the
/// receiver. One flow's datagrams come in the order in which the link got them.
fn around_the_link(bench: &Bench) -> Vec<i64> {
    let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
    let whole = |r: &[u8; 40]| r[34] == 0 && r[26..28] == 1500u16.to_le_bytes();
    let sent: Vec<_> = bench.packets().into_iter().filter(whole).collect();
    assert_eq!(sent.len(), 1200);
    let times = sent.iter().map(|r| (number(&r[..8]), number(&r[8..16])));
    let in_link: Vec<_> = times.filter(|&(_, left)| left > 0).map(|(at, left)| left - at).collect();
    let log = bench.log("server");
    let seen: Vec<i64> = log.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(seen.len(), in_link.len());
    seen.iter().zip(in_link).map(|(seen, in_link)| seen - in_link).collect()
}

#[test]
fn queues_mark_what_is_ecn_capable_and_the_server_sees_it() {
    let pie = json!({"ecn": true, "target_ns": 5_000_000, "tupdate_ns": 10_000_000, "alpha": 1, "beta": 32});
    let mut fq_pie = pie.clone();
    fq_pie["ecn_prob"] = 90.into();
    let red = json!({"limit": 150_000, "min": 6_000, "max": 15_000, "avpkt": 1500, "burst": 6,
                     "probability": 0.5, "bandwidth_bps": 10_000_000, "ecn": true});
    for (queue, field, least) in [
        (json!({"codel": {"ecn": true}}), 2, 6),
        (json!({"fq_codel": {}}), 2, 6),
        (json!({"red": red}), 2, 6),
        (json!({"pie": pie}), 2, 2),
        (json!({"fq_pie": fq_pie}), 2, 6),
        (json!({"dualpi2": {}}), 2, 6),
        (json!({"dualpi2": {}}), 1, 6),
        (json!({"cake": {}}), 2, 6),
    ] {
        let ([came, marked], up, bench) = crowd(queue.clone(), field);
        let dropped = up["queue_dropped"].as_u64().unwrap();
        assert!(came + dropped >= 1200, "{came} {up}");
        assert!(marked >= least, "{queue} {marked}");
        assert_eq!(up["marked"], marked, "{queue}");
        let (with, without) = (field + 4 + 8 * 3, field + 8 * field);
        let counted = (noted(&bench, with), noted(&bench, without));
        assert_eq!(counted, (marked, came - marked), "{queue}");
        let mut around = around_the_link(&bench);
        around.sort_unstable();
        assert!(around[0] >= 0, "{queue} {}", around[0]);
        let median = around[around.len() / 2];
        assert!(median < 10_000_000, "{queue} {median}");
    }
}

#[test]
fn queues_drop_what_is_not() {
    let pie = json!({"ecn": true, "target_ns": 5_000_000, "tupdate_ns": 10_000_000, "alpha": 1, "beta": 32});
    for queue in [json!({"codel": {"ecn": true}}), json!({"pie": pie}), json!({"dualpi2": {}}), json!({"cake": {}})] {
        let ([came, marked], up, bench) = crowd(queue.clone(), 0);
        assert_eq!((marked, &up["marked"]), (0, &json!(0)), "{queue}");
        let dropped = up["queue_dropped"].as_u64().unwrap();
        assert!(dropped > 5, "{queue} {dropped}");
        assert!(came + dropped >= 1200, "{came} {up}");
        assert_eq!(around_the_link(&bench).len() as u64, came, "{queue}");
        assert_eq!(noted(&bench, 0), up["packets_in"].as_u64().unwrap());
    }
}

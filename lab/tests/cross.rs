//! Cross traffic: it takes its share of a link, has an account of its own, and is over with the trial.

mod common;

use common::{Bench, service, trial};
use serde_json::{Value, json};

/// Ten megabits a second, room for 25 kB.
fn narrow() -> Value {
    json!({"delay_ns": 5_000_000, "rate": {"bps": 10_000_000}, "queue": {"bytes": 25_000}})
}

/// A megabyte, downwards.
const SERVER: &str = r#"
exec python3 -c '
import socket
s = socket.create_server(("10.1.0.2", 9))
while True:
    c, _ = s.accept()
    c.sendall(bytes(1_000_000))
    c.close()
'"#;
/// Says how long it took, in seconds.
const CLIENT: &str = r#"
exec python3 -c '
import socket, time
began = time.monotonic()
c, got = socket.create_connection(("10.1.0.2", 9)), 0
while data := c.recv(65536):
    got += len(data)
assert got == 1_000_000, got
print(time.monotonic() - began)
'"#;
/// Sends 60 of them.
const FULL_PACKETS: &str = r#"
exec python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(60):
    s.sendto(bytes(1472), ("10.1.0.2", 9))
'"#;

fn crossed(cross: Value) -> Value {
    crossed_over(narrow(), cross, CLIENT)
}

fn crossed_over(direction: Value, cross: Value, client: &str) -> Value {
    let mut trial = trial(direction, service(SERVER, json!({"tcp": [9]})), client);
    trial["links"][0]["packets"] = 100_000.into();
    if !cross.is_null() {
        trial["links"][0]["cross"] = cross;
    }
    trial
}

/// What is said of a trial with this cross traffic, and how long the download took, s.
fn download(cross: Value) -> (Value, f64) {
    let bench = Bench::new();
    let report = bench.run(&crossed(cross));
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    let link = &report["links"][0];
    // The record is of the trial's own packets.
    let came = ["up", "down"].map(|way| count(link, "directions", way, "packets_in"));
    assert_eq!(bench.packets().len() as u64, came.iter().sum::<u64>());
    assert_eq!(report["hosts"].as_array().unwrap().len(), 2);
    let took = bench.log("client").trim().parse().unwrap();
    (report, took)
}

fn count(link: &Value, whose: &str, way: &str, what: &str) -> u64 {
    link[whose][way][what].as_u64().unwrap()
}

/// Bytes of cross traffic, of which the link cannot have carried more than its own packets left it room for.
fn crossing(report: &Value) -> u64 {
    let link = &report["links"][0];
    let main_s = report["phases_ns"]["main"].as_f64().unwrap() / 1e9;
    let both = ["directions", "cross"].map(|whose| count(link, whose, "down", "bytes_delivered"));
    let room = 1_250_000.0 * main_s + 25_000.0;
    assert!(both.iter().sum::<u64>() as f64 <= room, "{both:?} in {main_s} s");
    assert!(both[0] > 1_000_000, "{both:?}");
    let of = |what: &str| count(link, "cross", "down", what);
    assert!(of("packets_in") >= of("delivered") + of("lost") + of("queue_dropped"));
    of("received_bytes")
}

#[test]
fn a_download_shares_the_queue_with_what_crosses_the_link() {
    let (calm, took) = download(Value::Null);
    assert!(calm["links"][0]["cross"].is_null());
    // 10 Mbit/s carry a megabyte in 0.83 s with its headers; half of it in twice that.
    assert!(took > 0.8, "{took}");
    let (busy, took) = download(json!({"down": {"udp": 5_000_000}, "ahead_ns": 100_000_000}));
    assert!(took > 1.3, "{took}");
    assert!(crossing(&busy) > 400_000);
    assert_eq!(count(&busy["links"][0], "cross", "up", "packets_in"), 0);

    let (bulk, took) = download(json!({"down": {"tcp": 2}, "ahead_ns": 500_000_000}));
    assert!(took > 0.85, "{took}");
    assert!(crossing(&bulk) > 100_000);
    // Acknowledgements.
    assert!(count(&bulk["links"][0], "cross", "up", "packets_in") > 50);
}

/// Whoever sends fills the queue and, once it is full, has as much on its way as the link and the queue hold; if that were
/// forgotten when the client begins, its first packets would find the queue empty, and it would stay so for a while.
#[test]
fn a_client_finds_the_queue_that_others_have_filled() {
    let bench = Bench::new();
    let wide = json!({"delay_ns": 5_000_000, "rate": {"bps": 10_000_000}, "queue": {"bytes": 250_000}});
    let busy = json!({"down": {"tcp": 4}, "ahead_ns": 3_000_000_000u64});
    // At once: Python would take longer to begin than the queue to fill again.
    let client = "exec bash -c 'exec 3<>/dev/tcp/10.1.0.2/9; cat <&3 >/dev/null'";
    let report = bench.run(&crossed_over(wide, busy, client));
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    let time = |record: &[u8; 40], at: usize| u64::from_ne_bytes(record[at..at + 8].try_into().unwrap());
    let (down, delivered) = (1, 0);
    let first = bench.packets().into_iter().find(|record| (record[34], record[37]) == (down, delivered)).unwrap();
    let way = time(&first, 8) - time(&first, 0);
    // 200 ms where it is full, and at least half of that after a loss.
    assert!(way > 60_000_000, "{way} ns");
}

#[test]
fn a_client_finds_the_tokens_that_others_have_left() {
    for check in [false, true] {
        let policer = json!({"bps": 5_000_000, "burst_bytes": 500_000});
        let mut policed = narrow();
        policed["rate"]["bps"] = 100_000_000.into();
        policed["policer"] = policer;
        let busy = json!({"up": {"udp": 20_000_000}, "ahead_ns": 1_000_000_000});
        let mut trial = crossed_over(policed, busy, FULL_PACKETS);
        trial["check"] = check.into();
        let report = Bench::new().run(&trial);
        assert_eq!(report["valid"], true, "{}", report["reasons"]);
        let policed = count(&report["links"][0], "directions", "up", "policed");
        assert!(policed > 30, "{policed} of 60");
    }
}

#[test]
fn cross_traffic_that_makes_no_sense_is_refused() {
    let refused = |cross: Value, change: &dyn Fn(&mut Value)| {
        let bench = Bench::new();
        let mut trial = crossed(cross);
        change(&mut trial["links"][0]);
        let output = bench.run_command(&trial).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        common::stderr(&output)
    };
    let unlimited = |link: &mut Value| link["down"] = json!({});
    let veth = |link: &mut Value| {
        link["kind"] = "veth".into();
        for field in ["up", "down", "packets"] {
            link.as_object_mut().unwrap().remove(field);
        }
    };
    let bulk = json!({"down": {"tcp": 1}, "ahead_ns": 0});
    for (cross, change, why) in [
        (json!({"ahead_ns": 0}), &(|_: &mut Value| {}) as &dyn Fn(&mut Value), "needs \"up\" or \"down\""),
        (json!({"up": {"tcp": 0}, "ahead_ns": 0}), &|_| {}, "1 to 100 connections"),
        (json!({"up": {"udp": 1}, "ahead_ns": 0}), &|_| {}, "1000 to 10000000000 bit/s"),
        (json!({"up": {"tcp": 1}, "ahead_ns": 60_000_000_001u64}), &|_| {}, "\"ahead_ns\" is at most"),
        (bulk.clone(), &unlimited, "only with a rate"),
        (bulk, &veth, "only an emulated link can have cross traffic"),
    ] {
        let said = refused(cross, change);
        assert!(said.contains(why), "{said}");
    }
}

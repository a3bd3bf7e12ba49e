//! Trials that go wrong: each says why, with the right exit status.

mod common;

use common::{Bench, codes, direction, service, trial};
use serde_json::{Value, json};

/// The only reason of a trial with this server and client: its code and detail.
fn reason(server: Value, client: &str) -> (String, String) {
    let bench = Bench::new();
    let report = bench.run(&trial(direction(1), server, client));
    assert_eq!(report["valid"], false);
    assert_eq!(codes(&report).len(), 1, "{}", report["reasons"]);
    let text = |key: &str| report["reasons"][0][key].as_str().unwrap().to_string();
    (text("code"), text("detail"))
}

#[test]
fn a_server_that_exits_at_once() {
    let (code, detail) = reason(service("echo no such certificate >&2; exit 3", json!({"tcp": [4443]})), "true");
    assert_eq!(code, "server-exited");
    assert!(detail.contains("exit status 3") && detail.contains("no such certificate"), "{detail}");
}

#[test]
fn a_server_that_hangs() {
    let (code, detail) = reason(service("sleep 60", json!({"tcp": [4443], "timeout_ns": 300_000_000})), "true");
    assert_eq!(code, "server-not-ready");
    assert!(detail.contains("TCP port 4443"), "{detail}");
}

/// Binds these sockets, of which TCP's listen, and stays.
fn open(sockets: &[(&str, &str, u16)]) -> String {
    let calls: Vec<String> = sockets
        .iter()
        .map(|(protocol, address, port)| match *protocol {
            "TCP" => format!("tcp(\"{address}\", {port})"),
            _ => format!("udp(\"{address}\", {port})"),
        })
        .collect();
    format!(
        "exec python3 -c '
import socket, time
def udp(*at):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(at); return s
def tcp(*at):
    s = socket.socket(); s.bind(at); s.listen(); return s
kept = [{}]
time.sleep(60)
'",
        calls.join(", ")
    )
}

/// What is said of a server that opens other sockets than the ones waited for at its address.
fn elsewhere(sockets: &[(&str, &str, u16)], ready: &Value) -> String {
    let mut ready = ready.clone();
    ready["address"] = "10.1.0.2".into();
    ready["timeout_ns"] = 3_000_000_000_u64.into();
    let (code, detail) = reason(service(&open(sockets), ready), "true");
    assert_eq!(code, "server-not-ready");
    detail
}

#[test]
fn a_server_that_listens_elsewhere() {
    let tcp = json!({"tcp": [4443]});
    let detail = elsewhere(&[("TCP", "127.0.0.1", 4443)], &tcp);
    let said = "waiting for TCP port 4443 of 10.1.0.2; it listens on TCP 127.0.0.1:4443";
    assert!(detail.contains(said), "{detail}");
    let detail = elsewhere(&[("TCP", "0.0.0.0", 4443)], &json!({"udp": [4443]}));
    let said = "waiting for UDP port 4443 of 10.1.0.2; it listens on TCP 0.0.0.0:4443";
    assert!(detail.contains(said), "{detail}");
    let detail = elsewhere(&[("TCP", "10.1.0.2", 443), ("UDP", "0.0.0.0", 443)], &tcp);
    let said = "it listens on TCP 10.1.0.2:443, UDP 0.0.0.0:443";
    assert!(detail.contains(said), "{detail}");
}

#[test]
fn a_server_that_listens_elsewhere_too_long_is_given_up() {
    let ready = json!({"tcp": [4443], "elsewhere_ns": 200_000_000, "timeout_ns": 60_000_000_000_u64});
    let (code, detail) = reason(service(&open(&[("TCP", "127.0.0.1", 8080)]), ready), "true");
    assert_eq!(code, "server-not-ready");
    assert!(detail.contains("it listens on TCP 127.0.0.1:8080"), "{detail}");
}

#[test]
fn a_server_is_waited_for_until_ports_besides_its_own_are_open() {
    let late = "python3 -c '
import socket, time
own = socket.create_server((\"\", 4443))
time.sleep(0.5)
other = socket.create_server((\"127.0.0.1\", 8080))
time.sleep(60)
'";
    let ready = json!({"tcp": [4443], "address": "10.1.0.2", "besides": [8080], "elsewhere_ns": 60_000_000_000_u64});
    let report = Bench::new().run(&trial(direction(1), service(&format!("exec {late}"), ready), "true"));
    assert_eq!(codes(&report), [""; 0]);
    assert!(report["roles"][0]["ready_ns"].as_u64().unwrap() >= 500_000_000);
}

#[test]
fn what_others_have_opened_is_not_the_servers() {
    let bench = Bench::new();
    let late = service("sleep 60", json!({"tcp": [4443], "timeout_ns": 300_000_000}));
    let mut trial = trial(direction(1), late, "true");
    let origin = json!({"name": "origin", "host": "server", "kind": "service", "ready": {"tcp": [8080], "address": "127.0.0.1"},
                        "command": ["sh", "-c", open(&[("TCP", "127.0.0.1", 8080)])], "stop_timeout_ns": 300_000_000});
    trial["roles"].as_array_mut().unwrap().insert(0, origin);
    let report = bench.run(&trial);
    assert_eq!(codes(&report), ["server-not-ready"]);
    let detail = report["reasons"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("TCP port 4443"), "{detail}");
    assert!(!detail.contains("it listens on"), "{detail}");
}

#[test]
fn a_server_that_ignores_sigterm_is_killed() {
    let bench = Bench::new();
    let server = service("trap '' TERM; echo up; while :; do sleep 1; done", json!({"line": "up"}));
    let report = bench.run(&trial(direction(1), server, "true"));
    assert_eq!(report["roles"][0]["pid_exit"], json!({"code": null, "signal": 9, "stopped": true}));
}

#[test]
fn a_server_that_dies_during_the_run() {
    let (code, detail) = reason(service("echo up; sleep 0.3; exit 4", json!({"line": "up"})), "sleep 60");
    assert_eq!(code, "server-exited");
    assert!(detail.contains("exit status 4"), "{detail}");
}

#[test]
fn a_port_in_use() {
    let bench = Bench::new();
    let serve = json!(["python3", "-m", "http.server", "8000"]);
    let mut trial = trial(direction(1), service("true", json!({})), "true");
    trial["roles"][0]["command"] = serve.clone();
    trial["roles"][0]["ready"] = json!({"tcp": [8000]});
    let second =
        json!({"name": "second", "host": "server", "kind": "service", "command": serve, "ready": {"line": "Serving"}});
    trial["roles"].as_array_mut().unwrap().insert(1, second);
    let report = bench.run(&trial);
    assert_eq!(codes(&report), ["server-exited"]);
    assert!(report["reasons"][0]["detail"].as_str().unwrap().contains("Address already in use"), "{report}");
}

#[test]
fn unsupported_on_either_side() {
    assert_eq!(reason(service("exit 127", json!({"tcp": [1]})), "true").0, "unsupported");
    let (code, detail) = reason(Value::Null, "echo no h3 here; exit 127");
    assert_eq!(code, "unsupported");
    assert!(detail.contains("no h3 here"));
}

#[test]
fn a_client_that_fails_or_does_not_end() {
    let (code, detail) = reason(Value::Null, "echo oh dear; exit 5");
    assert!(code == "client-failed" && detail.contains("exit status 5") && detail.contains("oh dear"), "{detail}");
    let bench = Bench::new();
    let mut trial = trial(direction(1), Value::Null, "sleep 60");
    trial["roles"][0]["timeout_ns"] = 300_000_000.into();
    assert_eq!(codes(&bench.run(&trial)), ["client-timeout"]);
}

#[test]
fn an_unknown_congestion_controller() {
    let bench = Bench::new();
    let mut trial = trial(direction(1), Value::Null, "true");
    trial["congestion"] = "warp".into();
    let report = bench.run(&trial);
    assert_eq!(codes(&report), ["setup-failed"]);
    let detail = report["reasons"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("warp") && detail.contains("tcp_available_congestion_control"), "{detail}");
}

//! Trials that go wrong: each says why, with the right exit status.

mod common;

use std::process::Command;

use common::{Bench, codes, direction, lab, service, stderr, trial};
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
    let (code, detail) = reason(
        service(
            "echo no such certificate >&2; exit 3",
            json!({"tcp": [4443]}),
        ),
        "true",
    );
    assert_eq!(code, "server-exited");
    assert!(
        detail.contains("exit status 3") && detail.contains("no such certificate"),
        "{detail}"
    );
}

#[test]
fn a_server_that_hangs() {
    let (code, detail) = reason(
        service(
            "sleep 60",
            json!({"tcp": [4443], "timeout_ns": 300_000_000}),
        ),
        "true",
    );
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
    let ready =
        json!({"tcp": [4443], "elsewhere_ns": 200_000_000, "timeout_ns": 60_000_000_000_u64});
    let (code, detail) = reason(service(&open(&[("TCP", "127.0.0.1", 8080)]), ready), "true");
    assert_eq!(code, "server-not-ready");
    assert!(
        detail.contains("it listens on TCP 127.0.0.1:8080"),
        "{detail}"
    );
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
    let report = Bench::new().run(&trial(
        direction(1),
        service(&format!("exec {late}"), ready),
        "true",
    ));
    assert_eq!(codes(&report), [""; 0]);
    assert!(report["roles"][0]["ready_ns"].as_u64().unwrap() >= 500_000_000);
}

#[test]
fn what_others_have_opened_is_not_the_servers() {
    let bench = Bench::new();
    let late = service(
        "sleep 60",
        json!({"tcp": [4443], "timeout_ns": 300_000_000}),
    );
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
    let server = service(
        "trap '' TERM; echo up; while :; do sleep 1; done",
        json!({"line": "up"}),
    );
    let report = bench.run(&trial(direction(1), server, "true"));
    assert_eq!(
        report["roles"][0]["pid_exit"],
        json!({"code": null, "signal": 9, "stopped": true})
    );
}

#[test]
fn a_server_that_dies_during_the_run() {
    let (code, detail) = reason(
        service("echo up; sleep 0.3; exit 4", json!({"line": "up"})),
        "sleep 60",
    );
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
    let second = json!({"name": "second", "host": "server", "kind": "service", "command": serve, "ready": {"line": "Serving"}});
    trial["roles"].as_array_mut().unwrap().insert(1, second);
    let report = bench.run(&trial);
    assert_eq!(codes(&report), ["server-exited"]);
    assert!(
        report["reasons"][0]["detail"]
            .as_str()
            .unwrap()
            .contains("Address already in use"),
        "{report}"
    );
}

#[test]
fn unsupported_on_either_side() {
    assert_eq!(
        reason(service("exit 127", json!({"tcp": [1]})), "true").0,
        "unsupported"
    );
    let (code, detail) = reason(Value::Null, "echo no h3 here; exit 127");
    assert_eq!(code, "unsupported");
    assert!(detail.contains("no h3 here"));
}

#[test]
fn a_client_that_fails_or_does_not_end() {
    let (code, detail) = reason(Value::Null, "echo oh dear; exit 5");
    assert!(
        code == "client-failed" && detail.contains("exit status 5") && detail.contains("oh dear"),
        "{detail}"
    );
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
    assert!(
        detail.contains("warp") && detail.contains("tcp_available_congestion_control"),
        "{detail}"
    );
}

/// Changes a good trial; it must be refused with status 2 and these words.
fn refused(change: impl Fn(&mut Value), words: &str) {
    let bench = Bench::new();
    let mut trial = trial(direction(1), Value::Null, "true");
    change(&mut trial);
    let output = bench.run_command(&trial).output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(words), "{message}");
    assert!(!bench.dir.join("out/report.json").exists());
}

#[test]
fn bad_trials_are_refused_with_the_reason() {
    refused(|t| t["h123"] = "trial/2".into(), "trial/2");
    refused(
        |t| {
            t["h123"] = "trial/2".into();
            t["colour"] = "red".into();
        },
        "its format is \"trial/2\", this program reads \"trial/1\"",
    );
    refused(|t| t["colour"] = "red".into(), "colour");
    refused(|t| t["links"][0]["up"]["dealy_ns"] = 1.into(), "dealy_ns");
    refused(|t| t["links"][0]["up"]["delay_ns"] = (-1).into(), "-1");
    refused(
        |t| t["links"][0]["up"]["loss"] = json!({"random": 1.5}),
        "access",
    );
    refused(|t| t["links"][0]["b"]["host"] = "serve".into(), "\"serve\"");
    refused(|t| t["links"][0]["b"]["address"] = "10.1.0.9".into(), "/30");
    refused(|t| t["links"][0]["b"]["address"] = "10.1".into(), "IPv4");
    refused(
        |t| {
            t["links"][0]["a"]["address"] = "127.0.0.1".into();
            t["links"][0]["b"]["address"] = "127.0.0.2".into();
        },
        "127.0.0.1",
    );
    refused(
        |t| t["links"][0]["up"]["delay_ns"] = (1u64 << 63).into(),
        "delay_ns is 9223372036854775808: a time is at most",
    );
    for window in [0, 1001] {
        let tcp = json!({"initial_window": window});
        refused(move |t| t["tcp"] = tcp.clone(), "1 to 1000 packets");
    }
    for least in [0u64, 1_500_000, 61_000_000_000] {
        let tcp = json!({"min_rto_ns": least});
        refused(move |t| t["tcp"] = tcp.clone(), "whole milliseconds");
    }
    for most in [1251, 1449] {
        let tcp = json!({"max_payload": most});
        refused(move |t| t["tcp"] = tcp.clone(), "1252 to 1448 bytes");
    }
    refused(|t| t["roles"][0]["timeout_ns"] = u64::MAX.into(), "timeout");
    refused(|t| t["roles"][0]["env"] = json!({"A": "\0"}), "NUL");
    refused(
        |t| t["roles"][0]["name"] = "x".repeat(101).into(),
        "at most 100",
    );
    refused(
        |t| {
            t["clock"] = "virtual".into();
            t["start_unix_ns"] = u64::MAX.into();
        },
        "start_unix_ns",
    );
    refused(|t| t["links"][0]["kind"] = "veth".into(), "unshaped");
    refused(
        |t| {
            let ends = ["a", "b"].map(|end| t["links"][0][end].clone());
            t["links"][0] =
                json!({"name": "x", "kind": "veth", "a": ends[0], "b": ends[1], "packets": 1});
        },
        "only an emulated link",
    );
    refused(
        |t| {
            t["links"][0]["name"] = "../x".into();
            t["links"][0]["packets"] = 1.into();
        },
        "file name",
    );
    refused(|t| t["roles"] = json!([]), "exactly one");
    refused(|t| t["roles"][0]["name"] = "../x".into(), "file name");
    refused(
        |t| t["roles"][0]["command"] = json!(["h123-no-such-command"]),
        "does not exist",
    );
    refused(|t| t["roles"][0]["command"] = json!([]), "empty");
    refused(
        |t| {
            let mut second = t["roles"][0].clone();
            second["name"] = "second".into();
            t["roles"].as_array_mut().unwrap().push(second);
        },
        "exactly one",
    );
}

#[test]
fn unreadable_files_are_refused() {
    let bench = Bench::new();
    let run = |file: &str| {
        let output = lab()
            .args(["run", file, "--out"])
            .arg(bench.dir.join("out"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    assert!(run("/h123/no/such/file").contains("No such file"));
    let broken = bench.file("broken.json", "{\"h123\": ");
    assert!(run(broken.to_str().unwrap()).contains("is not a trial"));
}

#[test]
fn a_full_disk_is_said() {
    let bench = Bench::new();
    let file = bench.file(
        "trial.json",
        &trial(direction(1), Value::Null, "cat /dev/zero > filler").to_string(),
    );
    // A tiny file system in a mount namespace of its own, for the output folder.
    let script = "mkdir \"$1/out\" && mount -t tmpfs -o size=64k tmpfs \"$1/out\" && exec \"$2\" run \"$3\" --out \"$1/out\"";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .args([
            &bench.dir,
            std::path::Path::new(env!("CARGO_BIN_EXE_h123-lab")),
            &file,
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("No space left"),
        "{}",
        stderr(&output)
    );
}

/// What a trial's refusal says, and what `doctor` does, where `/dev/net` is a tmpfs of the test's own with these mount
/// options and the device as `mknod` then makes it (none: it is missing), for user `uid`.
fn with_tun(options: &str, device: Option<&str>, uid: u32) -> (Option<i32>, String, Value) {
    let bench = Bench::new();
    let trial = trial(direction(1), Value::Null, "true");
    let file = bench.file("trial.json", &trial.to_string());
    let script = "set -e; mount -t tmpfs -o $1 tmpfs /dev/net; test -z \"$2\" || mknod -m $2 /dev/net/tun c 10 200
        cd \"$4\"; cp \"$6\" lab; chmod -R a+rwX .
        as='setpriv --reuid '$3' --regid '$3' --clear-groups'
        $as ./lab doctor --json >doctor.json || true; exec $as ./lab run \"$5\" --out out";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh", options])
        .args([device.unwrap_or_default(), &uid.to_string()])
        .args([
            &bench.dir,
            &file,
            std::path::Path::new(env!("CARGO_BIN_EXE_h123-lab")),
        ])
        .output()
        .unwrap();
    let found = std::fs::read(bench.dir.join("doctor.json")).unwrap_or_default();
    let findings: Value =
        serde_json::from_slice(&found).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    let all = findings.as_array().unwrap();
    let tun = all.iter().find(|f| f["name"] == "tun").unwrap().clone();
    (output.status.code(), stderr(&output), tun)
}

#[test]
fn without_root_it_says_so_whoever_may_open_the_device() {
    // As a kernel makes it, as distributions' packages make it, and not there at all.
    for device in [Some("600"), Some("666"), None] {
        let (status, said, tun) = with_tun("mode=755", device, 65534);
        assert_eq!(status, Some(3), "{said}");
        assert!(
            said.contains("sudo") && !said.contains("modprobe"),
            "{said}"
        );
        assert!(tun["remedy"].as_str().unwrap().contains("sudo"), "{tun}");
    }
}

#[test]
fn a_device_that_root_alone_may_open_is_enough() {
    let (status, said, tun) = with_tun("mode=755", Some("600"), 0);
    assert_eq!((status, &tun["ok"]), (Some(0), &true.into()), "{said}{tun}");
}

#[test]
fn a_missing_device_and_one_that_is_not_handed_on_have_different_cures() {
    let closed = "even by root";
    for (options, device, what, cure) in [
        ("mode=755", None, "is missing", "modprobe tun"),
        (
            "nodev,mode=755",
            Some("600"),
            closed,
            "--device /dev/net/tun",
        ),
    ] {
        let (status, said, tun) = with_tun(options, device, 0);
        assert_eq!(status, Some(3), "{said}");
        assert!(said.contains(what) && said.contains(cure), "{said}");
        assert!(tun["detail"].as_str().unwrap().contains(what), "{tun}");
        assert!(tun["remedy"].as_str().unwrap().contains(cure), "{tun}");
    }
}

//! `exec` and `doctor`, as a person uses them.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{Bench, lab, stderr};
use serde_json::{Value, json};

#[test]
fn output_input_and_status_of_the_client_pass_through() {
    let bench = Bench::new();
    let link = json!({"kind": "emulated", "up": {"delay_ns": 10_000_000}});
    let json = bench.dir.join("link-report.json");
    let arguments = [
        "--json",
        json.to_str().unwrap(),
        "--server",
        "echo serving on $H123_SERVER; exec python3 -m http.server 8000",
        "--client",
        "cat; echo to $H123_SERVER; python3 -c 'import urllib.request as u; u.urlopen(\"http://10.1.0.2:8000/\")'; exit 7",
    ];
    let mut command = bench.exec(&link, &arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\nto 10.1.0.2\n");
    assert!(stderr(&output).contains("serving on 10.1.0.2"), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert!(report["directions"]["up"]["packets_in"].as_u64().unwrap() > 3);
}

#[test]
fn a_server_that_fails_is_said_and_the_client_does_not_run() {
    let bench = Bench::new();
    let output =
        bench.exec(&json!({"kind": "veth"}), &["--server", "exit 9", "--client", "echo ran"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(stderr(&output).contains("server-exited"), "{}", stderr(&output));
}

#[test]
fn the_congestion_controller_reaches_the_client() {
    let bench = Bench::new();
    let client = "python3 -c 'import socket as s\nc = s.create_connection((\"10.1.0.2\", 8000))\nprint(c.getsockopt(s.IPPROTO_TCP, s.TCP_CONGESTION, 16).strip(b\"\\0\").decode())'";
    for name in ["cubic", "reno"] {
        let arguments = ["--congestion", name, "--server", "exec python3 -m http.server 8000", "--client", client];
        let output = bench.exec(&json!({"kind": "veth"}), &arguments).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), name, "{}", stderr(&output));
    }
}

#[test]
fn a_bad_link_is_refused() {
    let bench = Bench::new();
    let output = bench
        .exec(&json!({"kind": "emulated", "name": "x"}), &["--server", "true", "--client", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("name"), "{}", stderr(&output));
}

#[test]
fn doctor_says_what_can_be_done() {
    let output = lab().args(["doctor", "--json"]).output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = findings.as_array().unwrap();
    assert!(findings.iter().any(|f| f["name"] == "tun" && f["ok"] == true), "{findings:?}");
    assert!(findings.iter().all(|f| f["ok"] == true || !f["remedy"].as_str().unwrap().is_empty()));
}

#[test]
fn what_the_commands_add_to_tmp_goes_with_the_lab_but_the_report_stays() {
    let bench = Bench::new();
    let stray = std::path::Path::new("/tmp").join(format!("{}-stray", bench.word));
    let json = std::path::Path::new("/tmp").join(format!("{}.json", bench.word));
    let client = format!("touch {0} && test -e {0}", stray.display());
    let arguments = ["--server", "sleep 5", "--client", &client, "--json"];
    let mut command = bench.exec(&json!({"kind": "veth"}), &arguments);
    let status = command.arg(&json).status().unwrap();
    let report = std::fs::read(&json).unwrap_or_default();
    let _ = std::fs::remove_file(&json);
    assert!(status.success() && !stray.exists());
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["kind"], "veth");
}

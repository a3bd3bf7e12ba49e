//! What is refused before a trial begins: bad trials, files and machines, each with the reason.

mod common;

use std::process::Command;

use common::{Bench, direction, lab, stderr, trial};
use serde_json::{Value, json};

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
    refused(|t| t["links"][0]["up"]["loss"] = json!({"random": 1.5}), "access");
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
    refused(|t| t["roles"][0]["name"] = "x".repeat(101).into(), "at most 100");
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
            t["links"][0] = json!({"name": "x", "kind": "veth", "a": ends[0], "b": ends[1], "packets": 1});
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
    refused(|t| t["roles"][0]["command"] = json!(["h123-no-such-command"]), "does not exist");
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
        let output = lab().args(["run", file, "--out"]).arg(bench.dir.join("out")).output().unwrap();
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
    let file = bench.file("trial.json", &trial(direction(1), Value::Null, "cat /dev/zero > filler").to_string());
    // A tiny file system in a mount namespace of its own, for the output folder.
    let script =
        "mkdir \"$1/out\" && mount -t tmpfs -o size=64k tmpfs \"$1/out\" && exec \"$2\" run \"$3\" --out \"$1/out\"";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .args([&bench.dir, std::path::Path::new(env!("CARGO_BIN_EXE_h123-lab")), &file])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
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
        .args([&bench.dir, &file, std::path::Path::new(env!("CARGO_BIN_EXE_h123-lab"))])
        .output()
        .unwrap();
    let found = std::fs::read(bench.dir.join("doctor.json")).unwrap_or_default();
    let findings: Value = serde_json::from_slice(&found).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    let all = findings.as_array().unwrap();
    let tun = all.iter().find(|f| f["name"] == "tun").unwrap().clone();
    (output.status.code(), stderr(&output), tun)
}

#[test]
fn a_user_needs_a_device_that_is_open_to_all() {
    for (device, help) in [(Some("600"), "chmod 666"), (None, "modprobe tun")] {
        let (status, said, tun) = with_tun("mode=755", device, 65534);
        assert_eq!(status, Some(3), "{said}");
        assert!(said.contains(help), "{said}");
        assert!(tun["remedy"].as_str().unwrap().contains(help), "{tun}");
    }
    let (status, said, _) = with_tun("mode=755", Some("666"), 65534);
    let refused = status == Some(3) && said.contains("cannot create namespaces");
    assert!(status == Some(0) || refused, "{said}");
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
        ("nodev,mode=755", Some("600"), closed, "--device /dev/net/tun"),
    ] {
        let (status, said, tun) = with_tun(options, device, 0);
        assert_eq!(status, Some(3), "{said}");
        assert!(said.contains(what) && said.contains(cure), "{said}");
        assert!(tun["detail"].as_str().unwrap().contains(what), "{tun}");
        assert!(tun["remedy"].as_str().unwrap().contains(cure), "{tun}");
    }
}

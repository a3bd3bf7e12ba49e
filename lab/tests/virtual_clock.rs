//! The virtual clock from outside, with programs that stand in for the kernel; tests/cli runs real ones.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use common::{Bench, codes, direction, signal, stderr, trial, wait_until};
use serde_json::{Value, json};

fn virtual_trial() -> Value {
    let mut trial = trial(direction(1), Value::Null, "true");
    trial["clock"] = "virtual".into();
    trial
}

/// A shell script in the place of a kernel: its standard output is the console, descriptor 3 takes the time.
fn kernel(bench: &Bench, script: &str) -> PathBuf {
    let path = bench.file("linux", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn boot(bench: &Bench, script: &str) -> Command {
    let mut command = bench.run_command(&virtual_trial());
    command.arg("--kernel").arg(kernel(bench, script));
    command
}

fn reason(report: &Value) -> &str {
    report["reasons"][0]["detail"].as_str().unwrap()
}

#[test]
fn clock_and_kernel_belong_together() {
    let bench = Bench::new();
    let output = bench.run_command(&virtual_trial()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--kernel"), "{}", stderr(&output));

    let wall = trial(direction(1), Value::Null, "true");
    let mut command = bench.run_command(&wall);
    let output = command.arg("--kernel").arg("/bin/true").output().unwrap();
    assert_eq!(output.status.code(), Some(2));

    let mut wall = wall;
    wall["start_unix_ns"] = 1.into();
    let output = bench.run_command(&wall).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("start_unix_ns"), "{}", stderr(&output));
}

#[test]
fn the_report_says_the_clock() {
    let bench = Bench::new();
    let report = bench.run(&trial(direction(1), Value::Null, "true"));
    assert_eq!(report["clock"], "wall");
    bench.run_command(&virtual_trial());
    boot(&bench, "exit 1").output().unwrap();
    assert_eq!(bench.report()["clock"], "virtual");
}

#[test]
fn a_kernel_that_dies_is_a_failed_trial_with_its_last_words() {
    let bench = Bench::new();
    let output = boot(&bench, "echo 'Kernel panic: no init'; exit 134").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = bench.report();
    assert_eq!(codes(&report), ["setup-failed"]);
    assert!(reason(&report).contains("Kernel panic: no init"), "{report}");
    assert!(reason(&report).contains("134"), "{report}");
}

#[test]
fn a_kernel_that_powers_off_without_an_outcome_says_all_that_is_known() {
    let bench = Bench::new();
    let inside = "printf '1500000000 7\\r\\n' >&3; sleep 0.1; echo 'reboot: Power down'; \
                  echo 'out of memory' > /tmp/.h123-virtual/complaints";
    boot(&bench, inside).output().unwrap();
    let report = bench.report();
    assert_eq!(codes(&report), ["setup-failed"]);
    for known in ["exit status: 0", "at 1.500 s", "No such file", "reboot: Power down | out of memory"] {
        assert!(reason(&report).contains(known), "{known}: {report}");
    }
}

#[test]
fn status_and_complaints_of_the_trial_inside_come_out() {
    let bench = Bench::new();
    let inside = "cd /tmp/.h123-virtual; echo 'no such thing' > complaints; echo '{\"Ok\": 3}' > outcome.json";
    let output = boot(&bench, inside).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("no such thing"));
    assert!(!std::path::Path::new("/tmp/.h123-virtual").exists());
}

#[test]
fn why_the_trial_inside_did_not_run_comes_out() {
    let bench = Bench::new();
    let inside = "echo '{\"Err\": \"mounting /proc\"}' > /tmp/.h123-virtual/outcome.json";
    let output = boot(&bench, inside).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(codes(&bench.report()), ["setup-failed"]);
    assert_eq!(reason(&bench.report()), "mounting /proc");
}

#[test]
fn signs_that_nobody_has_read_yet_hide_no_outcome() {
    let bench = Bench::new();
    let inside = "echo '{\"Ok\": 3}' > /tmp/.h123-virtual/outcome.json; yes '20000000 7' | head -n 6000 >&3";
    let output = boot(&bench, inside).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn the_kernel_gets_the_time_of_day_and_nothing_of_ours() {
    let bench = Bench::new();
    let mut trial = virtual_trial();
    trial["start_unix_ns"] = json!(1_700_000_000_000_000_000u64);
    let kernel = kernel(&bench, "echo \"$@\"; env; exit 1");
    let mut command = bench.run_command(&trial);
    command.arg("--kernel").arg(kernel).env("H123_SECRET", "x");
    command.output().unwrap();
    // The last five lines of the console are in the reason.
    let report = bench.report();
    assert!(reason(&report).contains("time-travel-start=1700000000000000000"), "{report}");
    assert!(reason(&report).contains("TMPDIR=/tmp"), "{report}");
    assert!(!reason(&report).contains("H123_SECRET"), "{report}");
}

#[test]
fn whatever_ends_it_the_kernel_ends_too() {
    for number in [libc::SIGKILL, libc::SIGTERM] {
        let bench = Bench::new();
        let script = format!("sh -c '{}' & {}", bench.lasting(), bench.lasting());
        let mut child = bench.start(boot(&bench, &script), 1);
        let namespaces = bench.namespaces();
        signal(&child, number);
        let status = child.wait().unwrap();
        wait_until("the kernel to be gone", || bench.processes().is_empty());
        bench.assert_gone(&namespaces);
        if number == libc::SIGTERM {
            assert_eq!(status.code(), Some(128 + number));
            assert_eq!(codes(&bench.report()), ["interrupted"]);
        }
    }
}

//! Whatever ends the lab, nothing of it is left.

mod common;

use std::process::{Command, Stdio};

use common::{Bench, codes, direction, service, signal, stderr, trial, wait_until};
use serde_json::json;

/// A trial whose two roles last.
fn lasting(bench: &Bench) -> Command {
    let server = service(&format!("echo up; {}", bench.lasting()), json!({"line": "up"}));
    bench.run_command(&trial(direction(1), server, &bench.lasting()))
}

#[test]
fn kill_9_leaves_nothing() {
    let bench = Bench::new();
    let mut child = bench.start(lasting(&bench), 2);
    let namespaces = bench.namespaces();
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    bench.assert_gone(&namespaces);
}

#[test]
fn an_interrupt_leaves_a_report_and_nothing_else() {
    for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let bench = Bench::new();
        let mut child = bench.start(lasting(&bench), 2);
        let namespaces = bench.namespaces();
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), Some(128 + number));
        assert_eq!(codes(&bench.report()), ["interrupted"]);
        bench.assert_gone(&namespaces);
    }
}

#[test]
fn a_second_interrupt_does_not_wait_for_a_stubborn_server() {
    let bench = Bench::new();
    let asked = bench.dir.join("out/asked");
    let stubborn = format!("trap 'touch asked' TERM; echo up; while :; do {{ {}; }} & wait $!; done", bench.lasting());
    let mut server = service(&stubborn, json!({"line": "up"}));
    server["stop_timeout_ns"] = 60_000_000_000u64.into();
    let mut child = bench.start(bench.run_command(&trial(direction(1), server, &bench.lasting())), 2);
    signal(&child, libc::SIGINT);
    // Two of a kind at once would be one.
    wait_until("the server to be asked", || asked.exists());
    signal(&child, libc::SIGINT);
    wait_until("the lab to end", || bench.processes().is_empty());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn it_can_follow_its_parent() {
    let bench = Bench::new();
    let lab = lasting(&bench);
    let arguments: Vec<_> = std::iter::once(lab.get_program()).chain(lab.get_args()).collect();
    let mut parent = Command::new("sh");
    parent.args(["-c", "\"$@\" --die-with-parent & wait", "sh"]).args(arguments);
    let mut child = bench.start(parent, 2);
    let namespaces = bench.namespaces();
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    bench.assert_gone(&namespaces);
}

/// As the kernel does when memory runs out.
#[test]
fn a_killed_inner_lab_is_said_and_leaves_nothing() {
    let bench = Bench::new();
    let mut lab = lasting(&bench);
    lab.stderr(Stdio::piped());
    let child = bench.start(lab, 2);
    let namespaces = bench.namespaces();
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let inner: i32 = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
    // SAFETY: a child of the lab, which waits for it.
    assert_eq!(unsafe { libc::kill(inner, libc::SIGKILL) }, 0);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + libc::SIGKILL));
    let said = stderr(&output);
    assert!(said.contains("the inner lab was killed by signal 9") && said.contains("memory"), "{said}");
    assert!(!bench.dir.join("out/report.json").exists());
    bench.assert_gone(&namespaces);
}

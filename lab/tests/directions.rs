//! `directions.json`: what a network's file may say of a direction, beside what the lab then reads. What the lab refuses
//! `h123 plan` must refuse, or a campaign could never end; its side of the table is tested in tests/study/test_networks.py.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::lab;
use serde_json::{Value, json};

/// Null for each trial that `run` would take, otherwise why not.
fn refusals(trials: &[Value]) -> Vec<Value> {
    let mut child = lab()
        .arg("validate")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = trials.iter().map(|trial| format!("{trial}\n")).collect();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
    let answers = child.wait_with_output().unwrap().stdout;
    let answers = String::from_utf8(answers).unwrap();
    let refusals = answers.lines().map(serde_json::from_str);
    refusals.collect::<Result<_, _>>().unwrap()
}

fn trial(direction: &Value) -> Value {
    let end = |host: &str, address: &str| json!({"host": host, "address": address});
    let (a, b) = (end("client", "10.1.0.1"), end("server", "10.1.0.2"));
    json!({
        "h123": "trial/1", "id": "validated", "seed": 1, "hosts": ["client", "server"],
        "links": [{"name": "access", "kind": "emulated", "a": a, "b": b, "up": direction, "down": direction}],
        "roles": [{"name": "client", "host": "client", "kind": "main", "command": ["/bin/true"]}]
    })
}

#[test]
fn the_lab_takes_what_the_plan_takes() {
    let table: Vec<Value> = serde_json::from_str(include_str!("directions.json")).unwrap();
    let trials: Vec<Value> = table.iter().map(|case| trial(&case["direction"])).collect();
    let refusals = refusals(&trials);
    assert_eq!(refusals.len(), table.len());
    for (case, refusal) in table.iter().zip(refusals) {
        let planned = case["line"].is_null();
        let taken = planned || case["lab"] == "takes";
        assert_eq!(refusal.is_null(), taken, "{case}: {refusal}");
    }
}

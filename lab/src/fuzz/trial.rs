//! Any file instead of a trial.json: no panic; and of one that is accepted, everything can be made that needs no machine: the
//! links, and the trains that check them, all of a bounded size and time.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::numbers::any_number;
use super::{Input, corpus, fuzz};
use crate::check::link_check::courses;
use crate::check::train::{MTU, SMALLEST, flood, overload, pulse};
use crate::check::train_check::{LONGEST_NS, plan};
use crate::files::roots::Roots;
use crate::files::trial::{LinkKind, Trial};
use crate::link::course::Course;

/// More packets than the longest train has.
const MOST_PACKETS: usize = 20_000;

#[derive(Debug, Clone)]
struct Text(String);

impl Input for Text {
    fn read(text: &str) -> Self {
        Self(text.into())
    }

    fn write(&self) -> String {
        self.0.clone()
    }
}

/// What is done to a trial, at a place that is counted over all values in it.
#[derive(Debug, Clone)]
enum Mutation {
    Replace(Index, Value),
    Remove(Index),
    /// Takes the place of another.
    Copy(Index, Index),
    /// A field or an element more.
    Add(Index, &'static str, Value),
}

/// What is done to its text.
#[derive(Debug, Clone)]
enum Slip {
    Byte(Index, u8),
    Cut(Index),
    Twice(Index, Index),
}

const FIELDS: [&str; 27] = [
    "ahead_ns",
    "at_ns",
    "blackouts",
    "bps",
    "bytes",
    "changes",
    "clock",
    "cross",
    "delay_ns",
    "duplicate",
    "gilbert_elliott",
    "jitter",
    "loss",
    "ns",
    "opportunity_bytes",
    "packets",
    "queue",
    "random",
    "rate",
    "ready",
    "reorder",
    "retransmission",
    "start_unix_ns",
    "tcp",
    "tcp_account",
    "trace_ms",
    "udp",
];

fn any_trial() -> impl Strategy<Value = Text> {
    let seeds: Vec<Value> = corpus("trial").iter().filter_map(|(_, text)| serde_json::from_str(text).ok()).collect();
    let mutations = prop::collection::vec(any_mutation(), 0..5);
    let slips = prop_oneof![4 => Just(vec![]), 1 => prop::collection::vec(any_slip(), 1..4)];
    (prop::sample::select(seeds), mutations, slips).prop_map(|(mut trial, mutations, slips)| {
        mutations.iter().for_each(|mutation| mutate(&mut trial, mutation));
        let mut text = trial.to_string().into_bytes();
        slips.iter().for_each(|slip| slip_in(&mut text, slip));
        Text(String::from_utf8_lossy(&text).into_owned())
    })
}

fn any_mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<Index>;
    prop_oneof![
        6 => (place(), any_value()).prop_map(|(at, value)| Mutation::Replace(at, value)),
        1 => place().prop_map(Mutation::Remove),
        1 => (place(), place()).prop_map(|(from, to)| Mutation::Copy(from, to)),
        2 => (place(), prop::sample::select(&FIELDS[..]), any_value())
            .prop_map(|(at, field, value)| Mutation::Add(at, field, value)),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(
        &[
            "",
            "\0",
            "..",
            "a",
            "client",
            "server",
            "10.1.0.1",
            "127.0.0.1",
            "emulated",
            "veth",
            "virtual",
            "drop",
            "normal",
        ][..],
    );
    prop_oneof![
        6 => any_number().prop_map(Value::from),
        2 => prop_oneof![Just(0.0), Just(1.0), -1.0..2.0, any::<f64>()].prop_map(Value::from),
        2 => word.prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => prop_oneof![Just(Value::Null), Just(json!([])), Just(json!({})), Just(json!(true))],
        1 => prop::collection::vec(any_number(), 0..5).prop_map(Value::from),
        1 => any_number().prop_map(|n| json!({"bps": n})),
        1 => any_number().prop_map(|n| json!({"packets": n})),
        1 => any_number().prop_map(|n| json!({"trace_ms": [0, n]})),
    ]
}

fn any_slip() -> impl Strategy<Value = Slip> {
    let place = any::<Index>;
    prop_oneof![
        4 => (place(), any::<u8>()).prop_map(|(at, byte)| Slip::Byte(at, byte)),
        1 => place().prop_map(Slip::Cut),
        1 => (place(), place()).prop_map(|(from, to)| Slip::Twice(from, to)),
    ]
}

fn mutate(trial: &mut Value, mutation: &Mutation) {
    match mutation {
        Mutation::Replace(at, value) => *find(trial, at) = value.clone(),
        Mutation::Copy(from, to) => {
            let value = find(trial, from).clone();
            *find(trial, to) = value;
        }
        Mutation::Remove(at) => match find(trial, at) {
            Value::Object(fields) => {
                let first = fields.keys().next().cloned();
                first.and_then(|name| fields.remove(&name));
            }
            Value::Array(items) => drop(items.pop()),
            other => *other = Value::Null,
        },
        Mutation::Add(at, field, value) => match find(trial, at) {
            Value::Object(fields) => drop(fields.insert((*field).into(), value.clone())),
            Value::Array(items) => items.push(value.clone()),
            other => *other = value.clone(),
        },
    }
}

/// One of all values in a trial, itself included.
fn find<'a>(trial: &'a mut Value, at: &Index) -> &'a mut Value {
    let wanted = at.index(size(trial));
    nth(trial, wanted)
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Object(fields) => fields.values().map(size).sum(),
        Value::Array(items) => items.iter().map(size).sum(),
        _ => 0,
    }
}

/// Counted from the value itself, depth first.
fn nth(value: &mut Value, wanted: usize) -> &mut Value {
    let Some(mut left) = wanted.checked_sub(1) else {
        return value;
    };
    let parts: Vec<&mut Value> = match value {
        Value::Object(fields) => fields.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => vec![],
    };
    for part in parts {
        let size = size(part);
        if left < size {
            return nth(part, left);
        }
        left -= size;
    }
    unreachable!("fewer values than there are")
}

fn slip_in(text: &mut Vec<u8>, slip: &Slip) {
    if text.is_empty() {
        return;
    }
    match slip {
        Slip::Byte(at, byte) => {
            let at = at.index(text.len());
            text[at] = *byte;
        }
        Slip::Cut(at) => text.truncate(at.index(text.len())),
        Slip::Twice(from, to) => {
            let (from, to) = (from.index(text.len()), to.index(text.len()));
            let part = text[from.min(to)..from.max(to)].to_vec();
            text.splice(to..to, part);
        }
    }
}

fn test(text: &Text) {
    let Ok(trial) = Trial::parse(&text.0, &Roots::none(Path::new("/"))) else {
        return;
    };
    for link in trial.links.iter().filter(|l| l.kind == LinkKind::Emulated) {
        let course = Course::new(link.directions(), trial.seed, &link.name);
        let base = course.without_events();
        let [checked, bare] = courses(&base);
        for way in [0, 1] {
            course.path(way);
            base.path(way);
            check(&checked, way);
            check(&bare, way);
        }
    }
}

/// What a check would send.
fn check(course: &Course, way: usize) {
    let direction = course.direction(way);
    let trains = [Some(pulse(direction)), overload(direction), flood(direction)];
    for train in trains.into_iter().flatten() {
        assert!((1..=MOST_PACKETS).contains(&train.offsets_ns.len()));
        assert!((SMALLEST..=MTU).contains(&train.bytes) && train.offsets_ns.is_sorted());
        if let Ok(train) = plan(course, way, train) {
            assert!(train.takes_ns() <= LONGEST_NS);
        }
    }
}

#[test]
fn trials() {
    fuzz("trial", 4000, any_trial(), test);
}

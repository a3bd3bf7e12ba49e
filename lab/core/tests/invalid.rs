//! What the file may say, and what is said to who writes something else.

mod common;

use h123_link::{Direction, Path, Rate, Udp};

fn refusal(json: &str) -> String {
    let direction: Direction = serde_json::from_str(json).unwrap();
    direction.validate().unwrap_err().to_string()
}

#[test]
fn each_refusal_names_the_field_the_value_and_what_is_allowed() {
    let chain = |text: &str| format!(r#"{{"loss": {{"gilbert_elliott": {text}}}}}"#);
    for (json, parts) in [
        (r#"{"loss": {"random": 1.5}}"#, ["loss.random is 1.5", "from 0 to 1"]),
        (r#"{"loss": {"random": -0.1}}"#, ["loss.random is -0.1", "from 0 to 1"]),
        (&chain(r#"{"p": 2, "r": 0.5}"#), ["gilbert_elliott.p is 2.0", "from 0 to 1"]),
        (&chain(r#"{"p": 0.1, "r": 0}"#), ["gilbert_elliott.r is 0.0", "more than 0"]),
        (&chain(r#"{"p": 0.1, "r": 0.1, "loss_bad": 7}"#), ["loss_bad is 7.0", "from 0 to 1"]),
        (&chain(r#"{"p": 0.1, "r": 0.1, "loss_good": 7}"#), ["loss_good is 7.0", "from 0 to 1"]),
        (r#"{"duplicate": 3}"#, ["duplicate is 3.0", "from 0 to 1"]),
        (r#"{"policer": {"bps": 0, "burst_bytes": 1500}}"#, ["policer.bps is 0", "at least 1"]),
        (r#"{"policer": {"bps": 9, "burst_bytes": 1499}}"#, ["policer.burst_bytes is 1499", "full size"]),
        (r#"{"mtu": {"bytes": 575}}"#, ["mtu.bytes is 575", "from 576"]),
        (r#"{"changes": [{"at_ns": 1, "mtu": {"bytes": 65536}}]}"#, ["changes[0].mtu.bytes is 65536", "to 65535"]),
        (r#"{"aggregation": {"every_ns": 0}}"#, ["aggregation.every_ns is 0", "from 1"]),
        (r#"{"aggregation": {"every_ns": 5, "spread_ns": 6}}"#, ["aggregation.spread_ns is 6", "from 0 to 5"]),
        (r#"{"rate": {"bps": 0}}"#, ["rate.bps is 0", "at least 1"]),
        (r#"{"rate": {"bps": 1000000000000001}}"#, ["rate.bps is 1000000000000001", "at most"]),
        (r#"{"delay_ns": 9223372036854775808}"#, ["delay_ns is 9223372036854775808", "115 days"]),
        (r#"{"rate": {"trace_ms": [1152921504606846976]}}"#, ["rate.trace_ms is", "115 days"]),
        (
            r#"{"rate": {"bps": 9}, "queue": {"packets": 18446744073709551615}}"#,
            ["queue.packets is 18446744073709551615", "at most"],
        ),
        (
            r#"{"rate": {"bps": 9}, "queue": {"ns": 18446744073709551615}}"#,
            ["queue.ns is 18446744073709551615", "at most"],
        ),
        (r#"{"blackouts": [{"from_ns": 1, "to_ns": 18446744073709551615}]}"#, ["blackouts[0].to_ns is", "115 days"]),
        (r#"{"changes": [{"at_ns": 18446744073709551615, "udp": "drop"}]}"#, ["changes[0].at_ns is", "115 days"]),
        (r#"{"udp": {"limit": 0}}"#, ["udp.limit is 0", "none is `drop`"]),
        (
            r#"{"changes": [{"at_ns": 1, "udp": {"limit": 18446744073709551615}}]}"#,
            ["changes[0].udp.limit is", "at most"],
        ),
        (r#"{"loss": {"packets": [3, 18446744073709551615]}}"#, ["loss.packets is 18446744073709551615", "at most"]),
        (r#"{"rate": {"trace_ms": []}}"#, ["rate.trace_ms is []", "at least one"]),
        (r#"{"rate": {"trace_ms": [0]}}"#, ["rate.trace_ms is [0]", "after 0"]),
        (r#"{"rate": {"trace_ms": [1, 7, 5, 9]}}"#, ["rate.trace_ms is [7, 5]", "not decrease"]),
        (r#"{"rate": {"trace_ms": [1], "opportunity_bytes": 0}}"#, ["opportunity_bytes is 0", "at least 1"]),
        (r#"{"queue": {"bytes": 9000}}"#, ["queue is Bytes(9000)", "needs a rate"]),
        (r#"{"rate": {"bps": 9}, "queue": {"bytes": 99}}"#, ["queue.bytes is 99", "at least 1500"]),
        (r#"{"rate": {"bps": 9}, "queue": {"packets": 0}}"#, ["queue.packets is 0", "at least 1"]),
        (r#"{"blackouts": [{"from_ns": 5, "to_ns": 5}]}"#, ["blackouts[0]", "before to_ns"]),
        (
            r#"{"blackouts": [{"from_ns": 0, "to_ns": 9}, {"from_ns": 8, "to_ns": 10}]}"#,
            ["blackouts[1]", "must not overlap"],
        ),
        (
            r#"{"delay_ns": 9, "jitter": {"spread_ns": 10, "distribution": "normal"}}"#,
            ["jitter.spread_ns is 10", "9 ns"],
        ),
        (
            r#"{"delay_ns": 9, "jitter": {"spread_ns": 8, "distribution": "uniform"}, "changes": [{"at_ns": 0, "delay_ns": 2}]}"#,
            ["jitter.spread_ns is 8", "2 ns"],
        ),
        (r#"{"reorder": {"share": 0.1, "ahead_ns": 5}}"#, ["reorder is", "without delay"]),
        (r#"{"delay_ns": 9, "reorder": {"share": 9, "ahead_ns": 5}}"#, ["reorder.share is 9.0", "from 0 to 1"]),
        (r#"{"delay_ns": 9, "reorder": {"share": 0.1, "ahead_ns": 0}}"#, ["reorder.ahead_ns is 0", "more than 0"]),
        (r#"{"retransmission": {"share": 1.5, "delay_ns": 5}}"#, ["retransmission.share is 1.5", "from 0 to 1"]),
        (r#"{"retransmission": {"share": 0.1, "delay_ns": 0}}"#, ["retransmission.delay_ns is 0", "more than 0"]),
        (
            r#"{"changes": [{"at_ns": 5, "delay_ns": 1}, {"at_ns": 5, "delay_ns": 2}]}"#,
            ["changes[1].at_ns is 5", "in order of time"],
        ),
        (r#"{"changes": [{"at_ns": 5, "loss": {"random": 2}}]}"#, ["changes[0].loss.random is 2.0", "from 0 to 1"]),
        (r#"{"changes": [{"at_ns": 5, "rate": {"bps": 0}}]}"#, ["changes[0].rate.bps is 0", "at least 1"]),
        (r#"{"changes": [{"at_ns": 5}]}"#, ["changes[0]", "at least one of"]),
    ] {
        let message = refusal(json);
        for part in parts {
            assert!(message.contains(part), "{json}: {message:?} lacks {part:?}");
        }
    }
}

#[test]
fn a_file_with_unknown_or_mixed_fields_is_refused() {
    for (json, part) in [
        (r#"{"dealy_ns": 5}"#, "unknown field `dealy_ns`"),
        (r#"{"delay_ns": -5}"#, "invalid value: integer `-5`"),
        (r#"{"rate": {}}"#, "a rate is {"),
        (r#"{"rate": {"bps": 5, "trace_ms": [1]}}"#, "a rate is {"),
        (r#"{"rate": {"bps": 5, "opportunity_bytes": 1}}"#, "a rate is {"),
        (r#"{"rate": {"mbps": 5}}"#, "unknown field `mbps`"),
        (r#"{"loss": {"rate": 5}}"#, "unknown variant `rate`"),
        (r#"{"loss": {"gilbert_elliott": {"p": 0.1}}}"#, "missing field `r`"),
        (r#"{"udp": "deny"}"#, "unknown variant `deny`"),
        (r#"{"changes": [{"delay_ns": 5}]}"#, "missing field `at_ns`"),
        (r#"{"changes": [{"at_ns": 5, "jitter": null}]}"#, "unknown field `jitter`"),
    ] {
        let message = serde_json::from_str::<Direction>(json).unwrap_err().to_string();
        assert!(message.contains(part), "{json}: {message:?} lacks {part:?}");
    }
}

#[test]
fn a_full_direction_reads_and_writes_alike() {
    let json = r#"{"rate": {"trace_ms": [1, 2]}, "queue": {"ns": 50000000}, "loss": {"gilbert_elliott": {"p": 0.01, "r": 0.2}},
        "blackouts": [{"from_ns": 1000, "to_ns": 2000}], "duplicate": 0.001, "delay_ns": 15000000,
        "jitter": {"spread_ns": 5000000, "distribution": "normal"}, "reorder": {"share": 0.01, "ahead_ns": 10000000},
        "udp": "reject", "changes": [{"at_ns": 5000000000, "rate": {"bps": 2000000}, "udp": "pass"}]}"#;
    let direction = common::direction(json);
    assert_eq!(direction.rate, Some(Rate::Trace { trace_ms: vec![1, 2], opportunity_bytes: 1500 }));
    assert!(direction.jitter.unwrap().keep_order);
    assert_eq!(direction.changes[0].udp, Some(Udp::Pass));
    let written = serde_json::to_string(&direction).unwrap();
    assert_eq!(common::direction(&written), direction, "{written}");
}

#[test]
#[should_panic(expected = "a path needs a valid direction: duplicate is 2.0")]
fn no_path_is_made_of_an_invalid_direction() {
    Path::new(&Direction { duplicate: 2.0, ..Direction::default() }, 1);
}

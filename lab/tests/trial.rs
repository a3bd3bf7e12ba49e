//! Trials that work: what the network does, what the report says.

mod common;

use common::{Bench, SINK, codes, datagrams, direction, service, trial};
use serde_json::{Value, json};

fn sink() -> Value {
    service(SINK, json!({"udp": [9]}))
}

#[test]
fn a_client_fetches_over_the_link_and_the_report_says_how() {
    let bench = Bench::new();
    let server = service("exec python3 -m http.server 8000", json!({"tcp": [8000]}));
    let report = bench.run(&trial(
        direction(20),
        server,
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://10.1.0.2:8000/\").status)'",
    ));
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    assert_eq!(bench.log("client"), "200\n");
    assert_eq!(report["hosts"][0]["congestion"], "cubic");
    assert_eq!(report["hosts"][1]["congestion"], "cubic");
    let up = &report["links"][0]["directions"]["up"];
    let sum: u64 =
        ["delivered", "lost", "queue_dropped", "blocked", "in_flight"].iter().map(|k| up[k].as_u64().unwrap()).sum();
    assert_eq!(up["packets_in"].as_u64().unwrap(), sum);
    // Handshake and request are two round trips.
    assert!(report["phases_ns"]["main"].as_u64().unwrap() > 80_000_000);
    let roles = report["roles"].as_array().unwrap();
    for role in roles {
        let (cpu, whole) =
            (&role["cpu"], role["cpu"]["user_ns"].as_u64().unwrap() + role["cpu"]["system_ns"].as_u64().unwrap());
        assert!(
            cpu["main_ns"].as_u64().unwrap() > 0 && cpu["main_ns"].as_u64().unwrap() <= whole + 1_000_000,
            "{role}"
        );
        let over_time: Vec<(u64, u64)> = serde_json::from_value(cpu["main_over_time"].clone()).unwrap();
        assert!(over_time.is_sorted_by_key(|(at, _)| *at));
        assert_eq!(over_time.last().unwrap().1, cpu["main_ns"].as_u64().unwrap());
        assert!(over_time[0].0 >= report["main_began_ns"].as_u64().unwrap());
        assert!(role["max_rss_bytes"].as_u64().unwrap() > 1 << 20);
    }
    assert_eq!(roles[0]["pid_exit"], json!({"code": null, "signal": 15, "stopped": true}));
    let connections = |when: &str| report["hosts"][0]["counters"][when]["Tcp.ActiveOpens"].as_u64().unwrap_or(0);
    assert_eq!(connections("after") - connections("before"), 1);
}

#[test]
fn set_up_and_tear_down_take_less_than_half_a_second() {
    // Other work can only make it longer, so the shortest of several is its own.
    let phases = || {
        let report = Bench::new().run(&trial(direction(1), sink(), "true"));
        let phase = |name: &str| report["phases_ns"][name].as_u64().unwrap();
        phase("setup") + phase("teardown")
    };
    let shortest = (0..20).map(|_| phases()).find(|&ns| ns < 500_000_000);
    assert!(shortest.is_some(), "never in 20 trials");
}

#[test]
fn the_same_seed_loses_the_same_packets() {
    let lossy = json!({"loss": {"random": 0.1}});
    let drop_set = |seed: u64| {
        let bench = Bench::new();
        let mut trial = trial(lossy.clone(), sink(), &datagrams(300));
        trial["seed"] = seed.into();
        let report = bench.run(&trial);
        let up = report["links"][0]["directions"]["up"].clone();
        assert_eq!(up["packets_in"], 300);
        (up["lost"].as_u64().unwrap(), up["drop_set"].clone())
    };
    let first = drop_set(1);
    assert!(first.0 > 0);
    assert_eq!(first, drop_set(1));
    assert_ne!(first.1, drop_set(2).1);
}

#[test]
fn a_link_that_is_asked_to_keeps_a_record_of_each_packet() {
    let bench = Bench::new();
    let lossy = json!({"delay_ns": 20_000_000, "loss": {"packets": [3, 4]}});
    // A client that fails, and a check whose packets are not the trial's.
    let mut trial = trial(lossy, sink(), &format!("{} && exit 1", datagrams(300).replace("exec ", "")));
    trial["check"] = true.into();
    trial["links"][0]["packets"] = 250_000.into();
    let report = bench.run(&trial);
    assert_eq!(codes(&report), ["client-failed"]);
    let up = &report["links"][0]["directions"]["up"];
    let packets = bench.packets();
    assert_eq!((&up["packets_in"], packets.len()), (&json!(300), 300));
    let began = report["main_began_ns"].as_u64().unwrap();
    let time = |packet: &[u8], at: usize| u64::from_le_bytes(*packet[at..].first_chunk().unwrap());
    let short = |packet: &[u8], at: usize| u16::from_le_bytes(*packet[at..].first_chunk().unwrap());
    let mut in_flight = 0;
    for (index, packet) in packets.iter().enumerate() {
        // Way, protocol, first byte, fate.
        let lost = (index == 3 || index == 4) as u8;
        assert_eq!(packet[34..38], [0, 17, b'x', lost], "{index}");
        assert_eq!([26, 28, 32].map(|at| short(packet, at)), [100, 72, 9]);
        let (came, left) = (time(packet, 0), time(packet, 8));
        assert!(came >= began);
        if lost == 1 {
            assert_eq!(left, 0);
        } else if left == 0 {
            in_flight += 1;
        } else {
            assert!(left - came >= 20_000_000, "{came} {left}");
        }
    }
    assert_eq!(up["in_flight"], in_flight);
}

#[test]
fn blocked_udp_is_dropped_in_silence_or_rejected() {
    for (policy, complaint) in [("drop", ""), ("reject", "ConnectionRefusedError")] {
        let bench = Bench::new();
        let report = bench.run(&trial(json!({"udp": policy}), sink(), &datagrams(10)));
        assert_eq!(report["links"][0]["directions"]["up"]["blocked"].as_u64().map(|n| n > 0), Some(true));
        assert_eq!(bench.log("client").lines().next().unwrap_or(""), complaint, "{policy}");
    }
}

#[test]
fn a_check_finds_the_link_as_configured_and_leaves_the_trial_untouched() {
    let bench = Bench::new();
    let poor = json!({"delay_ns": 25_000_000, "rate": {"bps": 10_000_000}, "queue": {"bytes": 125_000}, "loss": {"random": 0.02},
                      "udp": "drop", "blackouts": [{"from_ns": 0, "to_ns": 1_000_000_000}]});
    let mut trial = trial(poor, sink(), "true");
    trial["check"] = true.into();
    let report = bench.run(&trial);
    let check = &report["links"][0]["check"];
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    assert_eq!((&check["passed"], &check["loss"]["up"]["sent"]), (&json!(true), &json!(1000)));
    assert_eq!(check["loss"]["up"]["lost"], check["loss"]["up"]["expected_lost"]);
    assert_eq!(report["links"][0]["directions"]["up"]["packets_in"], 0);
}

#[test]
fn parts_of_a_check_that_do_not_apply_are_null() {
    let bench = Bench::new();
    let mut trial = trial(direction(5), Value::Null, "true");
    trial["check"] = true.into();
    let check = bench.run(&trial)["links"][0]["check"].clone();
    assert_eq!(check["passed"], true, "{check}");
    assert_eq!(check["delay"]["down"]["probes"], 200);
    assert!(check["rate"]["up"].is_null() && check["loss"]["up"].is_null() && check["burst"]["up"].is_null());
}

#[test]
fn three_hosts_two_links_one_of_them_a_veth() {
    let bench = Bench::new();
    let mut trial = trial(direction(5), Value::Null, "true");
    trial["hosts"] = json!(["client", "server", "backend"]);
    trial["links"].as_array_mut().unwrap().push(json!({
        "name": "inside", "kind": "veth",
        "a": {"host": "server", "address": "10.2.0.1"}, "b": {"host": "backend", "address": "10.2.0.2"},
    }));
    let fetch = "python3 -c 'import urllib.request as u; u.urlopen(\"http://10.2.0.2:8000/\")'";
    let backend = json!({"name": "backend", "host": "backend", "kind": "service", "command": ["python3", "-m", "http.server", "8000"],
                         "ready": {"tcp": [8000]}});
    let main = json!({"name": "proxy", "host": "server", "kind": "main", "command": ["sh", "-c", fetch], "timeout_ns": 60_000_000_000u64});
    trial["roles"] = json!([backend, main]);
    let report = bench.run(&trial);
    assert_eq!(report["valid"], true, "{}", report["reasons"]);
    assert_eq!(report["hosts"][2]["congestion"], "cubic");
    assert!(report["links"][1]["directions"].is_null() && report["links"][1]["check"].is_null());
}

#[test]
fn a_queue_may_wait_for_a_rate_and_an_overtaking_for_a_delay() {
    let bench = Bench::new();
    let direction = json!({
        "queue": {"bytes": 9000}, "reorder": {"share": 0.5, "ahead_ns": 1000},
        "changes": [{"at_ns": 1_000_000, "rate": {"bps": 1_000_000}, "delay_ns": 5_000_000}],
    });
    let mut trial = trial(direction, Value::Null, "true");
    trial["check"] = true.into();
    let report = bench.run(&trial);
    assert_eq!(report["valid"], true, "{report}");
}

#[test]
fn a_link_too_slow_to_be_checked_is_said_and_not_waited_for() {
    for direction in [
        json!({"rate": {"bps": 1}, "queue": {"packets": 1_000_000}}),
        json!({"delay_ns": 3_600_000_000_000u64}),
        json!({"rate": {"trace_ms": [86_400_000]}, "queue": {"bytes": 9000}}),
    ] {
        let bench = Bench::new();
        let mut trial = trial(direction, Value::Null, "true");
        trial["check"] = true.into();
        let report = bench.run(&trial);
        assert_eq!(report["valid"], true, "{report}");
        let warning = &report["warnings"][0];
        assert_eq!(warning["code"], "link-unchecked", "{report}");
        let detail = warning["detail"].as_str().unwrap();
        assert!(detail.contains("access: up: delay"), "{detail}");
        assert!(report["links"][0]["check"]["delay"]["up"].is_null());
    }
}

/// From a raw socket, straight into the device: of any length, with the beginnings of IPv4 and UDP now and then.
#[test]
fn a_link_survives_whatever_is_sent_on_it() {
    let bench = Bench::new();
    let seed = std::process::id();
    println!("seed {seed}");
    let client = format!(
        "exec python3 -c '
import random, socket
r = random.Random({seed})
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
for i in range(20000):
    p = bytearray(r.randbytes(r.choice([1, 9, 19, 20, 27, 28, 60, 1500, r.randint(1, 1500)])))
    if r.random() < 0.5: p[0] = 0x40 | p[0] & 15
    if r.random() < 0.5 and len(p) > 9: p[9] = 17
    try: s.sendto(p, (\"h123-0\", 0x800))
    except OSError as e: pass
'"
    );
    let direction = json!({
        "udp": "reject", "duplicate": 0.1, "loss": {"random": 0.1}, "delay_ns": 100_000,
        "jitter": {"spread_ns": 100_000, "distribution": "normal", "keep_order": false},
    });
    let mut trial = trial(direction, Value::Null, &client);
    trial["links"][0]["packets"] = 250_000.into();
    let report = bench.run(&trial);
    assert_eq!(codes(&report), [""; 0], "{report}");
    let up = &report["links"][0]["directions"]["up"];
    let number = |name: &str| up[name].as_u64().unwrap();
    let recorded = bench.packets().into_iter().filter(|p| p[34] == 0);
    assert_eq!(recorded.count() as u64, number("packets_in"));
    let parts = ["delivered", "lost", "queue_dropped", "blocked", "in_flight"];
    assert_eq!(number("packets_in"), parts.map(number).iter().sum::<u64>(), "{up}");
    assert!(number("blocked") > 1000 && number("delivered") > 1000, "{up}");
}

/// As root can within its host.
#[test]
fn a_link_whose_device_is_taken_down_is_said() {
    let bench = Bench::new();
    let client = "exec python3 -c '
import fcntl, socket, struct, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b\"x\", (\"10.1.0.2\", 9))
fcntl.ioctl(s, 0x8914, struct.pack(\"16sh14x\", b\"h123-0\", 0))
time.sleep(0.1)
'";
    let report = bench.run(&trial(direction(50), Value::Null, client));
    assert_eq!(codes(&report), ["setup-failed"]);
    let detail = report["reasons"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("the link stopped: Input/output error"), "{detail}");
}

#[test]
fn a_root_is_found_by_its_name_whatever_its_path_is_and_nothing_of_it_stays() {
    use std::os::unix::fs::PermissionsExt;
    let (bench, mounted) = (Bench::new(), "/tmp/h123-roots");
    let odd = bench.dir.join("odd: ~ its=own");
    std::fs::create_dir(&odd).unwrap();
    let say = odd.join("say");
    std::fs::write(&say, "#!/bin/sh\nstat -c %a /tmp/h123-roots; cat \"$(dirname \"$0\")/word\"\n").unwrap();
    std::fs::set_permissions(&say, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(odd.join("word"), "found").unwrap();
    let mut carried = trial(direction(1), Value::Null, "");
    carried["roles"][0]["command"] = json!([format!("{mounted}/files/say")]);
    let run = |roots: &[String]| {
        let mut command = bench.run_command(&carried);
        for root in roots {
            command.arg("--root").arg(root);
        }
        // SAFETY: a system call alone.
        unsafe {
            std::os::unix::process::CommandExt::pre_exec(&mut command, || {
                libc::umask(0o077);
                Ok(())
            });
        }
        command.output().unwrap()
    };
    let output = run(&[format!("files={}", odd.display())]);
    assert!(output.status.success(), "{}", common::stderr(&output));
    assert_eq!(codes(&bench.report()), [""; 0]);
    assert_eq!(bench.log("client"), "755\nfound");
    for (roots, said) in [(vec![], "does not exist"), (vec!["files=/nowhere".into()], "root files")] {
        let output = run(&roots);
        assert_eq!(output.status.code(), Some(2));
        assert!(common::stderr(&output).contains(said));
    }
}

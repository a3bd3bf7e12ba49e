//! The roles of a trial: when they are ready, what they see, what they leave behind.

mod common;

use common::{Bench, codes, direction, service, trial};
use serde_json::{Value, json};

#[test]
fn a_line_of_output_can_mean_ready() {
    let bench = Bench::new();
    let server = service("sleep 0.3; echo now listening; sleep 60", json!({"line": "listening"}));
    let report = bench.run(&trial(direction(1), server, "true"));
    assert_eq!(codes(&report), [""; 0]);
    assert!(report["roles"][0]["ready_ns"].as_u64().unwrap() >= 300_000_000);
}

#[test]
fn what_roles_add_to_tmp_is_private_and_what_was_there_stays() {
    let bench = Bench::new();
    let strays = ["/tmp", "/var/tmp"].map(|place| std::path::Path::new(place).join(format!("{}-stray", bench.word)));
    let other = Bench::new();
    other.file("certificate", "found");
    // A path that no command line names, as a client finds one in its workload.
    bench.file("path", other.dir.join("certificate").to_str().unwrap());
    let touched = strays.clone().map(|stray| stray.display().to_string()).join(" ");
    let client = format!("touch {touched} && cat \"$(cat ../path)\" > here");
    let mut trial = trial(direction(1), Value::Null, &client);
    trial["roles"][0]["inherits"] = true.into();
    let mut command = bench.run_command(&trial);
    assert!(command.current_dir(&other.dir).status().unwrap().success());
    assert!(strays.iter().all(|stray| !stray.exists()));
    assert_eq!(std::fs::read_to_string(bench.dir.join("out/here")).unwrap(), "found");
}

/// What a role writes into the file `seen`, in surroundings that differ in all that is not the trial's.
fn seen_by_a_role(bench: &Bench, inherits: bool) -> String {
    let stray = Bench::new();
    let look = "{ env | sort; pwd; umask; ls -a /tmp /var/tmp; } > seen";
    let mut trial = trial(direction(1), Value::Null, look);
    trial["roles"][0]["env"] = json!({"GIVEN": "yes"});
    trial["roles"][0]["inherits"] = inherits.into();
    let mut command = bench.run_command(&trial);
    command.env("H123_ODD", &stray.word).current_dir(&stray.dir);
    assert!(command.status().unwrap().success());
    std::fs::read_to_string(bench.dir.join("out/seen")).unwrap()
}

#[test]
fn roles_have_the_same_surroundings_everywhere_but_for_a_persons_own_program() {
    let seen = seen_by_a_role(&Bench::new(), false);
    assert_eq!(seen, seen_by_a_role(&Bench::new(), false));
    for known in ["GIVEN=yes", "LANG=C.UTF-8", "PWD=/tmp/h123-trial", "0022"] {
        assert!(seen.lines().any(|line| line == known), "{known}: {seen}");
    }
    assert!(!seen.contains("h123-test"), "{seen}");
    let bench = Bench::new();
    let own = seen_by_a_role(&bench, true);
    for known in ["GIVEN=yes".into(), format!("{}/out", bench.dir.display())] {
        assert!(own.lines().any(|line| line == known), "{known}: {own}");
    }
    assert!(own.contains("H123_ODD=h123-test"), "{own}");
    assert!(own.contains(&bench.word), "{own}");
}

#[test]
fn roles_have_few_privileges_and_change_no_setting_of_the_machine() {
    let bench = Bench::new();
    let setting = "/proc/sys/kernel/printk_ratelimit";
    let attempts = format!(
        "cp {setting} before; cat before > {setting}; mount -t tmpfs none /mnt; mknod node c 1 3; \
         mount -o remount,rw,bind /proc/sys; unshare -n true; cat before > {setting}; \
         for kept in 'chown 1:1 before' 'ls -d /proc/sys/net'; do $kept && echo done; done"
    );
    let mut trial =
        trial(direction(1), Value::Null, &format!("{attempts}; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status"));
    for inherits in [false, true] {
        trial["roles"][0]["inherits"] = inherits.into();
        bench.run(&trial);
        let log = bench.log("client");
        assert_eq!(log.lines().filter(|line| *line == "done").count(), 2, "{log}");
        assert!(log.contains("Read-only file system"), "{log}");
        assert!(log.contains("NoNewPrivs:\t1"), "{log}");
        let left = log.lines().find_map(|line| line.strip_prefix("CapEff:\t")).unwrap();
        let left = u64::from_str_radix(left, 16).unwrap();
        assert_eq!(left & !0x8184_75ff, 0, "{left:x}");
        assert_ne!(left, 0);
        assert!(!bench.dir.join("out/node").exists());
    }
}

#[test]
fn a_role_and_its_children_stay_on_their_processors() {
    let allowed = |log: String| log.lines().map(str::to_owned).collect::<Vec<_>>();
    let bench = Bench::new();
    let show = "sed -n 's/^Cpus_allowed_list:\\s*//p' /proc/self/status";
    let mut trial = trial(direction(1), Value::Null, &format!("{show}; (sh -c \"{show}\")"));
    trial["roles"][0]["processors"] = json!([0]);
    bench.run(&trial);
    assert_eq!(allowed(bench.log("client")), ["0", "0"]);
    trial["roles"][0]["processors"] = json!([]);
    bench.run(&trial);
    assert_eq!(allowed(bench.log("client")), vec![String::from_utf8(usable()).unwrap().trim(); 2]);
}

/// Those of this test's own, in the kernel's words.
fn usable() -> Vec<u8> {
    let mut show = std::process::Command::new("sed");
    show.args(["-n", "s/^Cpus_allowed_list:\\s*//p", "/proc/self/status"]);
    show.output().unwrap().stdout
}

#[test]
fn processors_that_are_not_there_are_refused() {
    let bench = Bench::new();
    let mut trial = trial(direction(1), Value::Null, "true");
    for missing in [1000, 100_000] {
        trial["roles"][0]["processors"] = json!([0, missing]);
        let done = bench.run_command(&trial).output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(said.contains(&format!("runs on processor {missing}, which does not exist")), "{said}");
    }
}

/// The processor time that COMPUTE takes. The kernel's two ways to count it may differ by a tick.
const COMPUTED_NS: u64 = 200_000_000 - 10_000_000;
const COMPUTE: &str = r#"python3 -c "import time; t = time.process_time; [0 for _ in iter(lambda: t() < 0.2, False)]""#;

#[test]
fn what_a_role_leaves_running_is_counted_and_ended() {
    let bench = Bench::new();
    let client = format!("({}) & {COMPUTE}", bench.lasting());
    let report = bench.run(&trial(direction(1), Value::Null, &client));
    let cpu = report["roles"][0]["cpu"]["main_ns"].as_u64().unwrap();
    assert!((COMPUTED_NS..600_000_000).contains(&cpu), "{cpu}");
    assert_eq!(bench.processes(), Vec::<u32>::new());
}

#[test]
fn what_descends_from_a_role_is_counted_whatever_its_session() {
    let bench = Bench::new();
    let client =
        format!("setsid sh -c '{COMPUTE}; touch done; {}' & while [ ! -e done ]; do sleep 0.05; done", bench.lasting());
    let report = bench.run(&trial(direction(1), Value::Null, &client));
    let cpu = report["roles"][0]["cpu"]["main_ns"].as_u64().unwrap();
    assert!((COMPUTED_NS..900_000_000).contains(&cpu), "{cpu}");
}

#[test]
fn roles_see_the_devices_of_their_own_host_alone_and_their_limits() {
    let bench = Bench::new();
    let client = "ls /sys/class/net; touch /sys/x 2>&1; ls /sys/fs/cgroup; true";
    let report = bench.run(&trial(direction(1), Value::Null, client));
    assert_eq!(codes(&report), [""; 0]);
    let said = bench.log("client");
    assert!(said.starts_with("h123-0\nlo\n"), "{said}");
    assert!(said.contains("Read-only file system"), "{said}");
    for limits in std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten() {
        let name = limits.unwrap().file_name().into_string().unwrap();
        assert!(said.contains(&name), "{name} is not in {said}");
    }
}

#[test]
fn what_a_role_leaves_behind_in_a_session_of_its_own_is_said() {
    let bench = Bench::new();
    let server = service(
        &format!("setsid sh -c '{}' & sleep 0.1; echo up; exec sleep 60", bench.lasting()),
        json!({"line": "up"}),
    );
    let report = bench.run(&trial(direction(1), server, "true"));
    assert_eq!(report["valid"], true, "{report}");
    assert!(warning(&report, "left-behind").contains("sleep 300"), "{report}");
    assert_eq!(bench.processes(), Vec::<u32>::new());
}

#[test]
fn a_service_that_has_to_be_killed_is_said() {
    let bench = Bench::new();
    let mut server = service("trap '' TERM; echo up; while :; do sleep 1; done", json!({"line": "up"}));
    server["stop_timeout_ns"] = 100_000_000.into();
    let report = bench.run(&trial(direction(1), server, "true"));
    assert_eq!(report["valid"], true, "{report}");
    let said = warning(&report, "killed");
    assert_eq!(said, "role server still ran 0.1 s after SIGTERM, and was killed");
}

#[test]
fn a_long_log_is_kept_short() {
    let bench = Bench::new();
    let server = service(
        "yes first | head -c 600000; yes last | head -c 1400000; echo up; exec sleep 60",
        json!({"line": "up"}),
    );
    let report = bench.run(&trial(direction(1), server, "true"));
    let said = warning(&report, "log-cut");
    assert!(said.starts_with("role server wrote 2000003 bytes of log"), "{said}");
    let kept = bench.log("server");
    let left_out = "[951427 bytes left out]";
    assert!(kept.starts_with("first\n") && kept.ends_with("last\nup\n"));
    assert!(kept.contains(left_out) && kept.len() == (1 << 20) + left_out.len() + 2);
}

fn warning(report: &Value, code: &str) -> String {
    let warnings = report["warnings"].as_array().unwrap();
    let found = warnings.iter().find(|w| w["code"] == code);
    let detail = found.unwrap_or_else(|| panic!("{report}"))["detail"].as_str();
    detail.unwrap().to_string()
}

#[test]
fn what_ended_before_its_role_is_not_left_behind() {
    let bench = Bench::new();
    let server = service("setsid true & wait; echo up; exec sleep 60", json!({"line": "up"}));
    let report = bench.run(&trial(direction(1), server, "true & wait"));
    let mut warnings = report["warnings"].as_array().unwrap().iter();
    assert!(warnings.all(|w| w["code"] != "left-behind"), "{report}");
}

#[test]
fn a_role_can_look_the_server_up_in_its_hosts_own_dns() {
    let bench = Bench::new();
    let words = "resolver --name h123.test --at 10.1.0.2:4443 --at6 2001:db8:1::2";
    let mut service = service("", json!({"udp": [53], "address": "127.0.0.1"}));
    service["host"] = json!("client");
    service["command"] = std::iter::once("/proc/self/exe").chain(words.split(' ')).collect();
    let look = "getent ahostsv4 h123.test; getent ahostsv6 h123.test; getent hosts example.com || cat /etc/resolv.conf";
    let mut trial = trial(direction(1), service, look);
    trial["roles"][1]["resolver"] = json!(true);
    for (end, last) in [("a", 1), ("b", 2)] {
        trial["links"][0][end]["address6"] = format!("2001:db8:1::{last}").into();
    }
    assert_eq!(codes(&bench.run(&trial)), [""; 0]);
    let said = bench.log("client");
    assert!(said.starts_with("10.1.0.2 "), "{said}");
    assert!(said.contains("\n2001:db8:1::2 "), "{said}");
    assert!(said.ends_with("nameserver 127.0.0.1\n"), "{said}");
    // Nobody else's names are looked up there.
    trial["roles"][1]["resolver"] = json!(false);
    trial["roles"][1]["command"] = json!(["sh", "-c", "cat /etc/resolv.conf"]);
    bench.run(&trial);
    let machines = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    assert_eq!(bench.log("client").replace("cat: /etc/resolv.conf: No such file or directory\n", ""), machines);
}

//! What the tests share: a folder, trials, and the program itself. They run the real thing and need root.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What a machine with other work may need for anything that takes it a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that goes when the test ends, and a word by which its processes are known.
pub struct Bench {
    pub dir: PathBuf,
    pub word: String,
}

impl Bench {
    pub fn new() -> Self {
        // SAFETY: has no preconditions.
        assert_eq!(unsafe { libc::geteuid() }, 0, "these tests build network namespaces: run them as root");
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let word = format!("h123-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(&word);
        fs::create_dir_all(&dir).unwrap();
        Self { dir, word }
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.dir.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn run_command(&self, trial: &Value) -> Command {
        let file = self.file("trial.json", &trial.to_string());
        let mut command = lab();
        command.arg("run").arg(file).arg("--out").arg(self.dir.join("out"));
        command
    }

    /// Runs a trial that must be executed; returns its report.
    pub fn run(&self, trial: &Value) -> Value {
        let output = self.run_command(trial).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        self.report()
    }

    pub fn report(&self) -> Value {
        serde_json::from_slice(&fs::read(self.dir.join("out/report.json")).unwrap()).unwrap()
    }

    pub fn log(&self, role: &str) -> String {
        fs::read_to_string(self.dir.join(format!("out/logs/{role}.log"))).unwrap()
    }

    /// The records of the packets that came to the link.
    pub fn packets(&self) -> Vec<[u8; 40]> {
        let file = fs::read(self.dir.join("out/packets-access.bin")).unwrap();
        let (records, rest) = file.as_chunks();
        assert!(rest.is_empty());
        records.to_vec()
    }

    pub fn exec(&self, link: &Value, arguments: &[&str]) -> Command {
        let file = self.file("link.json", &link.to_string());
        let mut command = lab();
        command.arg("exec").arg("--link").arg(file).args(arguments);
        command
    }

    /// The processes of this test's roles: those whose command line holds its word, but for the lab's own.
    pub fn processes(&self) -> Vec<u32> {
        let pids = fs::read_dir("/proc").unwrap().filter_map(|e| e.unwrap().file_name().to_str()?.parse().ok());
        pids.filter(|pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains(&format!("mark-{}", self.word))
        })
        .collect()
    }

    /// A shell command that lasts and can be found by `processes`.
    pub fn lasting(&self) -> String {
        format!("sleep 300; : mark-{}", self.word)
    }

    /// Starts a trial or an `exec` and waits until its roles' processes are there.
    pub fn start(&self, mut command: Command, roles: usize) -> Child {
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        wait_until("the roles to start", || self.processes().len() >= roles);
        child
    }

    /// Asserts that no process of the roles is left, and none in these namespaces.
    pub fn assert_gone(&self, namespaces: &[PathBuf]) {
        wait_until("the roles to be gone", || self.processes().is_empty());
        wait_until("the namespaces to be gone", || {
            let pids = fs::read_dir("/proc").unwrap().map(|e| e.unwrap().path().join("ns/net"));
            !pids.filter_map(|p| fs::read_link(p).ok()).any(|n| namespaces.contains(&n))
        });
    }

    pub fn namespaces(&self) -> Vec<PathBuf> {
        let own = fs::read_link("/proc/self/ns/net").unwrap();
        let all: Vec<PathBuf> =
            self.processes().iter().filter_map(|pid| fs::read_link(format!("/proc/{pid}/ns/net")).ok()).collect();
        assert!(!all.is_empty() && !all.contains(&own), "roles must be in namespaces of their own");
        all
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

pub fn lab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_h123-lab"))
}

pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn signal(child: &Child, signal: i32) {
    // SAFETY: the child has not been waited for, so its id is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn direction(delay_ms: u64) -> Value {
    json!({"delay_ns": delay_ms * 1_000_000})
}

/// A trial of two hosts and one link between them, both ways alike; `server` may be null.
pub fn trial(direction: Value, server: Value, client: &str) -> Value {
    let main = json!({"name": "client", "host": "client", "kind": "main", "command": ["sh", "-c", client], "timeout_ns": 60_000_000_000u64});
    let roles = if server.is_null() { vec![main] } else { vec![server, main] };
    json!({
        "h123": "trial/1", "id": "test", "seed": 7, "hosts": ["client", "server"],
        "links": [{
            "name": "access", "kind": "emulated",
            "a": {"host": "client", "address": "10.1.0.1"}, "b": {"host": "server", "address": "10.1.0.2"},
            "up": direction, "down": direction,
        }],
        "congestion": "cubic", "check": false, "roles": roles,
    })
}

pub fn service(command: &str, ready: Value) -> Value {
    json!({"name": "server", "host": "server", "kind": "service", "command": ["sh", "-c", command], "ready": ready,
           "stop_timeout_ns": 300_000_000})
}

/// Sends `count` small UDP packets, one a millisecond, to the server's port 9; says what the socket says.
pub fn datagrams(count: u32) -> String {
    format!(
        "exec python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((\"10.1.0.2\", 9))
for i in range({count}):
    try: s.send(b\"x\" * 72)
    except OSError as e: print(type(e).__name__)
    time.sleep(0.001)
'"
    )
}

/// Receives UDP on port 9 and throws it away.
pub const SINK: &str = "exec python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((\"\", 9))
while True: s.recv(2000)
'";

/// The codes of the reasons why a trial is not valid.
pub fn codes(report: &Value) -> Vec<String> {
    report["reasons"].as_array().unwrap().iter().map(|r| r["code"].as_str().unwrap().to_string()).collect()
}

//! What roles write: where it stays, what is said of it, and which sockets of the machine they reach.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Bench, codes, direction, lab, service, trial};
use serde_json::{Value, json};

/// A folder of the machine outside `/tmp`, which goes when the test ends.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn new(bench: &Bench) -> Self {
        let folder = Path::new("/var/lib").join(&bench.word);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(report: &Value) -> String {
    let warnings = report["warnings"].as_array().unwrap();
    let told = warnings.iter().filter(|w| w["code"] == "files-discarded");
    told.map(|w| w["detail"].as_str().unwrap()).collect::<Vec<_>>().join("; ")
}

/// Runs what is served, and then a client that needs its file `ready`.
fn run_server(bench: &Bench, command: &str, change: impl Fn(&mut Value)) -> Value {
    let server = service(&format!("{command}; echo done; exec sleep 60"), json!({"line": "done"}));
    let mut trial = trial(direction(1), server, "true");
    change(&mut trial["roles"][0]);
    let report = bench.run(&trial);
    assert_eq!(codes(&report), [""; 0], "{report}");
    report
}

#[test]
fn what_a_server_writes_goes_with_the_lab_and_is_said() {
    let bench = Bench::new();
    let home = std::env::var("HOME").unwrap_or("/root".into());
    let places = [&home, "/etc", "/run", "/dev/shm", "/var/tmp", "/tmp", "/usr", "/srv"];
    let strays = places.map(|place| Path::new(place).join(format!("stray-{}", bench.word)));
    for inherits in [false, true] {
        for stray in &strays {
            let path = stray.display();
            let report = run_server(&bench, &format!("echo x > {path} && grep -q x {path} || exit 1"), |role| {
                role["inherits"] = inherits.into()
            });
            assert!(!stray.exists(), "{path}");
            let temporary = ["/dev/shm", "/var/tmp", "/tmp"];
            let given = temporary.iter().any(|place| stray.starts_with(place));
            assert_eq!(said(&report).contains(&path.to_string()), inherits || !given, "{path}: {report}");
        }
    }
}

#[test]
fn files_of_the_machine_are_neither_changed_nor_removed() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench);
    let file = |name: &str| elsewhere.0.join(name);
    for name in ["changed", "removed", "opened", "moved", "closed"] {
        fs::write(file(name), "as it was").unwrap();
        // Whatever the umask: the server closes one of them.
        fs::set_permissions(file(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let report = run_server(
        &bench,
        &format!(
            "cd {} && echo more >> changed && rm removed && : >> opened && mv moved there \
             && mkdir -p new/er && touch new/er/file && chmod 600 closed && cat changed && ls",
            elsewhere.0.display()
        ),
        |_| (),
    );
    for name in ["changed", "removed", "opened", "moved", "closed"] {
        assert_eq!(fs::read_to_string(file(name)).unwrap(), "as it was");
    }
    assert!(!file("new").exists() && !file("there").exists());
    let said = said(&report);
    for name in ["changed", "closed", "moved", "new", "removed"] {
        assert!(said.contains(file(name).to_str().unwrap()), "{name}: {said}");
    }
    // No more than five are named, and what was opened alone is not.
    assert!(said.ends_with(", 1 others") && !said.contains("opened"), "{said}");
    assert!(bench.log("server").contains("as it was"));
}

#[test]
fn a_persons_server_writes_where_it_may_and_that_is_not_said() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench);
    let command = format!("touch here {}/there", elsewhere.0.display());
    let report = run_server(&bench, &command, |role| {
        role["inherits"] = true.into();
        role["writes"] = json!([elsewhere.0]);
    });
    assert!(elsewhere.0.join("there").exists());
    assert!(bench.dir.join("out/here").exists());
    assert_eq!(said(&report), "");
}

#[test]
fn a_trial_in_memory_of_the_machine_leaves_its_report_there() {
    let bench = Bench::new();
    let out = Path::new("/dev/shm").join(&bench.word).join("out");
    for inherits in [false, true] {
        let mut trial = trial(direction(1), Value::Null, "echo x > here");
        trial["roles"][0]["inherits"] = inherits.into();
        let file = bench.file("trial.json", &trial.to_string());
        let done = lab().arg("run").arg(file).arg("--out").arg(&out).status();
        assert!(done.unwrap().success());
        assert_eq!(fs::read_to_string(out.join("here")).unwrap(), "x\n");
        let report = fs::read(out.join("report.json")).unwrap();
        assert_eq!(said(&serde_json::from_slice(&report).unwrap()), "");
    }
    fs::remove_dir_all(out.parent().unwrap()).unwrap();
}

#[test]
fn a_folder_to_write_to_that_is_not_there_is_refused() {
    let bench = Bench::new();
    for folder in ["/nowhere", "tmp", "/etc/hostname"] {
        let mut trial = trial(direction(1), Value::Null, "true");
        trial["roles"][0]["writes"] = json!([folder]);
        let done = bench.run_command(&trial).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{folder}");
        assert!(common::stderr(&done).contains("absolute path of a folder"), "{folder}");
    }
}

const CONNECT: &str = "python3 -c '
import socket, sys
for path in sys.argv[1:]:
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(path.replace(\"@\", \"\\0\"))
            print(\"reached\", path)
        except OSError as error:
            print(\"refused\", path, error)
'";

#[test]
fn sockets_and_pipes_of_the_machine_have_no_other_end_in_the_lab() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench);
    let mut paths: Vec<_> = ["/run", "/tmp", "/var/tmp", "/dev/shm", "/etc"]
        .iter()
        .map(|folder| Path::new(folder).join(format!("{}.sock", bench.word)))
        .collect();
    paths.push(elsewhere.0.join("sock"));
    let _listening: Vec<_> = paths.iter().map(|path| UnixListener::bind(path).unwrap()).collect();
    let _abstract = {
        use std::os::linux::net::SocketAddrExt;
        let name = std::os::unix::net::SocketAddr::from_abstract_name(&bench.word).unwrap();
        UnixListener::bind_addr(&name).unwrap()
    };
    let pipe = elsewhere.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Somebody outside holds both ends, so that nobody has to wait.
    let _held = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let own = "/run/own.sock";
    let words: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    let client = format!(
        "{CONNECT} {} @{}; timeout 1 sh -c 'echo x > {}' || echo no reader; \
         python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"{own}\"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect(\"{own}\"); print(\"own reached\")'",
        words.join(" "),
        bench.word,
        pipe.display()
    );
    for inherits in [false, true] {
        let mut trial = trial(direction(1), Value::Null, &client);
        trial["roles"][0]["inherits"] = inherits.into();
        let report = bench.run(&trial);
        let log = bench.log("client");
        assert_eq!(codes(&report), [""; 0], "{log}");
        let refused = log.lines().filter(|line| line.starts_with("refused"));
        assert_eq!(refused.count(), words.len() + 1, "{log}");
        assert!(log.contains("no reader") && log.contains("own reached"), "{log}");
    }
    for path in &paths {
        let _ = fs::remove_file(path);
    }
}

#[test]
fn roles_have_no_disks_and_change_no_control_group() {
    let bench = Bench::new();
    let look = "cd /dev; find . -type b; ls; echo x > null; head -c 4 urandom | wc -c; \
                find /sys/fs/cgroup -name cgroup.procs 2>/dev/null | head -n 3 > /tmp/all; \
                while read at; do echo $$ > $at && echo moved; done < /tmp/all; true";
    bench.run(&trial(direction(1), Value::Null, look));
    let log = bench.log("client");
    let known = [
        "fd", "full", "net", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
        "zero", "4",
    ];
    let seen: Vec<_> = log.lines().filter(|l| !l.contains("cannot create")).collect();
    assert_eq!(seen, known, "{log}");
}

/// Runs a trial in mounts that are prepared for it, and then what looks at them.
fn run_in_mounts(bench: &Bench, prepare: &str, trial: &Value, after: &str) -> Value {
    let file = bench.file("trial.json", &trial.to_string());
    let program = lab().get_program().to_owned();
    let script = format!(
        "mount --make-rprivate /; {prepare}; '{}' run '{}' --out '{}'; {after}",
        program.display(),
        file.display(),
        bench.dir.join("out").display()
    );
    let mut command = Command::new("unshare");
    let done = command.args(["-m", "sh", "-ec", &script]).output().unwrap();
    assert!(done.status.success(), "{}", common::stderr(&done));
    bench.report()
}

#[test]
fn whatever_is_mounted_the_machine_is_not_written_to() {
    let bench = Bench::new();
    let elsewhere = Elsewhere::new(&bench);
    let odd = elsewhere.0.join("a b,c:d\\e");
    let (place, names) = (odd.display(), ["other", "again", "hidden", "read"]);
    let prepare = format!(
        "mkdir '{place}'; mount -t tmpfs none '{place}'; cd '{place}'; mkdir other again hidden read; \
         mount -t tmpfs none other; touch other/known; mount --bind other again; \
         mount -t tmpfs none hidden; mkdir hidden/below; mount -t tmpfs none hidden/below; \
         mount -t tmpfs none hidden; mount -t tmpfs -o ro none read; \
         touch file target; mount --bind file target; cd /"
    );
    let write = names.map(|name| format!("echo x > '{place}/{name}/stray'"));
    let client = format!("{}; echo x > '{place}/target'; ls '{place}/other' '{place}/again'", write.join("; "));
    let trial = trial(direction(1), Value::Null, &client);
    let found = bench.dir.join("found");
    let after = format!("find '{place}' -name stray -o -name file -size +0 > '{}'", found.display());
    let report = run_in_mounts(&bench, &prepare, &trial, &after);
    let said = said(&report);
    for name in names {
        assert!(said.contains(&format!("{name}/stray")), "{name}: {said}");
    }
    let log = bench.log("client");
    assert!(log.contains("target: Read-only file system"), "{log}");
    assert_eq!(log.matches("known").count(), 2);
    assert_eq!(fs::read_to_string(found).unwrap(), "");
}

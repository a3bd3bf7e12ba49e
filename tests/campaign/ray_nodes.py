"""A Ray cluster on this machine. Its nodes share nothing: each has a network and a mount namespace, and a processor."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from h123.base.files.installation import alone
from h123.base.paths import cache_folder, project_root

ROOT = project_root()
PORT, NETWORK = 6379, "10.99.0"
ADDRESS = f"{NETWORK}.1:{PORT}"
RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
_SHORT = Path("/tmp")
"""Ray makes sockets below its folder, whose paths must be short."""
_BOUND = ["setpriv", "--pdeathsig", "KILL"]
"""Ends a program when the test ends, even if the test is killed. Its namespaces have no names, so they end with it."""


def ray_library() -> Path:
    """Ray, as requirements/ray.txt locks it: installed once, beside the cache of subjects."""
    folder = cache_folder() / "ray"
    lock = ROOT / "requirements/ray.txt"
    with alone(folder, lambda _: None):
        if not (folder / "lock").is_file() or (folder / "lock").read_bytes() != lock.read_bytes():
            shutil.rmtree(folder, ignore_errors=True)
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
            subprocess.run([*command, "--target", folder, "-r", lock], check=True)
            shutil.copyfile(lock, folder / "lock")
    return folder


class Cluster:
    """The head, on which campaigns are started, and `count` nodes that offer to run blocks."""

    def __init__(self, library: Path, hidden: Path, count: int) -> None:
        """`hidden`: a folder that no node sees, with the campaigns."""
        self._library, self._hidden = library, hidden
        self._name = f"h123-{os.getpid()}"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._networks: dict[str, subprocess.Popen[bytes]] = {}
        self._folder = _SHORT / f"{self._name}-ray"
        self.nodes = [f"{self._name}-{number}" for number in range(2, count + 2)]
        self.head = f"{self._name}-1"

    def __enter__(self) -> Self:
        self._folder.mkdir()
        self._add_network(self.head)
        self._ip(self.head, "link", "add", "ray", "type", "bridge")
        self._ip(self.head, "addr", "add", f"{NETWORK}.1/24", "dev", "ray")
        self._ip(self.head, "link", "set", "ray", "up")
        for number, node in enumerate(self.nodes, start=2):
            network, port = self._add_network(node), f"node{number}"
            self._ip(self.head, "link", "add", port, "type", "veth", "peer", "eth0", "netns", str(network))
            self._ip(self.head, "link", "set", port, "master", "ray", "up")
            self._ip(node, "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
            self._ip(node, "link", "set", "eth0", "up")
        self.start(self.head)
        for node in self.nodes:
            self.start(node)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in [*self.nodes, self.head]:
            self.kill(name)
            if network := self._networks.pop(name, None):
                network.kill()
                network.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def environment(self) -> Mapping[str, str]:
        """That of all programs in the cluster."""
        paths = os.pathsep.join(map(str, (ROOT / "src", self._library)))
        return {**os.environ, "PYTHONPATH": paths, "H123_ROOT": str(ROOT), **RAY}

    def start(self, name: str) -> None:
        """The head, or a node: in a PID namespace, so that all of it ends with its first process."""
        ray = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block"]
        if name == self.head:
            ray += ["--head", f"--node-ip-address={NETWORK}.1", f"--port={PORT}", "--num-cpus=0"]
            ray += ["--include-dashboard=false", f"--temp-dir={self._folder}"]
            hidden, processor = [self._folder], 0
        else:
            number = self.nodes.index(name)
            ray += [f"--address={ADDRESS}", f"--node-ip-address={NETWORK}.{number + 2}", "--num-cpus=1"]
            ray += ['--resources={"h123": 1}']
            hidden, processor = [self._folder, self._hidden], number % (os.cpu_count() or 1)
        mounts = "mount -t sysfs none /sys; " + "; ".join(f"mount -t tmpfs none '{folder}'" for folder in hidden)
        script = f'mount --make-rprivate /; {mounts}; exec "$@"'
        isolated = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        command = [*_BOUND, *self._into(name), *isolated, "sh", "-ec", script, "sh"]
        if name != self.head:
            command += ["taskset", "-c", str(processor)]
        with (self._hidden / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [*command, *ray], env=self.environment, stdout=log, stderr=log, cwd="/", start_new_session=True
            )

    def kill(self, name: str) -> None:
        """All of the head or a node, at once."""
        if process := self._processes.pop(name, None):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def h123(self, arguments: Sequence[str | Path]) -> subprocess.Popen[str]:
        """The program, on the head."""
        driver = [*_BOUND, *self._into(self.head), "-t", str(self._inside()), "--mount", "--pid"]
        return subprocess.Popen(
            [*driver, sys.executable, "-m", "h123", *map(str, arguments)],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def carried(self) -> int:
        """Bytes between the head and the nodes so far, both ways."""
        ports = [f"/sys/class/net/node{number}" for number in range(2, len(self.nodes) + 2)]
        read = " ".join(f"{port}/statistics/{way}_bytes" for port in ports for way in ("rx", "tx"))
        entered = [*self._into(self.head), "unshare", "--mount", "sh", "-ec"]
        shown = subprocess.run(
            [*entered, f"mount -t sysfs none /sys && cat {read}"], check=True, capture_output=True, text=True
        )
        return sum(map(int, shown.stdout.split()))

    def head_seconds(self) -> float:
        """Processor time of all programs that run on the head, h123 among them."""
        space = Path(f"/proc/{self._inside()}/ns/pid").readlink()
        ticks = 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "ns/pid").readlink() == space:
                    fields = (process / "stat").read_text().rpartition(")")[2].split()
                    ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _add_network(self, name: str) -> int:
        """Make a network namespace with a loopback. Return the process that holds it."""
        holder = [*_BOUND, "unshare", "--net", "sh", "-c", "ip link set lo up && echo && exec sleep infinity"]
        process = self._networks[name] = subprocess.Popen(holder, stdout=subprocess.PIPE)
        assert process.stdout
        assert process.stdout.readline() == b"\n", "the network namespace was not made"
        return process.pid

    def _into(self, name: str) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._networks[name].pid}/ns/net"]

    def _ip(self, name: str, *arguments: str) -> None:
        subprocess.run([*self._into(name), "ip", *arguments], check=True, stdout=subprocess.DEVNULL)

    def _inside(self) -> int:
        """A process in the head's namespaces."""
        return _child(self._processes[self.head].pid)


def signal_driver(driver: "subprocess.Popen[str]", number: signal.Signals) -> None:
    """To h123 itself: its parent only brought it into the head's namespaces."""
    os.kill(_child(driver.pid), number)


def _child(process: int) -> int:
    for _ in range(600):
        if children := Path(f"/proc/{process}/task/{process}/children").read_text().split():
            return int(children[0])
        time.sleep(0.1)
    raise AssertionError("it did not start")

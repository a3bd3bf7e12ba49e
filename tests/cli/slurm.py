"""A Slurm cluster of two nodes on this machine: Debian's slurmctld, and a slurmd for each node with a host name of its
own. It is gone when the test is over."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "unshare")
NODES = ("node1", "node2")
_PATIENCE_S = 120.0
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def missing() -> list[str]:
    """What `apt install slurmctld slurmd slurm-client` would bring."""
    return [name for name in PROGRAMS if not shutil.which(name, path=_PATH)]


@dataclass(frozen=True)
class Cluster:
    """A running one."""

    configuration: Path

    def __call__(self, *command: str, cwd: Path | None = None) -> str:
        """What one of Slurm's commands prints."""
        environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(self.configuration)}
        done = subprocess.run(
            command, cwd=cwd, env=environment, text=True, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def states(self, job: str) -> dict[str, str]:
        """Of each element that has not ended."""
        lines = self("squeue", "-h", "-r", "-j", job, "-o", "%K %T").splitlines()
        return dict(line.split() for line in lines)


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Two nodes with a processor or two each."""
    processors = max(1, (os.cpu_count() or 2) // 2)
    ports = _free_ports(1 + len(NODES))
    lines = [
        "ClusterName=test",
        f"SlurmctldHost={socket.gethostname()}(127.0.0.1)",
        f"SlurmctldPort={ports[0]}",
        "SlurmUser=root",
        "SlurmdUser=root",
        "AuthType=auth/none",
        "CredType=cred/none",
        "MpiDefault=none",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "SwitchType=switch/none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "JobAcctGatherType=jobacct_gather/none",
        "AccountingStorageType=accounting_storage/none",
        "ReturnToService=2",
        "KillWait=60",
        "MailProg=/bin/true",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool-%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd-%n.pid",
        *(
            f"NodeName={name} NodeAddr=127.0.0.1 Port={port} CPUs={processors} RealMemory=6000 State=UNKNOWN"
            for name, port in zip(NODES, ports[1:], strict=True)
        ),
        f"PartitionName=all Nodes={','.join(NODES)} Default=YES MaxTime=INFINITE State=UP",
    ]
    configuration = folder / "slurm.conf"
    configuration.write_text("\n".join(lines) + "\n")
    (folder / "state").mkdir()
    commands = [["slurmctld", "-D", "-f", str(configuration)]]
    for name in NODES:
        (folder / f"spool-{name}").mkdir()
        start = f'hostname {name} && exec slurmd -D -N {name} -f "{configuration}"'
        commands.append(["unshare", "--uts", "--", "sh", "-c", start])
    with contextlib.ExitStack() as stack:
        for number, command in enumerate(commands):
            log = stack.enter_context((folder / f"daemon-{number}.log").open("w"))
            stack.enter_context(_daemon(command, configuration, log))
        running = Cluster(configuration)
        _wait_until_idle(running)
        yield running


@contextlib.contextmanager
def _daemon(command: list[str], configuration: Path, log: object) -> Iterator[None]:
    environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(configuration)}
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)  # type: ignore[call-overload]
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_until_idle(running: Cluster) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        with contextlib.suppress(AssertionError):
            states = running("sinfo", "-h", "-N", "-o", "%N %T").split()
            if states.count("idle") == len(NODES):
                return
        assert time.monotonic() < deadline, "the nodes do not come up"
        time.sleep(0.5)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]

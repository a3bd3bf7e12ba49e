"""Programs as people configure them (programs/), each asked by one `h123 compare`, and the same stack as a subject."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import yaml

from cli.conftest import put_certificate
from h123.catalogue import catalogue, install, prefix

FILES = Path(__file__).with_name("programs")
SIZE = 20_000
MARGIN = 1.05
"""Of the studies that `h123 compare` drafts."""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Program:
    """How it is started, below its folder; words in braces are filled in."""

    command: str
    subject: str
    """Of the same stack."""
    needs: Sequence[str] = ()
    """Programs of the machine."""
    environment: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    built: tuple[str, str] | None = None
    """By Go: the folder of its source, and what it is called."""
    behind: bool = False
    """It passes requests on, to an application behind it, as its subject then does."""


PROGRAMS = {
    "nginx": Program("{prefix}/run usr/sbin/nginx -p {folder} -e stderr -c nginx.conf", "nginx", ["apt-get", "dpkg"]),
    "caddy": Program(
        "./caddy.sh",
        "caddy",
        ["go"],
        environment={"CADDY": "{prefix}/python/bin/caddy", "HOME": "{folder}"},
        options=["--ready", "tcp:8080"],
        built=("app", "application"),
        behind=True,
    ),
    "go": Program("./service", "go", ["go"], built=("go", "service")),
    "node": Program("node server.mjs", "node", ["node"]),
    "asgi": Program("{prefix}/python/bin/python -m hypercorn --config hypercorn.toml asgi:app", "hypercorn"),
}


@dataclass(frozen=True)
class Latency:
    """Of one protocol over another's."""

    ratio: float
    low: float
    high: float

    def contradicts(self, other: "Latency") -> bool:
        """Whether even the nearest of what both intervals hold is further apart than the margin."""
        return max(log(self.low / other.high), log(other.low / self.high)) > log(MARGIN)


Latencies = dict[tuple[str, str], Latency]
"""By network and pair."""


def lacking(program: Program) -> list[str]:
    """What the machine does not have."""
    return [name for name in program.needs if shutil.which(name) is None]


def lay_out(name: str, folder: Path) -> None:
    """Its files, its certificate and what it is built from, in the folder that it is started in."""
    program = PROGRAMS[name]
    install(catalogue()[program.subject], print)
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    (folder / "site").mkdir()
    (folder / "site/orders").write_bytes(b"0123456789" * (SIZE // 10))
    put_certificate(folder)
    if program.built:
        source, binary = program.built
        subprocess.run(["go", "build", "-o", f"../{binary}", "."], cwd=folder / source, check=True)


def asked_once(
    name: str, folder: Path, run: Run, networks: str, clock: str, extra: Sequence[str] = ()
) -> "subprocess.CompletedProcess[str]":
    """One `h123 compare`; its campaign is `own` in the folder, its study `own.yaml`."""
    program = PROGRAMS[name]
    words = {"folder": str(folder), "prefix": str(prefix(catalogue()[program.subject]))}
    given = [f"--env={key}={value.format(**words)}" for key, value in program.environment.items()]
    where = ["--url", "https://localhost:8443/orders", "--networks", networks, "--clock", clock]
    kept = ["--cwd", str(folder), "--out", str(folder / "own"), "--save", str(folder / "own.yaml")]
    started = ["--server", program.command.format(**words), *given, *program.options]
    return run("compare", *started, *where, *kept, *extra)


def beside(name: str, folder: Path, run: Run) -> "subprocess.CompletedProcess[str]":
    """The same study of the subject; its campaign is `subject` in the folder. It asks for what subjects answer."""
    study = yaml.safe_load((folder / "own.yaml").read_text())
    del study["servers"]
    study["settings"]["server"] = PROGRAMS[name].subject
    study["settings"]["mix"][0]["path"] = f"/bytes/{SIZE}"
    if PROGRAMS[name].behind:
        study["settings"]["backend_network"] = "lan"
    (folder / "subject.yaml").write_text(yaml.safe_dump(study))
    blocks = str(json.loads((folder / "own/campaign.json").read_text())["blocks"])
    return run(
        "run", str(folder / "subject.yaml"), "--blocks", blocks, "--allow-unverified", "--out", str(folder / "subject")
    )


def latencies(campaign: Path) -> Latencies:
    """What a campaign says."""
    found: list[dict[str, Any]] = json.loads((campaign / "verdicts.json").read_text())["comparisons"]
    mine = [one for one in found if one["metric"] == "latency" and not one["twin"]]
    return {
        (one["cell"]["network"], f"{one['a']}/{one['b']}"): Latency(one["ratio"], one["low"], one["high"])
        for one in mine
    }

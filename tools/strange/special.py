"""Cases of special files: every option that takes a file or folder, and every name in a campaign's folder, with each
kind of special file in its place."""

import os
import socket
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from case import Case
from stage import Stage

SPARSE = 1 << 30
Make = Callable[[Path, Stage], None]


def _node(kind: int, major: int, minor: int, path: Path, _: Stage) -> None:
    os.mknod(path, kind | 0o666, os.makedev(major, minor))


def _socket(path: Path, stage: Stage) -> None:
    os.chdir(path.parent)  # paths of sockets are short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(stage.folder)


def _sparse(path: Path, _: Stage) -> None:
    with path.open("wb") as file:
        file.truncate(SPARSE)


KINDS: dict[str, Make] = {
    "pipe": lambda path, _: os.mkfifo(path),
    "socket": _socket,
    "zero": partial(_node, stat.S_IFCHR, 1, 5),
    "full": partial(_node, stat.S_IFCHR, 1, 7),
    "disk": partial(_node, stat.S_IFBLK, 7, 0),
    "folder": lambda path, _: path.mkdir(),
    "loop": lambda path, _: path.symlink_to(path.name),
    "broken": lambda path, _: path.symlink_to("nowhere"),
    "to-file": lambda path, stage: path.symlink_to(stage.outside / "file"),
    "to-folder": lambda path, stage: path.symlink_to(stage.outside / "folder"),
    "sparse": _sparse,
}
URL = ("--url", "https://localhost:8443/")
INPUTS: dict[str, tuple[str, ...]] = {
    "study": ("plan", "X.yaml"),
    "run": ("run", "X.yaml", "--out", "new"),
    "site": ("site", "show", "X.yaml"),
    "har": ("site", "import", "X.har", "--out", "new.yaml"),
    "compare-har": ("compare", "--server", "true", "--har", "X.har"),
    "samples": ("import", "X.csv", "--schema", "oha", "--out", "new"),
    "scorecard": ("import", "X.json", "--schema", "scorecard", "--out", "new"),
    "schema": ("import", "samples.csv", "--schema", "X.yaml", "--out", "new"),
    "claims": ("claims", "X.yaml"),
    "cacert": ("compare", "--server", "true", *URL, "--cacert", "X.pem"),
    "data": ("compare", "--server", "true", *URL, "--data", "X.bin"),
    "network": ("lab", "exec", "--network", "X.yaml", "--server", "true", "--client", "true"),
    "cwd": ("compare", "--server", "./serve", *URL, "--cwd", "X"),
    "campaign": ("analyse", "X"),
    "campaign-out": ("run", "smoke", "--out", "X"),
    "import-out": ("import", "samples.csv", "--schema", "oha", "--out", "X"),
}
OUTPUTS: dict[str, tuple[str, ...]] = {
    "show": ("show", "campaign", "TRIAL", "--out", "X.html"),
    "export": ("export", "campaign", "--out", "X"),
    "diff": ("diff", "campaign", "other", "--out", "X"),
    "site": ("site", "import", "page.har", "--out", "X.yaml"),
    "link": ("lab", "exec", "--network", "lan", "--server", "true", "--client", "true", "--json", "X.json"),
    "save": ("compare", "--server", "true", *URL, "--save", "X.yaml"),
}
INSIDE = (
    *("campaign.json", "journal.jsonl", "study.yaml", "verdicts.json", "verdicts.json.tmp", "report.html"),
    *("report.html.tmp", "gate.json", "gate.json.tmp", "figures", "show", "export", "diff", "tls", "trials", "uploads"),
    *("trials/TRIAL", "trials/TRIAL/samples.parquet", "trials/TRIAL/report.json", "trials/TRIAL/seal.json"),
    *("trials/TRIAL/trial.json", "trials/TRIAL/client.json", "trials/TRIAL/new"),
    *("trials/new~1", "trials/new~1.partial"),
)
READERS: tuple[tuple[str, ...], ...] = (
    ("analyse", "campaign"),
    ("report", "campaign"),
    ("export", "campaign"),
    ("why", "campaign"),
    ("show", "campaign", "TRIAL"),
    ("gate", "campaign", "--fail-if", "latency h3/h2 > 1.5"),
    ("run", "--out", "campaign"),
)


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for kind in KINDS:
        for name, words in INPUTS.items():
            yield Case(f"input {name}: {kind}", partial(_input, words, kind))
        for name, words in OUTPUTS.items():
            yield Case(f"output {name}: {kind}", partial(_output, words, kind))
        for place, inside in enumerate(INSIDE):
            reader = READERS[place % len(READERS)]
            yield Case(f"in a campaign, {inside}: {kind}", partial(_inside, inside, kind, reader))
    for out in ("/", ".", "campaign", "campaign/trials/x", "campaign/journal.jsonl", "x" * 300):
        yield Case(f"output {out}", partial(_output, ("show", "campaign", "TRIAL", "--out", out), ""))


def _input(words: tuple[str, ...], kind: str, stage: Stage) -> Iterator[str]:
    name = next(word for word in words if word.startswith("X"))
    KINDS[kind](stage.folder / name, stage)
    (stage.folder / "samples.csv").write_text("request-start,status\n")
    before = _nature(stage.folder / name)
    said = stage.run(*words)
    yield from said.faults()
    if said.status == 0 and not kind.endswith("folder"):
        yield f"{words} took a {kind}"
    if _nature(stage.folder / name) != before:
        yield f"the {kind} became another"
    if _led_there(words, kind):
        stage.forgive()


def _led_there(words: tuple[str, ...], kind: str) -> bool:
    """Return whether the user asked to write into the folder that a link leads to."""
    return kind == "to-folder" and any(word == "--out" for word in words)


def _output(words: tuple[str, ...], kind: str, stage: Stage) -> Iterator[str]:
    campaign, trial = _campaign(stage)
    if "other" in words:
        (stage.folder / "other").symlink_to(campaign)
    (stage.folder / "page.har").write_text("{}")
    name = next((word for word in words if word.startswith("X")), None)
    if name:
        KINDS[kind](stage.folder / name, stage)
    before = _nature(stage.folder / name) if name else None
    said = stage.run(*(trial.rpartition("~")[0] if word == "TRIAL" else word for word in words))
    yield from said.faults()
    if name and _nature(stage.folder / name) != before:
        yield f"the {kind} became another"
    if said.status == 0 and kind not in ("", "zero", "folder", "to-folder"):
        yield f"{words} was written to a {kind}"
    if _led_there(words, kind):
        stage.forgive()


def _inside(inside: str, kind: str, words: tuple[str, ...], stage: Stage) -> Iterator[str]:
    campaign, trial = _campaign(stage)
    inside = inside.replace("TRIAL", trial)
    place = campaign / inside
    if place.is_dir():
        place.rename(stage.folder / "aside")
    place.unlink(missing_ok=True)
    KINDS[kind](place, stage)
    before = _nature(place)
    said = stage.run(*(trial.rpartition("~")[0] if word == "TRIAL" else word for word in words))
    yield from said.faults()
    harmless = kind == "folder" or inside.endswith(".partial")
    if said.status == 0 and not harmless:
        yield f"{words} took a {kind} as {inside}"
    if not harmless and _nature(place) != before:
        yield f"the {kind} at {inside} became another"


def _campaign(stage: Stage) -> tuple[Path, str]:
    """Create a campaign, and return it with the name of one of its attempts' folders."""
    campaign = stage.campaign()
    return campaign, sorted(path.name for path in (campaign / "trials").iterdir())[0]


def _nature(path: Path) -> tuple[int, ...]:
    found = path.lstat()
    return stat.S_IFMT(found.st_mode), found.st_rdev, found.st_ino

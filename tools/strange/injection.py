"""Cases of injection: every text that may come from an attacker, with content that a terminal, a page, a spreadsheet, a
build service or a reader could take for a command."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from case import Case
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from stage import Stage, shapeless

PAYLOADS = {
    "colour": "a\x1b[31mb",
    "title": "a\x1b]0;owned\x07b",
    "c1": "a\x9b31mb",
    "backspace": "ab\x08\x08c",
    "carriage": "bad\rgood",
    "delete": "a\x7fb",
    "bidi": "a\u202egpj.exe",
    "isolate": "a\u2066b\u2069",
    "zero-width": "a\u200b\u200db",
    "separator": "a\u2028b",
    "tag": "a\U000e0041b",
    "bom": "a\ufeffb",
    "mask": "::add-mask::x",
    "stop": "x\n::stop-commands::y",
    "old-command": "##[add-matcher]x",
    "script": "<script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "link": "[x](javascript:alert(1))",
    "picture": "![x](http://127.0.0.1/)",
    "cell": "a | b ` c @everyone",
    "formula": "=HYPERLINK(1)",
    "at": "@SUM(1)",
    "minus": "-1+cmd",
    "label": 'a"} 1\nb{c="',
}
URL = ("--url", "https://localhost:8443/")
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "study": ("plan", "X"),
    "study file": ("plan", "./X.yaml"),
    "campaign": ("analyse", "X"),
    "out": ("run", "smoke", "--out", "X"),
    "only": ("plan", "smoke", "--filter", "network=X"),
    "factor": ("plan", "smoke", "--filter", "X=a"),
    "number": ("plan", "smoke", "--blocks", "X"),
    "subject": ("install", "X"),
    "site": ("site", "show", "X"),
    "har": ("site", "import", "X.har", "--out", "new.yaml"),
    "samples": ("import", "X.csv", "--schema", "oha", "--out", "new"),
    "schema": ("import", "a.csv", "--schema", "X", "--out", "new"),
    "claims": ("claims", "X"),
    "metrics": ("run", "smoke", "--metrics-listen", "X:1"),
    "server": ("compare", "--server", "X", *URL),
    "url": ("compare", "--server", "true", "--url", "https://X/"),
    "networks": ("compare", "--server", "true", *URL, "--networks", "X"),
    "protocols": ("compare", "--server", "true", *URL, "--protocols", "X"),
    "header": ("compare", "--server", "true", *URL, "--header", "X"),
    "env": ("compare", "--server", "true", *URL, "--env", "X"),
    "cwd": ("compare", "--server", "./a", *URL, "--cwd", "X"),
    "cacert": ("compare", "--server", "true", *URL, "--cacert", "X"),
    "load": ("compare", "--server", "true", *URL, "--load", "X"),
    "client": ("compare", "--server", "true", *URL, "--client", "X"),
    "condition": ("gate", "campaign", "--fail-if", "X"),
    "trial": ("show", "campaign", "X"),
    "option": ("plan", "--X"),
    "command": ("X",),
}
FILES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "a study's key": (("plan", "x.yaml"), "x.yaml", "h123: study/1\nX: 1\n"),
    "a study's value": (("plan", "x.yaml"), "x.yaml", "h123: study/1\nname: a\nblocks: X\n"),
    "a study's format": (("plan", "x.yaml"), "x.yaml", "h123: X\n"),
    "a site's resource": (("site", "show", "x.yaml"), "x.yaml", "h123: site/1\nname: a\ntitle: X\nresources: []\n"),
    "a HAR": (("site", "import", "x.har", "--out", "n.yaml"), "x.har", '{"log": {"entries": [{"request": X}]}}'),
    "samples": (("import", "x.csv", "--schema", "oha", "--out", "new"), "x.csv", "request-start,X\n1,X\n"),
}
FIELDS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "question": lambda it, text: it["study"].update(question=text),
    "name": lambda it, text: it["study"].update(name=text),
    "version": lambda it, text: it.update(version=text),
    "created": lambda it, text: it.update(created=text),
    "distribution": lambda it, text: it["machine"].update(distribution=text),
    "cpu": lambda it, text: it["machine"].update(cpu=text),
    "kernel": lambda it, text: it["machine"].update(kernel=text),
    "subject's version": lambda it, text: next(iter(it["subjects"].values())).update(version=text),
    "subject's stack": lambda it, text: next(iter(it["subjects"].values())).update(stack=text),
    "network's title": lambda it, text: [one.update(title=text) for one in it["networks"].values()],
    "format": lambda it, text: it.update(h123=text),
    "an unknown key": lambda it, text: it.update({text: 1}),
}
EVENTS = ("reason", "code", "trial", "event", "level")


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for kind, payload in PAYLOADS.items():
        for name, words in ARGUMENTS.items():
            yield Case(f"argument {name}: {kind}", partial(_argument, words, payload))
        for name, (words, file, content) in FILES.items():
            yield Case(f"{name}: {kind}", partial(_file, words, file, content, payload))
        for field in FIELDS:
            yield Case(f"campaign.json, {field}: {kind}", partial(_campaign, field, payload))
        for field in EVENTS:
            yield Case(f"journal, {field}: {kind}", partial(_journal, field, payload))


def _argument(words: tuple[str, ...], payload: str, stage: Stage) -> Iterator[str]:
    if "campaign" in words:
        stage.campaign()
    yield from stage.run(*(word.replace("X", payload) for word in words)).faults()


def _file(words: tuple[str, ...], file: str, content: str, payload: str, stage: Stage) -> Iterator[str]:
    written = json.dumps(payload) if not file.endswith("csv") else payload
    (stage.folder / file).write_text(content.replace("X", written), encoding="utf-8")
    yield from stage.run(*words).faults()


def _campaign(field: str, payload: str, stage: Stage) -> Iterator[str]:
    campaign = stage.campaign()
    content = json.loads((campaign / "campaign.json").read_text())
    del content["digest"]
    FIELDS[field](content, payload)
    (campaign / "campaign.json").write_text(json.dumps(content))
    yield from _shown(campaign, stage)


def _journal(field: str, payload: str, stage: Stage) -> Iterator[str]:
    campaign = stage.campaign()
    lines = [json.loads(line) for line in (campaign / "journal.jsonl").read_text().splitlines()]
    for event in lines:
        event.pop("digest", None)
    tried = [event for event in lines if event["event"] == "trial"]
    match field:
        case "reason" | "code":
            reason = {"code": payload if field == "code" else "odd", "detail": payload}
            tried[0].update(valid=False, reasons=[reason])
        case "level":
            tried[0]["cell"] = dict.fromkeys(tried[0]["cell"], payload)
        case _:
            tried[0][field] = payload
    (campaign / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in lines))
    yield from _shown(campaign, stage)


def _shown(campaign: Path, stage: Stage) -> Iterator[str]:
    for words in (
        ("report", "campaign"),
        ("analyse", "campaign"),
        ("export", "campaign"),
        ("gate", "campaign", "--fail-if", "latency h3/h2 > 1.5"),
        ("why", "campaign", "--limits"),
    ):
        yield from stage.run(*words).faults()
    for name in ("report.html", "gate.md", "gate.xml", "gate.prom", "gate-benchmark.json"):
        if (campaign / name).exists():
            yield from (f"{name} has {one!a}" for one in sorted(shapeless((campaign / name).read_text("utf-8"))))
    yield from _page(campaign / "report.html")
    yield from _forms(campaign)
    for table in campaign.glob("export/*.csv"):
        with table.open(newline="", encoding="utf-8") as file:
            cells = {cell for row in csv.reader(file) for cell in row}
        yield from (f"{table.name} has {cell!a}" for cell in cells if _is_formula(cell) or shapeless(cell))


def _is_formula(cell: str) -> bool:
    return cell.startswith(("=", "+", "@", "-")) and not re.fullmatch(r"[-+]?[0-9.eE+-]+", cell)


class _Elements(HTMLParser):
    """A parser that finds everything a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.odd = 0, list[str]()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.odd += [f"{tag} {name}" for name, _ in attributes if name.startswith("on")]
        self.odd += [f"{tag} {value}" for _, value in attributes if (value or "").strip().startswith("javascript:")]
        self.odd += [tag] if tag in ("img", "iframe", "object", "embed") else []


def _page(page: Path) -> Iterator[str]:
    if page.exists():
        found = _Elements()
        found.feed(page.read_text("utf-8"))
        if found.scripts > 1 or found.odd:
            yield f"{page.name}: {found.scripts} scripts, {found.odd}"


def _forms(campaign: Path) -> Iterator[str]:
    if not (campaign / "gate.xml").exists():
        return
    try:
        ElementTree.parse(campaign / "gate.xml")
        list(text_string_to_metric_families((campaign / "gate.prom").read_text("utf-8")))
    except (ElementTree.ParseError, ValueError) as error:
        yield f"gate: {error!a}"
    text = (campaign / "gate.md").read_text("utf-8")
    if re.search(r"<(script|img)|(?<!\\)\]\(|@everyone", text):
        yield f"gate.md: {text!a}"

"""The reference that follows from the code is complete."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from h123.base.paths import project_root
from h123.cli.app import app
from h123.json_schemas import DOCUMENTS, schemas
from h123.report import glossary
from h123.study import METRICS, Metric
from h123.study.parameters import PARAMETER_NAMES
from scripts import script

sys.path.append(str(project_root() / "tools"))
TOOL, SITE = script("reference"), script("docs_links")


def test_each_option_of_each_command_is_there() -> None:
    text = "\n".join(TOOL.command_line())
    commands = list(_commands(typer.main.get_command(app), "h123"))
    assert len(commands) > 20
    every = set[str]()
    for name, command in commands:
        assert f"\n## {name}\n" in f"\n{text}"
        section = f"\n{text}".partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        options = {option for each in command.params if each.param_type_name == "option" for option in each.opts}
        every |= options
        assert [option for option in options - {"--help", "-h"} if f"`{option}" not in section] == []
    assert {"--blocks", "--json", "--shard"} <= every


def _commands(group: Any, path: str) -> list[tuple[str, Any]]:
    found = list[tuple[str, Any]]()
    for name, command in getattr(group, "commands", {}).items():
        inner = _commands(command, f"{path} {name}")
        found += inner or [(f"{path} {name}", command)]
    return found


def test_each_parameter_of_a_study_is_there() -> None:
    text = dict(TOOL.inserted())["study-keys"]
    assert [name for name in PARAMETER_NAMES if f"| `{name}` |" not in text] == []


def test_the_keys_of_a_queue_are_there_with_their_units() -> None:
    text = dict(TOOL.inserted())["network-keys"]
    codel, red = (text.partition(f"{{discipline: {name}}}")[2].partition("###")[0] for name in ("codel", "red"))
    assert "| `target` | time, such as `50ms` | `5ms` |" in codel
    assert "| `limit` | size, such as `100kB` | required |" in red


METRIC_ROWS = {
    row[0].strip("`"): row
    for row in ([cell.strip() for cell in line.strip("|").split("|")] for line in TOOL.metrics())
    if row[0][:1] == "`"
}


def test_each_metric_is_there_in_order() -> None:
    assert list(METRIC_ROWS) == list(METRICS)


@pytest.mark.parametrize("one", METRICS.values(), ids=METRICS)
def test_a_metric_has_all_that_the_code_says_of_it(one: Metric) -> None:
    _, unit, meaning, shown, clock, better = METRIC_ROWS[one.name]
    needs = one.needs
    assert (unit, meaning, better) == (one.unit, one.meaning, one.better)
    assert clock == {("wall", "virtual"): "both", ("wall",): "wall", ("virtual",): "virtual"}[one.clocks]
    named = {*needs.columns, *needs.client, *needs.report, *needs.facts} | (
        {"losses: none"} if needs.counterpart else set()
    )
    assert set(re.findall("`(.*?)`", shown)) == named
    assert ("a record of packets" in shown) == needs.packets
    assert ("a network over which its client moves" in shown) == needs.breaks
    assert re.findall("of ([0-9]+) requests", shown) == [str(needs.requests)] * (needs.requests > 1)


MARK = re.compile(r"<!-- generated: ([a-z-]+) -->")


def test_each_mark_has_a_text() -> None:
    marks = {mark for page in (project_root() / "docs").rglob("*.md") for mark in MARK.findall(page.read_text("utf-8"))}
    made = dict(TOOL.inserted())
    assert marks <= made.keys()
    assert {
        "command-line",
        "study-keys",
        "verdicts-keys",
        "report-keys",
        "node-article",
        "subjects",
        "profiles",
        "constants",
        "audits",
    } <= marks
    assert all("|---|" in text or "| -- |" in text for text in made.values())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_key_of_a_file_is_there(name: str) -> None:
    schema = json.loads(dict(schemas())[f"{name}.schema.json"])
    shapes = [schema, *schema.get("$defs", {}).values()]
    keys = {key for shape in shapes for key in shape.get("properties", {})}
    text = "\n".join(TOOL.file_keys(schema))
    assert [key for key in keys if f"| `{key}` |" not in text] == []


def test_each_audit_is_there_and_each_word_is_in_the_glossary() -> None:
    text = "\n".join(TOOL.audits())
    assert [term.name for term in glossary.terms() if term.kind == "audit" and f"| `{term.name}` |" not in text] == []
    for kind in {term.kind for term in glossary.terms()} - {"audit", "metric"}:
        text = dict(TOOL.inserted())[f"glossary-{kind}"]
        named = [term.name for term in glossary.terms() if term.kind == kind]
        assert [name for name in named if not re.search(rf"^\| \[?`?{re.escape(name)}[`\],| ]", text, re.M)] == []


def test_a_generated_table_keeps_its_heading_on_the_site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "study-keys.md").write_text(dict(TOOL.inserted())["study-keys"], "utf-8")
    monkeypatch.setattr(SITE, "_REFERENCE", tmp_path)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="contracts/study.md"))
    text = SITE.on_page_markdown((project_root() / "docs/contracts/study.md").read_text("utf-8"), page)
    assert "make docs" not in text
    assert "\n## All keys\n\n### The file\n" in text


def test_each_network_is_there() -> None:
    shipped = {path.stem for path in (project_root() / "networks").glob("*.yaml")}
    assert len(shipped) > 20
    assert set(re.findall(r"^\| `(.+?)` \| .", "\n".join(TOOL.networks()), re.M)) == shipped


def test_the_glossary_has_all_its_tables() -> None:
    text = (project_root() / "docs/glossary.md").read_text("utf-8")
    assert len(MARK.findall(text)) == len(re.findall("^## ", text, re.M)) == 6

"""Commands of Start and How-to pages are executed as printed. Those that measure are planned; the first page is run."""

import itertools
import re
import shlex
from pathlib import Path

import pytest
import yaml

from cli.conftest import Tool, h123
from h123.base.paths import project_root
from h123.study import find_study, list_claims, load_study
from h123.study.registry import list_studies

__all__ = ["h123"]  # a fixture
ROOT = project_root()
FENCED = re.compile(r"^ *```sh\n(.*?)^ *```", re.M | re.S)
STUDY = re.compile(r"^( *)```yaml\n\1h123: study/1\n.*?^\1```", re.M | re.S)
SHIPPED = {path.stem for path in list_studies()}
EXECUTED = ("plan", "list", "explain")
PLANNED_OPTIONS = ("--blocks", "--seed", "--filter", "--scale", "--clock", "--transport", "--jobs")


def _pages() -> list[Path]:
    """Return the pages that the site has under Start and How-to."""
    text = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    nav = yaml.safe_load(text)
    names = [page for part in nav for title, pages in part.items() if title in ("Start", "How-to") for page in pages]
    return [ROOT / "docs" / name for entry in names for name in entry.values()]


def _commands(page: Path) -> list[list[str]]:
    lines = [line.strip() for block in FENCED.findall(page.read_text("utf-8")) for line in _joined(block)]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("h123 ")]


def _joined(block: str) -> list[str]:
    return block.replace("\\\n", " ").splitlines()


def _executed() -> list[list[str]]:
    """Return each command that measures nothing, and a plan for each that runs a study that h123 has."""
    found = list[list[str]]()
    for page in _pages():
        for words in _commands(page):
            if words[0] in EXECUTED and not any(word.endswith(".yaml") for word in words):
                found.append(words)
            elif words[0] == "run" and words[1] in SHIPPED and "$" not in " ".join(words):
                kept = [word for pair in itertools.pairwise(words[2:]) if pair[0] in PLANNED_OPTIONS for word in pair]
                found.append(["plan", words[1], *kept])
    return [words for number, words in enumerate(found) if words not in found[:number]]


def test_there_are_pages_and_commands() -> None:
    assert len(_pages()) > 20
    assert len(_executed()) > 20


@pytest.mark.parametrize("words", _executed(), ids=" ".join)
@pytest.mark.heavy
def test_a_command_is_executed(h123: Tool, words: list[str]) -> None:
    done = h123.succeed(*words)
    assert done.stdout


RESULT_PAGES = sorted((ROOT / "docs/results").glob("*.md"))


@pytest.mark.parametrize("page", RESULT_PAGES, ids=lambda page: str(page.stem))
def test_commands_of_a_result_page_name_what_exists(page: Path) -> None:
    """Studies, claims files, and the factors and levels of filters. Result pages call `./h123`."""
    claims = {path.stem for path in list_claims()} | SHIPPED
    for line in (line for block in FENCED.findall(page.read_text("utf-8")) for line in _joined(block)):
        program, command, *words = [*shlex.split(line, comments=True), "", ""]
        if program != "./h123":
            continue
        names = [word for word in itertools.takewhile(lambda word: not word.startswith("--"), words) if word]
        if command == "claims":
            assert not set(names) - claims, line
        elif command == "run" and names[0] in SHIPPED:
            factors = load_study(find_study(names[0])).factors
            for option, value in itertools.pairwise(words):
                factor, _, levels = value.partition("=")
                assert option != "--filter" or not set(levels.split(",")) - {*factors[factor]}, line


@pytest.mark.parametrize("name", ["pages.md", "guides/study.md"])
def test_the_study_of_a_page_can_be_planned(h123: Tool, name: str) -> None:
    found = STUDY.search((ROOT / "docs" / name).read_text("utf-8"))
    assert found
    lines = [line.removeprefix(found[1]) for line in found[0].splitlines()[1:-1]]
    (h123.folder / "study.yaml").write_text("\n".join(lines) + "\n")
    h123.succeed("plan", "study.yaml")


@pytest.mark.heavy
def test_the_first_page_is_run_as_printed(h123: Tool) -> None:
    commands = _commands(ROOT / "docs/first-run.md")
    assert commands[0] == ["doctor"]
    for words in commands:
        if words[0] == "run" and "--clock" in words:
            continue  # the same study on the virtual clock
        done = h123(*words, timeout=1800.0)  # 20 blocks of `quick`
        assert done.returncode == 0, f"{words}: {done.stderr}"
    assert (h123.folder / "campaigns/quick/report.html").is_file()
    assert (h123.folder / "campaigns/quick/verdicts.json").is_file()

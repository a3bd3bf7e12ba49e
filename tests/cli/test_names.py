"""Names with signs that others take for theirs."""

import subprocess
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.catalogue import OwnServer
from h123.cli.comparisons.servers import named_servers
from h123.progress.exposition import Listening
from h123.store.foreign.file import from_name
from h123.study import load_schema

SCHEMA = """h123: import/1
name: a
question: b
factors: {{protocol: [h1, h2]}}
compare: {{factor: protocol, pairs: [h2/h1]}}
samples:
  file_name: {pattern}
  latency: {{column: a, unit: s}}
  status: {{value: 200}}
  levels: {{protocol: {{column: protocol}}}}
"""


def _program(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('#!/bin/sh\necho "started: $*"\n')
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["./a=b/serve", "a=b/serve", "./serve=1"])
def test_a_program_whose_path_has_an_equals_sign_is_started(tmp_path: Path, name: str) -> None:
    _program(tmp_path, name)
    assert named_servers([f"{name} --port 1"], tmp_path) == {"server": f"{name} --port 1"}
    server = OwnServer(command=f"{name} --port 1", folder=str(tmp_path), host="a", protocols=["h1"])
    server.check()
    done = subprocess.run(server.words, capture_output=True, text=True, check=True)
    assert done.stdout == "started: --port 1\n"


def test_a_name_is_one_where_no_such_program_is_there(tmp_path: Path) -> None:
    assert named_servers(["new=./serve --port 1"], tmp_path) == {"new": "./serve --port 1"}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ('["{1}"]', "'1' is not a valid column name"),
        ('["{protocol}-{protocol}"]', "contains a name twice"),
        ('["{protocol}{block}"]', "a separator between two names"),
    ],
)
def test_a_pattern_of_file_names_is_refused_with_its_line(tmp_path: Path, pattern: str, said: str) -> None:
    (tmp_path / "schema.yaml").write_text(SCHEMA.format(pattern=pattern))
    with pytest.raises(UserError, match=said) as refused:
        load_schema(str(tmp_path / "schema.yaml"))
    assert f"{tmp_path}/schema.yaml:7: " in refused.value.message


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("{protocol}-{block}", "h1-2", {"protocol": "h1", "block": "2"}),
        ("{protocol}-{block}", "h1-2-3", {"protocol": "h1", "block": "2-3"}),
        ("run_{block}.x", "run_7.x", {"block": "7"}),
        ("{a}-{b}-end", "1-2-3-end", {"a": "1", "b": "2-3"}),
        ("-{a}", "--", {"a": "-"}),
    ],
)
def test_names_of_files_are_taken_apart(pattern: str, name: str, found: dict[str, str]) -> None:
    assert from_name(Path(f"{name}.csv"), [pattern]) == found


def test_a_name_that_nearly_fits_takes_no_time() -> None:
    many = "-".join(f"{{p{number}}}" for number in range(30))
    with pytest.raises(UserError, match="matches none"):
        from_name(Path("-" * 200 + "x.csv"), [many + "y"])


@pytest.mark.parametrize("port", ["9" * 60, "9" * 6000, "65536", "-1", "1.5", "", "\N{SUPERSCRIPT TWO}"])
def test_a_port_beyond_its_range_is_a_sentence_with_the_range(port: str) -> None:
    with pytest.raises(UserError) as refused:
        Listening.read(f":{port}")
    assert "0 to 65535" in (refused.value.remedy or "")
    assert len(refused.value.message) < 200

"""Printed values are read as meant, or refused with file, line and what is allowed; the shipped ones are exact."""

import re
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.study import find_study, load_printed, load_study, printed_values_of
from h123.study.registry import list_published

PRINTED = """\
h123: published/1
source: {title: A paper, where: "2026"}
compared: protocol
factors:
  protocol: {h2: {}, h3: {}}
  network:
    lan: {}
    medium: {size: 100kB, users: 4, rate: 20Mbit/s, round_trip: 30ms}
    poor: {size: 100kB, users: 4, rate: 10Mbit/s, round_trip: 50ms}
studies: {synthetic: {}}
values:
  - where: III
    quotation: HTTP/2 took 40 ms and HTTP/3 30 ms, 25.0% less (r = -0.500).
    metric: latency
    statistic: median
    cell: {network: poor}
    printed: {h2: 40ms, h3: 30ms}
    change: {h3/h2: -25.0%}
    effect: {h3/h2: "-0.500"}
  - where: III
    quotation: Throughput is between 0.1 and 9.99 MB/s.
    metric: throughput
    statistic: mean
    cell: {}
    printed: {h2: [0.1MB/s, 9.99MB/s]}
"""

BAD = [
    # (text in the file, its replacement, line of the complaint, words in it)
    ("h123: published/1\n", "", 1, ["`h123: published/1` is missing"]),
    ("compared: protocol", "compared: protocols", 3, ["no factor 'protocols'", "did you mean protocol?"]),
    ("lan: {}", "lan: {speed: 1}", 7, ["unknown key 'speed'"]),
    ("rate: 20Mbit/s", "rate: 20", 8, ["20 is not valid", "20Mbit/s"]),
    ("{synthetic: {}}", "{synthetic: {net: storage}}", 10, ["no factor 'net'"]),
    ("metric: latency", "metric: delay", 14, ["'delay' is not allowed", "latency, ttfb, throughput"]),
    ("statistic: median", "statistic: mode", 15, ["'mode' is not allowed", "mean, median"]),
    ("{network: poor}", "{network: por}", 16, ["no level of network 'por'", "did you mean poor?"]),
    ("{network: poor}", "{protocol: h2}", 16, ["no factor 'protocol'", "network"]),
    ("h2: 40ms", "h1: 40ms", 17, ["no level of protocol 'h1'", "h2, h3"]),
    ("h2: 40ms", "h2: 40", 17, ["'40' is not valid", "15ms"]),
    ("h2: 40ms", "h2: [40ms]", 17, ["printed"]),
    ("h3/h2: -25.0%", "h3: -25.0%", 18, ["'h3' is not a pair"]),
    ("h3/h2: -25.0%", "h3/h1: -25.0%", 18, ["no level of protocol 'h1'"]),
    ("-25.0%}", "-125.0%}", 18, ["-125.0%", "above -100 %"]),
    ('"-0.500"', '"-5"', 19, ["between -1 and 1"]),
    ("[0.1MB/s, 9.99MB/s]", "[9.99MB/s, 0.1MB/s]", 25, ["from the smaller to the larger"]),
    ("[0.1MB/s, 9.99MB/s]", "[0.1MB, 9.99MB/s]", 25, ["'0.1MB'", "5.33MB/s"]),
    ("    printed: {h2: [0.1MB/s, 9.99MB/s]}\n", "", 20, ["has no figures"]),
]


def write(folder: Path, text: str) -> Path:
    path = folder / "paper.yaml"
    path.write_text(text)
    return path


def test_figures_are_read_with_their_units(tmp_path: Path) -> None:
    found = load_printed(write(tmp_path, PRINTED)).all()
    assert [(one.kind, one.of, one.low, one.high) for one in found] == [
        ("value", "h2", 0.04, 0.04),
        ("value", "h3", 0.03, 0.03),
        ("change", "h3/h2", -0.25, -0.25),
        ("effect", "h3/h2", -0.5, -0.5),
        ("value", "h2", 1e5, 9.99e6),
    ]
    assert found[2].written == ("-25.0%",)


def test_an_open_cell_has_the_facts_of_every_level(tmp_path: Path) -> None:
    printed = load_printed(write(tmp_path, PRINTED))
    assert sorted(facts.rate or 0 for facts in printed.facts({"protocol": "h2"})) == [0, 10_000_000, 20_000_000]
    (poor,) = printed.facts({"protocol": "h2", "network": "poor"})
    assert (poor.size, poor.users, poor.round_trip) == (100_000, 4, 50_000_000)


@pytest.mark.parametrize(("text", "replacement", "line", "words"), BAD)
def test_faults_are_named(tmp_path: Path, text: str, replacement: str, line: int, words: list[str]) -> None:
    assert text in PRINTED
    path = write(tmp_path, PRINTED.replace(text, replacement, 1))
    with pytest.raises(UserError) as fault:
        load_printed(path)
    assert fault.value.message.startswith(f"{path}:{line}: "), fault.value.message
    for word in words:
        assert word in fault.value.message


def test_two_files_about_one_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = write(tmp_path, PRINTED), tmp_path / "other.yaml"
    second.write_text(PRINTED)
    monkeypatch.setattr("h123.study.claims.printed_values.list_published", lambda: [first, second])
    with pytest.raises(UserError, match="study 'synthetic' is named in both"):
        printed_values_of("synthetic")
    assert printed_values_of("quick") is None


@pytest.mark.parametrize("path", list_published(), ids=lambda path: str(path.stem))
def test_every_figure_that_comes_with_h123_stands_in_its_sentence(path: Path) -> None:
    for one in load_printed(path).all():
        for written in one.written:
            number = re.match(r"[-+]?([0-9.]+)", written)
            assert number
            assert number[1] in one.statement.quotation, (written, one.statement.quotation)


@pytest.mark.parametrize("path", list_published(), ids=lambda path: str(path.stem))
def test_the_factors_are_those_of_the_studies(path: Path) -> None:
    printed = load_printed(path)
    for name, renamed in printed.studies.items():
        study = load_study(find_study(name))
        for factor, levels in printed.factors.items():
            theirs = study.factors[renamed.get(factor, factor)]
            assert set(theirs) <= set(levels), f"{name}: {factor}"
            for level, parameters in theirs.items():
                for fact in ("size", "users"):
                    assert getattr(levels[level], fact) == parameters.get(fact, getattr(levels[level], fact))


def test_the_rest_study_s_values_are_complete() -> None:
    """As many figures as sections III.A and III.C of the paper print for a cell."""
    printed = printed_values_of("rest-api")
    assert printed
    kinds = [one.kind for one in printed.all()]
    assert {kind: kinds.count(kind) for kind in kinds} == {"value": 34, "change": 13, "effect": 12}

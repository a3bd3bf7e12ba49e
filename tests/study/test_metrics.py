"""Nothing is missing from the table of metrics, and nobody else has a part of it."""

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from h123.analysis.statistics.spreads import known_spreads
from h123.base.paths import project_root
from h123.catalogue import Client
from h123.study import (
    METRICS,
    PRINTED,
    MeasurableClaim,
    Metric,
    list_claims,
    list_schemas,
    list_studies,
    load_ledger,
    load_printed,
    load_schema,
    load_study,
    metric,
)
from h123.study.metrics.quantity import ProcessorTime, RequestTime
from h123.study.registry import list_published

ROOT = project_root()
NAMED_LIKE_OTHERS = {"latency", "ttfb", "handshake", "cpu", "throughput", "recovery", "packets_up", "packets_down"}
"""Columns, features, constants, parts of an opening and what causes are told of have these names too."""


def test_whatever_names_a_metric_names_one_of_them() -> None:
    studies = [load_study(path) for path in list_studies()]
    studies += [load_schema(str(path)).study for path in list_schemas()]
    asked = {name for one in studies for family in one.compare.families for name in family.metrics}
    claims = [claim for path in list_claims() for claim in load_ledger(path).claims]
    claimed = {claim.metric for claim in claims if isinstance(claim, MeasurableClaim)}
    varied = {spread.metric for spread in known_spreads()}
    printed = {value.metric for path in list_published() for value in load_printed(path).values}
    assert {*asked, *claimed, *varied} <= METRICS.keys()
    assert printed == PRINTED.keys()


@pytest.mark.parametrize("one", {**METRICS, **PRINTED}.values(), ids={**METRICS, **PRINTED})
def test_each_has_all_that_others_ask(one: Metric) -> None:
    assert metric(one.name) is one
    assert one.of
    assert one.unit
    assert all([one.title, one.meaning, *(getattr(one.words, field.name) for field in fields(one.words))])
    assert one.words.better != one.words.worse
    assert {one.cold, one.repeats} - {None} <= METRICS.keys()
    assert set(one.needs.client) <= Client.model_fields.keys()
    assert one.format(1.5).endswith(("s", "B", "B/s", "/s", "/min", "%"))
    assert one.format(None) == "–"


@pytest.mark.parametrize("one", METRICS.values(), ids=METRICS)
def test_a_verdict_on_an_amount_is_lower_or_higher(one: Metric) -> None:
    timed = one.unit in ("s", "bit/s", "/s", "/min") and not isinstance(one.of, ProcessorTime)
    assert one.verdicts == (("faster", "slower") if timed else ("lower", "higher"))
    assert [one.standing(verdict) for verdict in (*one.verdicts, "equivalent")] == ["better", "worse", "equivalent"]


def test_they_can_be_told_apart() -> None:
    every = {**METRICS, **PRINTED}
    assert len({one.title for one in every.values()}) == len({one.noun for one in every.values()}) == len(every)
    assert len({one.of for one in every.values()}) == len(every)


def test_high_quantiles_are_of_latency() -> None:
    """measures/summary.py computes no others, and the intervals of measures/quantiles.py are of these."""
    high = [one.of for one in METRICS.values() if isinstance(one.of, RequestTime) and one.of.share != 0.5]
    assert {(of.phase, of.until) for of in high} == {("warm", "end_ns")}


def test_one_that_nobody_measures_goes_by_its_own_name() -> None:
    foreign = metric("requests a second")
    assert (foreign.title, foreign.noun, foreign.format(0.25)) == ("requests a second", "requests a second", "0.25")
    assert foreign.clocks == foreign.needs.columns == ()


def test_nobody_else_knows_one_by_name() -> None:
    names = METRICS.keys() - NAMED_LIKE_OTHERS
    default = "study/study.py"  # what a study compares that does not say
    known = {place for place, word in _words() if word in names}
    assert {place for place in known if not place.startswith("study/metrics/")} == {default}


def _words() -> Iterator[tuple[str, object]]:
    package = ROOT / "src/h123"
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))):
            if isinstance(node, ast.Constant):
                yield str(path.relative_to(package)), node.value


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ([0.45, 1.73, 1.23], ["0.45 s", "1.73 s", "1.23 s"]),
        ([0.0009, 0.0011, 0.012], ["0.9 ms", "1.1 ms", "12 ms"]),
        ([0.161, 0.445], ["161 ms", "445 ms"]),
        ([0.000002, 1.5], ["2 µs", "1.5 s"]),
        ([None, 1.5, 0.4], ["–", "1.5 s", "0.4 s"]),
        ([0.0, 0.5], ["0 ms", "500 ms"]),
    ],
)
def test_a_row_of_a_table_has_one_unit(row: list[float | None], shown: list[str]) -> None:
    """`900 µs`, `1.1 ms` and `1.73 s` stood in one row."""
    assert [METRICS["latency"].format_alike(value, row) for value in row] == shown

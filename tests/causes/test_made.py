"""Made causes are named: real trials, over each protocol."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from causes.made import MADE, Bench, Made
from h123.catalogue import catalogue, install
from h123.causes import explain
from h123.causes.cause import NUMBER, UNTOLD
from h123.study.workload import OK
from h123.trial import SERVER_ADDRESS, LocalEngine, campaign_certificate

CASES = [(made, protocol) for made in MADE for protocol in made.protocols]
SAMPLE = {
    ("a small window", "h3"),
    ("a small stream window", "h3"),
    ("a small receive window", "h2"),
    ("2 % loss", "h2"),
    ("a slow server", "h2"),
    ("a full link", "h3"),
    ("a Retry", "h3"),
    ("blocked UDP", "h2"),
    ("a full receive buffer", "h3"),
}
"""What `make test` asks for."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    install(catalogue()["go"], print)
    engine = LocalEngine()
    yield Bench(engine, campaign_certificate(tmp_path, [SERVER_ADDRESS]), tmp_path)
    engine.stop()


def _named(bench: Bench, made: Made, protocol: str) -> None:
    largest, groups = bench.largest(made, protocol, seed=20261123)
    assert largest == made.expected(protocol), {
        name: round(seconds * 1e3, 2) for name, seconds in groups.items() if seconds
    }


@pytest.mark.parametrize(
    ("made", "protocol"),
    [case for case in CASES if (case[0].name, case[1]) in SAMPLE],
    ids=lambda v: getattr(v, "name", v),
)
def test_a_made_cause_is_named(bench: Bench, made: Made, protocol: str) -> None:
    _named(bench, made, protocol)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("made", "protocol"),
    [case for case in CASES if (case[0].name, case[1]) not in SAMPLE],
    ids=lambda v: getattr(v, "name", v),
)
def test_every_made_cause_is_named(bench: Bench, made: Made, protocol: str) -> None:
    _named(bench, made, protocol)


def test_what_the_record_of_packets_does_not_cover_is_left_out(bench: Bench) -> None:
    full_link = next(made for made in MADE if made.name == "a full link")
    folder = bench.carry_out(full_link, "none", "h2", seed=1, packets=1000)  # of some 600 a request
    told = explain(folder, [OK])
    asked = len(pq.read_table(folder / "samples.parquet"))
    assert 0 < len(told.phases) < asked
    assert told.seconds[:, NUMBER[UNTOLD]].max() == 0
    assert not explain(folder, [201]).rows  # which no answer has

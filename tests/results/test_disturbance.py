"""What the machine may have done to a trial's times: never less than it did, and nothing where it did nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import document
from h123.documents.lab_report import MachineLoad, Report
from h123.documents.trial_files import TrialFile
from h123.measures.disturbance import UNDISTURBED, _overlap, _spans, disturbance, is_machines_fault, machine_noise
from h123.store.rows import Rows

MS = 1_000_000
LINK = {"delay_ns": 25 * MS}


def samples(folder: Path, starts_ms: list[float], took_ms: list[float], group: int | None = None) -> Path:
    rows: list[dict[str, Any]] = [
        {"group": group}
        | {"phase": "warm", "user": 0, "start_ns": int(start * MS), "end_ns": int((start + took) * MS), "status": 200}
        | {"bytes_up": 0, "bytes_down": 1, "protocol": "h2", "connection": 0, "reused": 1, "error": ""}
        for start, took in zip(starts_ms, took_ms, strict=True)
    ]
    target = folder / "samples.parquet"
    Rows.of(rows).write(target)
    return target


def report(
    *,
    main_ms: float = 1000,
    stalls_ms: tuple[tuple[float, float], ...] = (),
    link_ms: tuple[tuple[float, float], ...] = (),
    wait_ms: float = 0,
    busy_ms: float = 0,
    steal_ms: float = 0,
    turns: int = 1000,
) -> Report:
    def spans(listed: tuple[tuple[float, float], ...]) -> list[list[int]]:
        return [[int(start * MS), int(end * MS)] for start, end in listed]

    cpu = {"main_ns": 0, "main_wait_ns": int(wait_ms * MS), "main_turns": turns}
    content = {
        "h123": "report/1",
        "reasons": [],
        "started_unix_ns": 0,
        "phases_ns": {"setup": 0, "main": int(main_ms * MS)},
        "main_began_ns": 0,
        "links": [{"stalls": spans(link_ms)}],
        "roles": [{"name": "server", "cpu": cpu}],
        "hosts": [],
        "machine": {
            "cpus": 2,
            "lab_ns": 0,
            "busy_ns": int(busy_ms * MS),
            "steal_ns": int(steal_ms * MS),
            "stalls": [spans(stalls_ms), []],
        },
    }
    return document(Report, content)


def trial(clock: str = "wall", link: dict[str, Any] | None = None) -> TrialFile:
    return document(
        TrialFile, {"h123": "trial/1", "clock": clock, "links": [{"up": link, "down": link} if link else {}]}
    )


def share(folder: Path, given: Report, metric: str = "latency", link: dict[str, Any] | None = None) -> float:
    starts = [20.0 * i for i in range(50)]
    return disturbance(given, trial(link=link), samples(folder, starts, [10.0] * 50)).shares[metric]


def test_nothing_happened(tmp_path: Path) -> None:
    assert share(tmp_path, report()) == 0


def test_a_stall_outside_of_requests_or_through_a_few_of_them_moves_no_median(tmp_path: Path) -> None:
    assert share(tmp_path, report(link_ms=((12, 18),))) == 0
    assert share(tmp_path, report(link_ms=((0, 100),))) == 0, "five of fifty requests"
    assert share(tmp_path, report(link_ms=((0, 100),)), "latency_p95") == 0, "what was slowest is as slow without them"


def test_stalls_through_most_requests_count_with_what_they_took_of_each(tmp_path: Path) -> None:
    through = tuple((20 * i + 4, 20 * i + 6) for i in range(40))
    assert share(tmp_path, report(link_ms=through)) == pytest.approx(0.2)


def test_what_a_processor_did_while_nobody_waited_for_it_is_not_counted(tmp_path: Path) -> None:
    through = tuple((20 * i + 4, 20 * i + 6) for i in range(50))
    assert share(tmp_path, report(stalls_ms=through, busy_ms=100)) == 0
    assert share(tmp_path, report(stalls_ms=through, busy_ms=100, wait_ms=50)) == pytest.approx(0.1)
    assert share(tmp_path, report(stalls_ms=through, steal_ms=100)) == pytest.approx(0.2)


def test_own_threads_that_wait_for_one_another_are_no_disturbance(tmp_path: Path) -> None:
    assert share(tmp_path, report(wait_ms=500)) == 0
    assert share(tmp_path, report(wait_ms=500, busy_ms=100)) == pytest.approx(0.1)


def test_over_a_link_waits_count_once_a_round_trip(tmp_path: Path) -> None:
    given = report(wait_ms=500, busy_ms=2000, turns=10_000)
    assert share(tmp_path, given) == pytest.approx(0.5)
    # 10 ms are a fifth of a round trip; six turns of 0.05 ms in each.
    assert share(tmp_path, given, link=LINK) == pytest.approx(1.2 * 6 * 0.05 / 10)


def test_goodput_counts_the_whole_run(tmp_path: Path) -> None:
    assert share(tmp_path, report(link_ms=((0, 99),)), "goodput") == pytest.approx(0.1)


def test_virtual_clock_and_old_reports_tell_of_none(tmp_path: Path) -> None:
    target = samples(tmp_path, [0], [10])
    assert disturbance(report(link_ms=((0, 9),)), trial("virtual"), target) is UNDISTURBED
    old = report().model_copy(update={"machine": MachineLoad(cpus=2)})
    assert disturbance(old, trial(), target) is UNDISTURBED


def test_metrics_without_samples_have_no_share(tmp_path: Path) -> None:
    target = samples(tmp_path, [0], [10])
    found = disturbance(report(), trial(), target)
    assert set(found.shares) == {"latency", "latency_p95", "latency_p99", "sent_latency_p99", "goodput", "rps"}, (
        "nothing is known of cold ones"
    )


def test_a_visit_is_disturbed_as_a_whole(tmp_path: Path) -> None:
    """Two requests of 10 ms one after another; the machine stood still for half of the first."""
    target = samples(tmp_path, [0, 10], [10, 10], group=0)
    found = disturbance(report(link_ms=((0, 5),)), trial(), target)
    assert found.shares["page_complete"] == pytest.approx(0.25)


def test_noise_is_what_others_had() -> None:
    assert machine_noise(report(busy_ms=500)) == pytest.approx(0.25)
    assert machine_noise(report(stalls_ms=((0, 100), (200, 300)))) == pytest.approx(0.1)
    assert machine_noise(report(main_ms=0)) == 0


@pytest.mark.parametrize(
    ("codes", "stalled_ms", "by_machine"),
    [
        (["client-timeout"], 200, True),
        (["client-timeout"], 50, False),
        (["client-timeout", "samples-missing"], 200, False),
        (["client-failed"], 900, False),
        (["link-overrun"], 0, True),
        ([], 900, False),
    ],
)
def test_which_failures_may_be_the_machines(codes: list[str], stalled_ms: float, by_machine: bool) -> None:
    reasons = [{"code": code, "detail": ""} for code in codes]
    failed = report(stalls_ms=((0, stalled_ms),)).model_copy(update={"reasons": reasons})
    assert is_machines_fault(failed) == by_machine


spans = st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 50)).map(lambda s: [s[0], s[0] + s[1]]), max_size=30)


@given(spans, st.integers(0, 1000), st.integers(0, 500))
def test_overlap_is_what_counting_says(listed: list[list[int]], start: int, took: int) -> None:
    inside = sum(any(a <= t and t + 1 <= b for a, b in listed) for t in range(start, start + took))
    found = _overlap(_spans(listed), np.array([float(start)]), np.array([float(start + took)]))
    assert found[0] == pytest.approx(inside)

"""A campaign whose connections resume sessions and send early data, on real namespaces."""

import pytest

from cli.conftest import Tool
from h123.measures import load_attempts

NETWORK = """\
h123: network/1
name: line
title: 20 ms
up: {delay: 10ms}
down: {delay: 10ms}
"""
STUDY = """\
h123: study/1
name: openings
question: Is what is called resumed resumed?
factors:
  opening:
    h1-resumed: {protocol: h1, sessions: resumed}
    h2-full: {protocol: h2}
    h2-resumed: {protocol: h2, sessions: resumed}
    h3-full: {protocol: h3}
    h3-early: {protocol: h3, sessions: early}
settings: {server: go, client: go, network: line.yaml, size: 1kB, users: 1, requests: 1, connections: 2}
compare:
  factor: opening
  pairs: [h2-resumed/h2-full, h3-early/h3-full]
  twin: h2-full
  families:
    - {name: answer, correction: bh, metrics: [cold_round_trips, opening_up, opening_packets_down]}
blocks: 1
"""
ROUND_TRIPS = {"h1-resumed": 3, "h2-full": 3, "h2-resumed": 3, "h3-full": 2, "h3-early": 1}


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_sessions_are_resumed_as_asked(h123: Tool) -> None:
    (h123.folder / "line.yaml").write_text(NETWORK)
    for attempt in load_attempts(h123.run_study(STUDY)):
        level = attempt.cell["opening"]
        [told] = attempt.tls
        _, _, sessions = level.partition("-")
        assert (told.connections, told.resumed, told.early) == (2, sessions != "full", sessions == "early"), level
        # By the wall clock others may pass while this machine is at work.
        assert min(one.round_trips for one in attempt.openings) == ROUND_TRIPS[level], level
        assert len(attempt.openings) == 2
    verdicts = h123.verdicts()
    held = {(audit["audit"], audit["passed"]) for audit in verdicts["audits"] if audit["trial"]}
    assert {name for name, _ in held} >= {"sessions-wrong", "round-trips-odd", "tls-unlike"}
    assert not {name for name, passed in held if not passed} & {"sessions-wrong", "tls-unlike"}


def test_early_data_over_tcp_is_refused_before_anything_runs(h123: Tool) -> None:
    (h123.folder / "line.yaml").write_text(NETWORK)
    (h123.folder / "openings.yaml").write_text(STUDY.replace("h2, sessions: resumed", "h2, sessions: early"))
    refusal = h123.refusal("plan", "openings.yaml")
    assert "has no early data (0-RTT) over h2, only over h3" in refusal.replace("\n", " ").replace("  ", " ")

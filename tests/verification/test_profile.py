"""What holds a subject back: told right of servers that were made to, and said in words."""

from pathlib import Path

import pytest

from adversary.zoo import Fault, write_faulty
from h123.catalogue import DEFAULT_CONGESTION, catalogue, install
from h123.documents.campaign_file import VerifiedRole
from h123.execution import Pool
from h123.packets.capture import UDP
from h123.verification import measurable, public_records
from h123.verification.constants.experiment import SenderCase
from h123.verification.constants.transfer import download
from h123.verification.profile import SITUATIONS, SituationResult, holding_words, measure, profile, slowness, summary
from h123.verification.profile.measure import spread
from h123.verification.profile.situation import PACING
from verification.packet_tables import TRIP, doubling, opened

ONE = SituationResult(role="server", protocol="h3", congestion="cubic", situation="far-getting", least=0.5)
PARTS = {"limit": 0.9, "slow-start": 0.5, "rate": 0.4, "trip": 0.1, "loss": 0.05, "idle": 0.05}


def test_what_takes_a_tenth_of_the_time_holds_and_what_cannot_be_spared_does_not() -> None:
    held = ONE.model_copy(update={"seconds": 2.0, "parts": PARTS, "in_flight": 64_000})
    assert slowness(held) == "4"
    assert holding_words(held) == (
        "45% a fixed limit, such as flow control or a buffer, 64 kB in flight, 25% slow start"
    )
    assert holding_words(held.model_copy(update={"parts": {"rate": 1.5, "trip": 0.5}})) == "nothing"


def test_a_sender_that_does_not_pace_is_said_to() -> None:
    held = ONE.model_copy(update={"seconds": 2.0, "parts": PARTS | {"limit": 0.1}})
    assert holding_words(held.model_copy(update={"spread": 0.03})) == "25% slow start, sent in bursts"
    assert holding_words(held.model_copy(update={"spread": 0.9})) == "25% slow start"


FAR = next(one for one in SITUATIONS if one.name == PACING)


@pytest.mark.parametrize(("paced", "share"), [(0.0, 0.0), (0.9, 0.896)])
def test_pacing_is_told_of_flights_that_the_link_does_not_spread(paced: float, share: float) -> None:
    table = opened(protocol=UDP)
    table.flights(doubling(16, 4), spread=paced)
    table.flights(doubling(256, 3), begin=6.5, spread=1.0)  # 358 kB of 2.5 MB and more
    assert spread(download(table.packets(), TRIP), FAR) == pytest.approx(share, abs=0.005)


def test_what_is_not_told_says_why() -> None:
    unknown = ONE.model_copy(update={"unknown": "the client makes no cold requests"})
    assert slowness(unknown) == "-"
    assert holding_words(unknown) == "not known: the client makes no cold requests"


def test_a_profile_of_the_version_before_is_read() -> None:
    content = ONE.model_dump() | {"seconds": 2.0, "parts": {"untold": 1.0, "rate": 1.0}}
    assert holding_words(SituationResult.model_validate(content)) == "50% what packets do not show"


def test_the_public_profiles_are_put_into_words() -> None:
    results = [result for public in public_records().values() for result in public.record.profile or []]
    assert results
    assert all(summary(result) for result in results)


def test_the_least_is_a_round_trip_and_the_body_at_the_links_rate() -> None:
    far = next(one for one in SITUATIONS if one.name == "far-sending")
    assert far.least_s == pytest.approx(0.1 + 80 / 200)
    assert far.description == "10 MB over 100 ms and 200 Mbit/s, the mean of 3 requests on a connection"


@pytest.mark.parametrize(
    ("name", "role", "protocol", "logs"),
    [
        ("go", "server", "h3", True),
        ("go", "server", "h2", False),
        ("nginx", "server", "h3", False),
        ("pycurl", "client", "h3", True),  # of go, the server
    ],
)
def test_a_server_that_can_logs_what_flow_control_holds(
    name: str, role: VerifiedRole, protocol: str, logs: bool
) -> None:
    asked = SenderCase(catalogue()[name], role, protocol, DEFAULT_CONGESTION)
    assert {measure.parameters_of(asked, situation).qlog for situation in SITUATIONS} == {logs}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("fault", "situation", "cause"), [("windows", "far-getting", "stream-limit"), ("retry", "first-small", "retry")]
)
def test_made_causes_hold_the_server_back(fault: str, situation: str, cause: str, tmp_path: Path, pool: Pool) -> None:
    install(catalogue()["go"], print)
    made = write_faulty(tmp_path / "subjects" / fault, Fault(fault, "", "h3", "", "", virtual=True))
    if why := measurable(made):
        pytest.skip(why)
    told = {held.situation: held for held in profile(made, "server", pool, lambda _: None)}
    assert set(told) == {one.name for one in SITUATIONS}
    held = told[situation]
    assert held.seconds == pytest.approx(sum(held.parts.values()), abs=1e-4)
    assert max((s, name) for name, s in held.parts.items() if name not in ("rate", "trip", "connecting"))[1] == cause
    assert held.seconds > held.least

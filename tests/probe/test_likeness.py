"""What answers differently is refused before anything is measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.errors import UserError
from h123.probe import Inquiry, ProbedSite, ServerAbilities, check_answers
from h123.probe.findings import ProtocolFindings
from probe.test_draft import GOOD

ONE = Inquiry(ProbedSite("localhost", 8443, ("/x",)))


def spoken(protocol: str, *answers: tuple[int, int]) -> ProtocolFindings:
    """Over one protocol, answers of these statuses and sizes to /x."""
    had = [GOOD.model_copy(update={"status": status, "bytes": size}) for status, size in answers]
    return ProtocolFindings(
        protocol=protocol,  # type: ignore[arg-type]
        error="",
        no_tls=False,
        only_tls_1_2=False,
        distrust="",
        asks_for_certificate=False,
        connections=1,
        answers=[had],
    )


def known(*each: ProtocolFindings) -> ServerAbilities:
    return ServerAbilities(each, [], [one.protocol for one in each])


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ([(200, 240_000)], [(200, 0)]),
        ([(200, 240_000)], [(200, 239_000)]),
        ([(200, 500)], [(204, 0)]),
        ([(200, 500)], [(206, 500)]),
        ([(200, 500), (200, 510)], [(200, 100), (200, 110)]),
        ([(200, 500), (200, 510)], [(200, 0), (200, 510)]),
    ],
)
def test_builds_that_answer_differently(base: list[tuple[int, int]], new: list[tuple[int, int]]) -> None:
    builds = {"base": known(spoken("h2", *base)), "new": known(spoken("h2", *new))}
    with pytest.raises(UserError, match=r"the builds answer differently.*GET /x over HTTP/2: base 200 with") as refused:
        check_answers(builds, ["h2"], ONE)
    assert "--answers-differ" in (refused.value.remedy or "")
    one = {"server": known(spoken("h1", *base), spoken("h3", *new))}
    with pytest.raises(UserError, match="the protocols answer differently"):
        check_answers(one, ["h1", "h3"], ONE)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=3))
def test_the_same_answers_are_alike(sizes: list[int]) -> None:
    side = [(200, size) for size in sizes]
    check_answers({"base": known(spoken("h2", *side)), "new": known(spoken("h2", *reversed(side)))}, ["h2"], ONE)


def test_protocols_that_nothing_compares_may_differ() -> None:
    """Of two builds each protocol is compared with itself."""
    build = known(spoken("h1", (200, 10)), spoken("h2", (200, 20)))
    check_answers({"base": build, "new": build}, ["h1", "h2"], ONE)

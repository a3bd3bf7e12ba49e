"""The round trips that bench/certificates.py predicts."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.paths import project_root


@pytest.fixture(scope="module")
def bench() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(project_root() / "bench"), *sys.path])
        import certificates

    return certificates


# Counted on the link.
@pytest.mark.parametrize(
    ("protocol", "server", "size", "window", "classical", "hybrid"),
    [
        ("h2", "go", 13_500, 10, 3, 4),
        ("h2", "nginx-sid", 13_500, 10, 4, 4),  # three of its packets are not full
        ("h2", "nginx-sid", 12_500, 10, 3, 4),
        ("h2", "go", 40_000, 10, 4, 4),
        ("h2", "nginx-sid", 40_000, 10, 4, 4),  # but those that wait for the window are
        ("h2", "go", 40_000, 32, 3, 3),
        ("h3", "go", 3000, 10, 2, 2),
        ("h3", "nginx-sid", 3000, 10, 3, 2),  # ML-KEM's second datagram lets the server send more
        ("h3", "go", 19_000, 10, 4, 3),  # a window that is at most half full does not grow
        ("h3", "go", 20_000, 32, 3, 3),
        ("h3", "nginx-sid", 20_000, 10, 4, 3),
    ],
)
def test_known_answers(
    bench: Any, protocol: str, server: str, size: int, window: int, classical: int, hybrid: int
) -> None:
    trials = [_trial(protocol, server, size, window, share) for share in ("X25519", "X25519MLKEM768")]
    assert [bench.predicted(trial) for trial in trials] == [classical, hybrid]


@given(
    st.sampled_from(["h2", "h3"]),
    st.sampled_from(["go", "nginx-sid"]),
    st.integers(1000, 39_000),
    st.integers(1, 1000),
    st.sampled_from(["X25519", "X25519MLKEM768"]),
    st.integers(10, 64),
)
def test_larger_certificates_never_take_fewer_and_larger_windows_never_more(
    bench: Any, protocol: str, server: str, size: int, more: int, share: str, window: int
) -> None:
    one = bench.predicted(_trial(protocol, server, size, window, share))
    assert one >= {"h2": 3, "h3": 2}[protocol]
    assert bench.predicted(_trial(protocol, server, size + more, window, share)) >= one
    assert bench.predicted(_trial(protocol, server, size, window + 1, share)) <= one
    if protocol == "h2":
        assert bench.predicted(_trial(protocol, server, size, window, "X25519MLKEM768")) >= one


@pytest.mark.parametrize("differs", [0, 1])
def test_a_trial_that_differs_is_reported(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], differs: int
) -> None:
    trials = [_trial("h2", "go", 1000, 10, "X25519", 3), _trial("h2", "go", 3000, 10, "X25519", 3 + differs)]
    monkeypatch.setattr(bench, "load_attempts", lambda _: trials)
    monkeypatch.setattr(bench.CampaignFolder, "open", lambda path: path)
    assert bench.main(Path()) == differs
    printed = capsys.readouterr()
    assert f"{2 - differs} of 2 trials as predicted" in printed.out
    assert ("[4] round trips, 3 predicted" in printed.err) == bool(differs)


def test_writes_are_those_of_openssl(bench: Any) -> None:
    """As recorded from nginx with 6, 20 and 40 kB."""
    begin, end = [127, 6, 41], [101, 58]
    for records, written in [
        ([6040], [4096, 2277]),
        ([16_406, 3656], [4096, 12_484, 3815]),
        ([16_406, 16_406, 7272], [4096, 12_484, 16_406, 7272, 159]),
    ]:
        assert list(bench._writes([*begin, *records, *end], 4096)) == written


def _trial(protocol: str, server: str, size: int, window: int, share: str, counted: int = 0) -> Any:
    chosen = {"protocol": protocol, "server": server, "key_share": share}
    return SimpleNamespace(
        name="one",
        parameters={"initial_window": window, "certificate": size, **chosen},
        cell={"stack": server, "certificate": f"{size / 1000:g}kB", "key_share": share},
        openings=[SimpleNamespace(round_trips=counted)],
    )

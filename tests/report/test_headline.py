"""Many answers in few sentences: every verdict counted, and the levels named at which it holds."""

from typing import Any

from h123.report.text.headline import ENOUGH_TO_READ, headline_sentences

VERDICTS = {"lan": "slower", "poor": "faster", "home": "inconclusive"}


def answer(network: str, load: str, method: str, verdict: str | None = None) -> dict[str, Any]:
    found = verdict or VERDICTS[network]
    value = {"slower": 1.5, "faster": 0.5, "inconclusive": None, "equivalent": 1.0}[found]
    cell = {"network": network, "load": load, "method": method}
    return {"metric": "latency", "a": "h3", "b": "h2", "cell": cell, "verdict": found, "ratio": value}


ANSWERS = [answer(n, load, m) for n in VERDICTS for load in ("low", "high") for m in ("GET", "POST")]


def test_few_answers_speak_for_themselves() -> None:
    assert headline_sentences(ANSWERS[:ENOUGH_TO_READ]) == []


def test_each_verdict_is_counted_and_placed() -> None:
    assert headline_sentences(ANSWERS) == [
        ("worse", "Latency, HTTP/3 v HTTP/2: slower in 4 of 12 (by 50\u00a0%): all with network lan."),
        ("better", "Latency, HTTP/3 v HTTP/2: faster in 4 of 12 (by 50\u00a0%): all with network poor."),
        ("inconclusive", "Latency, HTTP/3 v HTTP/2: cannot tell yet in 4 of 12: all with network home."),
    ]


def test_some_where_the_levels_do_not_decide() -> None:
    mixed = [*ANSWERS[1:], answer("lan", "low", "GET", "faster")]
    said = dict(headline_sentences(mixed))
    assert said["worse"].endswith("slower in 3 of 12 (by 50\u00a0%): some with network lan.")
    assert said["better"].endswith("faster in 5 of 12 (by 50\u00a0%): some with network poor or lan.")


def test_one_verdict_everywhere_needs_no_place() -> None:
    same = [answer(n, "low", m, "equivalent") for n in ("a", "b", "c", "d") for m in ("GET", "POST")]
    assert headline_sentences(same) == [("equivalent", "Latency, HTTP/3 v HTTP/2: equivalent in 8 of 8.")]


def test_metrics_and_pairs_are_kept_apart() -> None:
    other = [{**a, "metric": "ttfb"} for a in ANSWERS]
    assert len(headline_sentences([*ANSWERS, *other])) == 6


def test_a_pair_with_one_answer_is_not_counted() -> None:
    servers = [{**answer("lan", "low", "GET"), "a": name, "b": "go"} for name in ("caddy", "nginx", "envoy", "bun")]
    lines = headline_sentences([*servers, *({**row, "metric": "ttfb"} for row in servers)])
    assert lines[0] == ("worse", "Latency, caddy v go: slower (by 50\u00a0%).")
    assert len(lines) == 8


def test_pairs_that_nothing_is_known_of_are_named_together() -> None:
    names = ("caddy", "nginx", "envoy", "bun", "netty", "jetty", "msquic")
    servers = [{**answer("home", "low", "GET"), "a": name, "b": "go"} for name in names]
    assert headline_sentences(servers) == [
        ("inconclusive", "Latency, caddy, nginx and 5 others v go: cannot tell yet.")
    ]

"""Studies are read as meant, or refused with file, line and what is allowed there."""

import json
from pathlib import Path

import pytest

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.study import Study, list_networks, list_studies, load_study, make_plan
from study.samples import STUDY, sample_study, write

CHART = "{name: c, title: t, metric: latency, levels: [h2], along: load, at: {few: light}}"
BAD = [
    # (text in the study, its replacement, line of the complaint, words in it)
    ("h123: study/1\n", "", 1, ["`h123: study/1` is missing"]),
    ("study/1", "study/2", 1, ["study/2", "study/1"]),
    ("name: sample", "name: a/b", 2, ["name: a name has only letters, digits", "a/b"]),
    ("question: Which is faster?\n", "", 1, ["`question` is missing"]),
    ("question:", "qestion:", 3, ["unknown key 'qestion'", "did you mean question?"]),
    ("name: sample", "name: sample\nname: again", 3, ["'name'", "line 2"]),
    ("      users: 8", "      users: 8\n      users: 9", 11, ["'users'", "line 10"]),
    (
        "  protocol: [h1",
        "  protocols: [h1",
        5,
        ["'protocols'", "must have the name of a parameter", "did you mean protocol?"],
    ),
    ("[h1, h2, h3]", "[h1, h2, h4]", 5, ["protocol: 'h4' is not allowed", "h1, h2, h3"]),
    ("[h1, h2, h3]", "[h1, h2, h3, h2]", 5, ["level 'h2'", "is the same as 'h2'"]),
    ("[h1, h2, h3]", "[]", 5, ["has no levels"]),
    ("[h1, h2, h3]", "h2", 5, ["needs a list of values"]),
    ("[lan, poor]", "[lan, por]", 6, ["no network 'por'", "did you mean poor?"]),
    ("[lan, poor]", "[lan, ./mine.yaml]", 6, ["network file not found", "mine.yaml"]),
    ("light: {users: 1, requests: 2}", "light: 4", 8, ["'light' must list the parameters"]),
    ("light: {users", "a/b: {users", 8, ["'a/b' is not a valid level name"]),
    ("  load:", "  'x\" FROM samples; --':", 7, ["is not a valid factor name", "letters, digits"]),
    ("  load:", f"  {'x' * 41}:", 7, ["is not a valid factor name", "up to 40"]),
    ("  load:", "  Network:\n    a: {qlog: true}\n  load:", 7, ["'network' and 'Network' differ only in case"]),
    ("users: 8", "user: 8", 10, ["unknown parameter 'user'", "did you mean users?"]),
    ("users: 8", "users: eight", 10, ["users: must be a whole number", "'eight'"]),
    ("users: 8", "users: 0", 10, ["users: must be at least 1"]),
    ("users: 8", "users: true", 10, ["users: must be a whole number"]),
    ("users: 8", "protocol: h3", 7, ["'protocol' is already set by factor 'protocol'"]),
    ("server: go", "server: goo", 13, ["no subject 'goo'", "did you mean go?"]),
    ("  server: go\n", "", 12, ["'server'", "is not set"]),
    ("size: 10kB", "size: 0kB", 15, ["size: must be at least 1"]),
    ("size: 10kB", "size: many", 15, ["size: 'many' is not valid", "100kB"]),
    ("size: 10kB", "size: -1kB", 15, ["negative"]),
    ("size: 10kB", "size: [1kB]", 15, ["expected a quantity"]),
    ("size: 10kB", "protocol: h2", 15, ["'protocol' is set by every level"]),
    ("timeout: 5s", "timeout: 5", 16, ["timeout: 5 is not valid", "ms"]),
    ("timeout: 5s", "timeout: 0s", 16, ["timeout: must be greater than 0"]),
    ("timeout: 5s", "connections: 0", 16, ["connections: 0 is not valid", "per-user"]),
    ("timeout: 5s", "congestion: cubik", 16, ["did you mean cubic?"]),
    ("timeout: 5s", "clock: virtuel", 16, ["clock: 'virtuel' is not allowed", "did you mean virtual?"]),
    ("timeout: 5s", "rate: .inf", 16, ["rate", "finite"]),
    ("timeout: 5s", "port: 70000", 16, ["port: must be at most 65535"]),
    ("timeout: 5s", "port: 4443/udp", 16, ["port: must be a whole number"]),
    ("timeout: 5s", "store: s3", 16, ["store: 's3' is not allowed", "memory, gcs"]),
    ("timeout: 5s", "backend: fake-gsc", 16, ["no subject 'fake-gsc'", "did you mean fake-gcs?"]),
    ("timeout: 5s", "backend_network: por", 16, ["no network 'por'", "did you mean poor?"]),
    ("timeout: 5s", "cold: maybe", 16, ["cold: must be true or false"]),
    ("factor: protocol", "factor: colour", 18, ["'colour' is not a factor", "protocol, network, load"]),
    ("h3/h1]", "h3/h9]", 19, ["'h9' in pair 'h3/h9'", "h1, h2, h3"]),
    ("h3/h1]", "h3-h1]", 19, ["not a pair", "first/second"]),
    ("h3/h1]", "'h3 / h2']", 19, ["repeats 'h3/h2'"]),
    ("h3/h1]", "h3/h3]", 19, ["with itself", "twin"]),
    ("h3/h1]", "h2/h3]", 19, ["repeats 'h3/h2'"]),
    ("twin: h2", "twin: h2\n  ladder: [h1, h2, h3]", 21, ["the ladder needs the pair 'h2/h1'"]),
    ("twin: h2", "twin: h2\n  ladder: [h1, h2]", 21, ["at least 3 levels"]),
    ("twin: h2", "twin: h2\n  essential: [acks]", 21, ["'acks' is not allowed", "initial_window, pacing"]),
    ("users: 8", "initial_window: 1001", 10, ["initial_window: must be at most 1000"]),
    ("users: 8", "pacing: on", 10, ["pacing: must be off, or left out"]),
    ("users: 8", "max_datagram: 1200", 10, ["max_datagram: must be at least 1252"]),
    ("users: 8", "min_rto: 1.5ms", 10, ["min_rto: must be whole milliseconds, from 1ms to 1min"]),
    ("users: 8", "transport: equal", 10, ["'equal' is not allowed", "deployed, matched"]),
    ("twin: h2", "twin: h4", 20, ["twin 'h4' is not a level of 'protocol'"]),
    ("  twin: h2\n", "", 17, ["`compare.twin` is missing"]),
    ("margin: 5%", "margin: 500%", 21, ["outside 0 to 1"]),
    ("margin: 5%", "as_published: maybe", 21, ["as_published: must be true or false"]),
    ("margin: 5%", "margin: 0", 21, ["margin: must be greater than 0"]),
    ("holm", "bonferroni", 23, ["'bonferroni' is not allowed", "holm, bh"]),
    ("metrics: [latency]", "metrics: [latncy]", 23, ["'latncy'", "did you mean latency?"]),
    ("pairs: [h3/h2], each", "pairs: [h2/h1], each", 23, ["'h2/h1' is not in `pairs`"]),
    ("each: [network]", "each: [protocol]", 23, ["`each` cannot be 'protocol'", "network, load"]),
    ("name: details", "name: answer", 24, ["two families are named 'answer'"]),
    *[
        ("twin: h2", f"twin: h2\n  charts: [{CHART.replace(old, new)}]", 21, said)
        for old, new, said in [
            ("levels: [h2]", "levels: [h4]", ["'h4' is not a level of 'protocol'", "h1, h2, h3"]),
            ("levels: [h2]", f"levels: [{'h2, ' * 7}]", ["charts.0.levels", "at most 6"]),
            ("along: load", "along: protocol", ["chart 'c': `along` cannot be 'protocol'", "network, load"]),
            ("few: light", "few: lihgt", ["'lihgt' is not a level of 'load'; did you mean light?"]),
            ("metric: latency", "metric: latncy", ["'latncy'", "did you mean latency?"]),
            ("name: c", "name: a b", ["charts.0.name: a name has only small letters"]),
            ("}}", "}}, {name: c, title: u, metric: ttfb, levels: [h1], along: load, at: {few: light}}", ["named 'c'"]),
        ]
    ],
    ("blocks: 3", "blocks: 0", 25, ["blocks: must be at least 1", "found 0"]),
    ("blocks: 3", "blocks: many", 25, ["blocks: must be a whole number", "'many'"]),
    ("blocks: 3", "blocks: [3", 25, ["has no `]`"]),
    ("seed: 5", "seed: -5", 26, ["seed: must be at least 0"]),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), BAD, ids=[f"{old}->{new}" for old, new, _, _ in BAD])
def test_refused_with_line_and_cure(tmp_path: Path, old: str, new: str, line: int, said: list[str]) -> None:
    assert old in STUDY
    path = write(tmp_path, STUDY.replace(old, new, 1))
    with pytest.raises(UserError) as refused:
        load_study(path)
    message = refused.value.message
    assert message.startswith(f"{path}:{line}: "), message
    for words in said:
        assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("factors: {protocol: [h2, h3]\nblocks: 3\n", 2, "the `{` on this line has no `}`, or a comma is missing"),
        ("name: a\n  question: q\n", 3, "a `key: value` cannot begin here: the line is indented too far"),
        ("name: a: b\n", 2, "quote a value that contains `: `"),
        ('name: "a\nquestion: q\n', 2, "the quote that begins on this line has no end"),
        ("question q\nblocks: 3\n", 2, "expected `key: value`, and there is no `: `"),
        ("name: a\n\tquestion: q\n", 3, "a tab; indent with blanks"),
        ("name: @a\n", 2, "a value cannot begin with this character; quote the value"),
        ("name: *a\n", 2, "this `*name` has no `&name` before it"),
        ("factors: [a, b\n\nblocks: 3\n", 2, "the `[` on this line has no `]`"),
        ("name: a\n---\nname: b\n", 3, "a second document begins here"),
    ],
)
def test_faults_of_yaml_are_in_plain_words(tmp_path: Path, content: str, line: int, said: str) -> None:
    """They were the parser's: `mapping values are not allowed here`."""
    path = tmp_path / "odd.yaml"
    path.write_text(f"h123: study/1\n{content}")
    with pytest.raises(UserError) as refused:
        load_study(path)
    assert refused.value.message.startswith(f"{path}:{line}: "), refused.value.message
    assert said in refused.value.message
    assert refused.value.remedy == "docs/contracts/study.md has the format"


@pytest.mark.parametrize(
    ("word", "allowed", "near"),
    [
        ("cubik", ["cubic", "reno"], "cubic"),
        ("gone", ["go", "caddy"], "go"),
        ("bandwith", ["bandwidth"], None),
        ("bandwidth", ["body", "width", "users"], None),
        ("repeats", ["requests", "blocks"], None),
        ("wire", ["wrk", "lan"], None),
    ],
)
def test_only_close_words_are_suggested(word: str, allowed: list[str], near: str | None) -> None:
    """`did you mean width?` was proposed for bandwidth."""
    said = choose(word, allowed)
    assert said.partition("did you mean ")[2].partition("?")[0] == (near or "")
    assert allowed[-1] in said


def test_a_suggestion_is_not_followed_by_a_long_list() -> None:
    """`h123 list networks poorr` named sixty networks after the right one."""
    names = ["poor", *(f"network-{number}" for number in range(60))]
    assert choose("poorr", names) == "did you mean poor?"
    assert "network-59" in choose("unknown", names)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"- a\n", b"a: &x [*x]\n", b"\tx: 1", b"a: b: c", b"? [a]\n: b\n"]
)
def test_not_a_study_at_all(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"odd\.yaml"):
        load_study(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        load_study(tmp_path / "none.yaml")


def test_quantities_and_defaults_are_settled(tmp_path: Path) -> None:
    study = sample_study(tmp_path)
    parameters = study.parameters({"protocol": "h3", "network": "poor", "load": "heavy"})
    assert (parameters.protocol, parameters.network, parameters.users, parameters.requests) == ("h3", "poor", 8, 4)
    assert (parameters.size, parameters.timeout) == (10_000, 5_000_000_000)
    assert (parameters.congestion, parameters.cold, parameters.connections) == ("cubic", True, "shared")
    assert set(study.networks) == {"lan", "poor"}


@pytest.mark.parametrize("written", ["1.2", '"1.2"'])
def test_a_version_of_tls_may_be_written_as_a_number(tmp_path: Path, written: str) -> None:
    study = load_study(write(tmp_path, STUDY.replace("timeout: 5s", f"tls: {written}")))
    assert study.settings["tls"] == "1.2"


def test_the_network_behind_the_server_is_read_too(tmp_path: Path) -> None:
    text = STUDY.replace("[lan, poor]", "[lan]").replace("timeout: 5s", "backend_network: egress-poor")
    study = load_study(write(tmp_path, text))
    assert set(study.networks) == {"lan", "egress-poor"}
    plain = load_study(write(tmp_path, STUDY.replace("timeout: 5s", "backend_network: null")))
    assert plain.settings["backend_network"] is None


def test_resolved_study_survives_json(tmp_path: Path) -> None:
    study = sample_study(tmp_path)
    networks = {name: network.resolved() for name, network in study.networks.items()}
    again = Study.from_resolved(*json.loads(json.dumps([study.resolved(), networks])))
    assert again.resolved() == study.resolved()
    assert again.networks == study.networks
    assert make_plan(again).trials() == make_plan(study).trials()


@pytest.mark.parametrize("level", ["light: {", "heavy:\n      "])
def test_a_level_may_set_what_the_settings_set_for_the_others(tmp_path: Path, level: str) -> None:
    comma = ", " if level.endswith("{") else "\n      "
    text = STUDY.replace(level, f"{level}timeout: 6s{comma}")
    assert text != STUDY
    study = load_study(write(tmp_path, text))
    again = Study.from_resolved(json.loads(json.dumps(study.resolved())))
    assert make_plan(again).trials() == make_plan(study).trials()


def test_scalar_levels_of_every_kind_have_names(tmp_path: Path) -> None:
    text = STUDY.replace("protocol: [h1, h2, h3]", "size: [1kB, 2MB]\n  cold: [true, false]\n  rate: [1.5, 20]")
    text = text.replace("size: 10kB", "protocol: h2").replace("factor: protocol", "factor: size")
    text = text.replace("[h3/h2, h3/h1]", "[2MB/1kB]").replace("[h3/h2]", "[2MB/1kB]").replace("twin: h2", "twin: 1kB")
    study = load_study(write(tmp_path, text))
    assert list(study.factors["size"]) == ["1kB", "2MB"]
    assert list(study.factors["cold"]) == ["true", "false"]
    assert list(study.factors["rate"]) == ["1.5", "20"]
    cell = {"size": "2MB", "cold": "false", "rate": "1.5", "network": "lan", "load": "light"}
    assert study.parameters(cell).model_dump(include={"size", "cold", "rate"}) == {
        "size": 2_000_000,
        "cold": False,
        "rate": 1.5,
    }


def test_network_by_path_is_known_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, "h123: network/1\nname: mine\ntitle: my own\nboth: {delay: 1ms}\n", "mine.yaml")
    study = load_study(write(tmp_path, STUDY.replace("[lan, poor]", "[lan, mine.yaml]")))
    assert list(study.factors["network"]) == ["lan", "mine"]
    assert study.networks["mine"].round_trip_ns == 2_000_000


def test_two_networks_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "h123: network/1\nname: lan\ntitle: an impostor\nboth: {delay: 1ms}\n", "mine.yaml")
    with pytest.raises(UserError, match=r":6: two different networks are named 'lan'"):
        load_study(write(tmp_path, STUDY.replace("[lan, poor]", "[lan, mine.yaml]")))


def test_mistake_in_a_network_file_names_both_places(tmp_path: Path) -> None:
    write(tmp_path, "h123: network/1\nname: mine\ntitle: my own\nboth:\n  delay: -1ms\n", "mine.yaml")
    with pytest.raises(UserError, match=r"sample\.yaml:6: .*mine\.yaml:5: .*negative"):
        load_study(write(tmp_path, STUDY.replace("[lan, poor]", "[lan, mine.yaml]")))


@pytest.mark.parametrize("path", list_studies(), ids=lambda path: path.stem)
def test_studies_that_come_along_are_right(path: Path) -> None:
    study = load_study(path)
    assert study.name == path.stem
    assert set(study.networks) <= set(list_networks())
    assert all("together" in note for note in make_plan(study).notes)  # the published loads


def test_quick_is_what_its_issue_asks_for() -> None:
    study = load_study(next(path for path in list_studies() if path.stem == "quick"))
    plan = make_plan(study)
    assert len(plan.trials()) == 12 * 3 * 4, "at least twelve blocks"
    parameters = {trial.parameters for trial in plan.trials()}
    assert {(p.users, p.size, p.method, p.cold, p.congestion) for p in parameters} == {
        (4, 100_000, "GET", True, "cubic")
    }
    answer = study.compare.families[0]
    assert (answer.pairs, answer.each) == (["h3/h2", "h2/h1"], ["network"])

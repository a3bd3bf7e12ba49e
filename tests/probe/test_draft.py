"""The study that a survey suggests is one that h123 reads, plans and would run."""

from pathlib import Path

import pytest

from h123.catalogue import OwnServer
from h123.probe import Answer, Draft, DraftedRequests, DraftedVisits, Inquiry, OfferedLoad, ProbedSite
from h123.study import METRICS, Condition, load_network, load_study, make_plan
from h123.study.sites.site import Site as Page
from h123.study.workload import Target

GOOD = Answer(
    status=200, bytes=20_000, sha256="", endless=False, error="", ns=1_000_000, location="", encoding="",
    authenticate="", alt_svc="",
)  # fmt: skip
SITE = ProbedSite("localhost", 8443, ("/a", "/b?c=1"))
INQUIRY = Inquiry(SITE)
SERVER = OwnServer(command="./my-server --port 8443", host="localhost", protocols=["h1", "h2", "h3"])


def draft(**changes: object) -> Draft:
    networks = {name: load_network(name) for name in ("lan", "cellular")}
    values = {"servers": {"server": SERVER}, "inquiry": INQUIRY, "protocols": ["h1", "h2", "h3"]}
    return Draft(**{**values, "workload": requests(), "networks": networks, **changes})  # type: ignore[arg-type]


def requests(*sizes: int, load: OfferedLoad | None = None) -> DraftedRequests:
    """Two paths, with these answers to the first."""
    first = [GOOD.model_copy(update={"bytes": size}) for size in sizes] or [GOOD]
    return DraftedRequests(INQUIRY, [first, [GOOD]], load or OfferedLoad())


def test_protocols_of_one_server(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(draft().text())
    study = load_study(path)
    assert study.compare.pairs == ["h3/h2", "h2/h1", "h3/h1"]
    assert study.servers["server"].command == "./my-server --port 8443"
    assert all(len(family.metrics) == 1 and family.each == ["network"] for family in study.compare.families)
    plan = make_plan(study)
    assert len(plan.blocks[0]) == 8  # three protocols and the twin, over two networks
    trial = plan.blocks[0][0].parameters
    assert [(entry.path, entry.answer) for entry in trial.mix] == [("/a", 20_000), ("/b?c=1", 20_000)]
    assert (trial.server, trial.port, trial.users, trial.cold) == ("server", 8443, 4, True)


def test_who_asks(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(draft(client="load").text())
    assert {trial.parameters.client for trial in make_plan(load_study(path)).trials()} == {"load"}


def test_two_builds(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(draft(servers={"base": SERVER, "new": SERVER}, protocols=["h3"], clock="virtual").text())
    study = load_study(path)
    assert (study.compare.factor, study.compare.pairs, study.compare.twin) == ("server", ["new/base"], "base")
    assert {trial.parameters.clock for trial in make_plan(study).trials()} == {"virtual"}


def test_what_a_condition_asks_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    required = [Condition(holds=f"{metric} h3/h2 <= 1.05") for metric in ("latency", "cpu_server", "ttfb")]
    path.write_text(draft(require=required).text())
    study = load_study(path)  # which refuses what is not compared
    assert study.require == required
    metrics = [metric for family in study.compare.families for metric in family.metrics]
    assert len(metrics) == len(set(metrics))
    assert metrics[-1] == "cpu_server"


def test_an_answer_that_is_not_always_of_one_length_is_held_against_none(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(draft(workload=requests(20_000, 1)).text())
    first = make_plan(load_study(path)).blocks[0][0].parameters.mix
    assert [entry.answer for entry in first] == [None, 20_000]


@pytest.mark.parametrize(("size", "most"), [(1000, 100), (10_000_000, 20)])
def test_a_trial_takes_a_second_or_two(size: int, most: int) -> None:
    lan, cellular = (load_network(name) for name in ("lan", "cellular"))
    asked = requests(size)
    assert 5 <= asked.times(cellular) <= most
    assert asked.times(lan) >= asked.times(cellular)
    assert requests(size, load=OfferedLoad(2, 7)).times(cellular) == 7


def test_one_quick_answer_makes_no_long_trial() -> None:
    """As of an application whose answers wait for late acknowledgements, but for the first."""
    slow, quick = (GOOD.model_copy(update={"ns": ns}) for ns in (44_000_000, 1_000_000))
    asked = DraftedRequests(INQUIRY, [[quick, slow, slow], [quick, slow, slow]])
    assert asked.times(load_network("lan")) == 75  # as many as the 99th percentile needs, in some 3 s
    assert 30 < DraftedRequests(INQUIRY, asked.answers, OfferedLoad(1)).times(load_network("lan")) <= 1.5 / 0.044


@pytest.mark.parametrize(
    ("ns", "load", "seconds"), [(1, OfferedLoad(), 30), (1, OfferedLoad(4, 20), 30), (3 * 10**9, OfferedLoad(), 75)]
)
def test_a_server_that_is_stuck_costs_half_a_minute(tmp_path: Path, ns: int, load: OfferedLoad, seconds: int) -> None:
    """Whoever chose the load. A slow one has more time, and so has a long trial."""
    path = tmp_path / "study.yaml"
    path.write_text(draft(workload=DraftedRequests(INQUIRY, [[GOOD.model_copy(update={"ns": ns})]] * 2, load)).text())
    timeout = make_plan(load_study(path)).blocks[0][0].parameters.trial_timeout
    assert 30 * 10**9 <= timeout <= seconds * 10**9


def test_a_long_trial_has_time_enough(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    asked = requests(100_000, load=OfferedLoad(4, 500))
    path.write_text(draft(workload=asked).text())
    trial = make_plan(load_study(path)).blocks[0][0].parameters
    assert trial.trial_timeout / 1e9 >= 4 * 500 * asked.seconds(load_network("cellular"))


@pytest.mark.parametrize("metric", ["latency_p95", "latency_p99", "sent_latency_p99"])
def test_a_condition_on_a_tail_makes_trials_long_enough(tmp_path: Path, metric: str) -> None:
    condition = Condition.forbidding(f"{metric} new/base > 1.1")
    asked = requests(1_000_000, load=OfferedLoad(3, least=METRICS[metric].needs.requests))
    path = tmp_path / "study.yaml"
    servers = {"base": SERVER, "new": SERVER}
    path.write_text(draft(workload=asked, servers=servers, protocols=["h2"], require=[condition]).text())
    study = load_study(path)
    warm = [(trial.parameters.workload.rows() or {})["warm"] for trial in make_plan(study).trials()]
    assert min(warm) >= METRICS[metric].needs.requests
    assert study.unheld(condition, study.compare.pairs) is None


def test_the_99th_percentile_is_asked_wherever_it_can_be_known(tmp_path: Path) -> None:
    """Always under the virtual clock; on the wall clock where a trial then takes some seconds."""
    path = tmp_path / "study.yaml"
    for asked, expected in (
        (requests(2000), {"lan"}),
        (requests(1_000_000), {"lan"}),
        (requests(1_000_000, load=OfferedLoad(virtual=True)), {"lan", "cellular"}),
        (requests(2000, load=OfferedLoad(2, 10)), set[str]()),
    ):
        path.write_text(draft(workload=asked).text())
        study = load_study(path)
        named = {metric for family in study.compare.families for metric in family.metrics}
        assert ("latency_p99" in named) is bool(expected)
        enough = {
            trial.cell["network"]
            for trial in make_plan(study).trials()
            if (trial.parameters.workload.rows() or {})["warm"] >= 300
        }
        assert enough == expected


def test_a_network_of_a_file_a_rate_and_a_transport(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(NETWORK)
    mine = load_network(str(tmp_path / "mine.yaml"))
    given = draft(
        networks={"wan40": mine},
        files={"wan40": str(tmp_path / "mine.yaml")},
        workload=requests(load=OfferedLoad(4, rate=150.0)),
        transport="matched",
        answers="any",
    )
    path = tmp_path / "study.yaml"
    path.write_text(given.text())
    study = load_study(path)
    trial = make_plan(study).blocks[0][0].parameters
    assert study.compare.answers == "any"
    assert (trial.network, trial.transport, trial.rate) == ("wan40", "matched", 150.0)
    assert study.networks["wan40"] == mine
    assert trial.users * trial.requests >= 300


NETWORK = """\
h123: network/1
name: wan40
title: 40 ms, 100 Mbit/s, no loss
both: {delay: 20ms, rate: 100Mbit/s, queue: 500kB}
"""


def page(count: int = 1) -> DraftedVisits:
    """A document, a style sheet of varying length, and images that it asks for."""
    parts = [
        {"name": "/", "type": "document", "size": 9000, "path": "/?a=1", "run": "3ms"},
        {"name": "/s.css", "type": "style", "size": 20_000, "path": "/s.css", "by": "/", "exact": False},
        *(
            {"name": f"/{n}.png", "type": "image", "size": 40_000, "path": f"/{n}.png", "by": "/s.css", "urgency": 2}
            for n in range(count)
        ),
    ]
    return DraftedVisits(Page.model_validate({"name": "page", "resources": parts}))


def test_a_page(tmp_path: Path) -> None:
    asked = page()
    path = tmp_path / "study.yaml"
    path.write_text(draft(workload=asked).text())
    study = load_study(path)
    assert study.question == "Which HTTP version serves the page /?a=1 (3 requests) faster?"
    assert study.compare.families[0].metrics == ["page_complete"]
    trial = make_plan(study).blocks[0][0].parameters
    assert trial.site == asked.page
    assert (trial.kind, trial.users) == ("page", 1)
    assert [one.down for one in trial.workload.exchanges()] == [9000, None, 40_000]
    assert trial.workload.served() == []
    written = trial.workload.file(Target("localhost", "10.1.0.2", 8443, "", 1, authority="localhost:8443"))
    assert [one.path for one in written.page] == ["/?a=1", "/s.css", "/0.png"]  # type: ignore[attr-defined]


def test_visits_take_a_second_or_two_as_well() -> None:
    lan, cellular = (load_network(name) for name in ("lan", "cellular"))
    assert page().times(lan) == 20
    assert page(200).times(cellular) == 3

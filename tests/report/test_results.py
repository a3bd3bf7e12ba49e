"""Published results: what is published is whole and can be drawn, and nothing else is published."""

import json
import lzma
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse, read_verdicts
from h123.analysis.comparisons.interactions import InteractionRow
from h123.analysis.provenance.values import ValueRow
from h123.analysis.results.decided import decide_by_results
from h123.analysis.results.head import head_of
from h123.analysis.results.publication import publish_result, published_findings, published_verdicts
from h123.analysis.sections import Verdicts
from h123.base.errors import UserError
from h123.base.paths import data_remedy
from h123.documents.result_archive import members, packed
from h123.documents.result_file import PublishedResult, canonical, results, write_result
from h123.report import published_facts, result_page, write_report
from h123.report.page.facts import facts_of
from h123.report.quantiles import latency_quantiles
from h123.store import CampaignFolder
from h123.study import MeasurableClaim, find_study, ledgers_of, load_study
from synthetic import Scenario, make_campaign

PUBLISHED = results()
TAGS = re.compile(r"<svg.*?</svg>|<[^>]+>", re.DOTALL)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    folder = make_campaign(tmp_path_factory.mktemp("results") / "c", Scenario(seed=3))
    analyse(folder)
    return folder


@pytest.fixture(scope="module")
def result(campaign: CampaignFolder) -> PublishedResult:
    return publish_result(campaign, "synthetic", published_facts, campaign.path.parent / "data.tar.xz")


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda result: str(result.name))
def test_each_published_result_has_its_shape(published: PublishedResult) -> None:
    head = head_of(published)
    verdicts, page = published_verdicts(published)
    facts = facts_of(published, page)
    assert head["name"] == published.name
    assert head["command"].startswith(f"h123 run {verdicts['study']} --seed {verdicts['seed']} --blocks ")
    assert head["seals"]["attempts"] >= verdicts["trials"]["valid"] > 0
    assert facts.quantiles or not verdicts["values"]
    if facts.study["settings"].get("clock") == "virtual":  # under which there are no processor times
        assert "processor times that the study does not compare" not in facts.left_out
    assert find_study(verdicts["study"]).is_file()
    assert max(Counter(finding["audit"] for finding in verdicts["audits"]).values(), default=0) <= 10
    assert len(lzma.compress(published.content)) <= 64_000


def test_only_the_first_failures_of_each_audit_are_published() -> None:
    findings = [{"audit": "loss-mismatch", "passed": False, "trial": f"t{n}"} for n in range(12)]
    passed, other = {"audit": "tls-wrong", "passed": True}, {"audit": "tls-wrong", "passed": False}
    verdicts: Any = {"audits": [passed, *findings, other]}
    assert published_findings(verdicts) == [*findings[:10], other]


def test_something_is_published_and_nothing_else_lies_there() -> None:
    assert PUBLISHED
    assert {f"{result.name}.json" for result in PUBLISHED} == {name for name in members() if "/" not in name}


def test_a_real_page_is_drawn_from_data_alone() -> None:
    page = result_page(next(result for result in PUBLISHED if result.name == "fast-open"))
    text = "Warm handshake latency (ms)"  # of a claim, which the result itself does not contain
    for words in ("h123 run study.yaml --seed 1 --blocks 8 --clock virtual", 'id="figure-answer"', "N15", text):
        assert words in page
    assert len(page) > 100_000


def test_the_page_says_the_same_as_the_campaigns_own(campaign: CampaignFolder, result: PublishedResult) -> None:
    verdicts = read_verdicts(campaign)
    kept_parts: Any = {"interactions": answering(verdicts), "values": [*map(without_processor, verdicts["values"])]}
    own = words(write_report(campaign, verdicts={**verdicts, **kept_parts}).read_text())
    published = words(result_page(result))
    note = re.search(r"This page was made from published data, .*?to see them\.", published)
    assert note
    assert "curves of single trials" in note[0]
    assert "the order in which the trials of each block ran" in note[0]
    assert "interactions of metrics other than latency, or with several other factors" in note[0]
    assert "processor times that the study does not compare" in note[0]
    curves, order = ", each trial thin behind it", " Order of execution( This section .*?(?= Provenance ))?"
    own = re.sub(order, "", own.replace(curves, ""))
    mine, kept = own.split(), published.replace(note[0], "").split()
    assert len(mine) == len(kept)
    assert not [pair for pair in zip(mine, kept, strict=True) if not alike(*pair)]


def answering(verdicts: Verdicts) -> list[InteractionRow]:
    """The interactions with one other factor of the metric that answers the study's question."""
    return [row for row in verdicts["interactions"] if row["metric"] == "latency" and len(row["term"]) == 1]


def without_processor(row: ValueRow) -> dict[str, Any]:
    return {**row, "metrics": {name: value for name, value in row["metrics"].items() if not name.startswith("cpu")}}


def alike(mine: str, kept: str) -> bool:
    """Return whether two words are equal, or are numbers of two or more digits that differ by 1 in the last one: a
    result's numbers are rounded twice. Everything else in the words is the same."""
    digits = [re.sub(r"[^0-9]", "", word) for word in (mine, kept)]
    rest = {re.sub("[0-9]", "", word) for word in (mine, kept)}
    return mine == kept or (len(rest) == 1 < len(digits[0]) and abs(int(digits[0]) - int(digits[1] or 0)) == 1)


def words(page: str) -> str:
    return " ".join(TAGS.sub(" ", page).split())


def test_the_same_campaign_gives_the_same_bytes(
    campaign: CampaignFolder, result: PublishedResult, tmp_path: Path
) -> None:
    again = publish_result(campaign, "synthetic", published_facts, tmp_path / "data.tar.xz")
    assert again.content == result.content
    assert again.archive.read_bytes() == result.archive.read_bytes()


def test_what_is_published_keeps_the_verdicts(campaign: CampaignFolder, result: PublishedResult) -> None:
    verdicts, (parts, _) = read_verdicts(campaign), result.parts()
    for mine, kept in zip(verdicts["comparisons"], parts["comparisons"], strict=True):
        assert (kept["verdict"], kept["test"]) == (mine["verdict"], mine["test"])
        assert kept["ratio"] == pytest.approx(mine["ratio"], rel=5e-4)
    read = published_verdicts(result)[0]
    assert {row["trial"] for row in read["values"]} == {f"block {row['block']}" for row in verdicts["values"]}
    assert 0 < len(read["interactions"]) < len(verdicts["interactions"])
    for term, shown in zip(answering(verdicts), read["interactions"], strict=True):
        assert shown["p_adjusted"] == pytest.approx(term["p_adjusted"], rel=5e-4)
        assert shown["family_size"] == term["family_size"] == len(verdicts["interactions"])
    assert not any(finding["passed"] for finding in parts["audits"])
    meanings = [row["meaning"] for row in published_verdicts(result)[0]["audit_summary"]]
    assert meanings == [row["meaning"] for row in verdicts["audit_summary"]]
    assert not any("meaning" in row for row in parts["audit_summary"])


def test_a_curve_goes_through_the_published_quantiles(campaign: CampaignFolder, result: PublishedResult) -> None:
    own = [row["seconds"] for row in latency_quantiles(campaign) if row["trial"] is None]
    read = [row["seconds"] for row in facts_of(result, result.parts()[1]).quantiles]
    assert own
    for mine, kept in zip(own, read, strict=True):
        assert len(kept) == len(mine) == 101
        assert [kept[at] for at in (0, 1, 50, 95, 99, 100)] == pytest.approx(
            [mine[at] for at in (0, 1, 50, 95, 99, 100)], rel=6e-3
        )
        assert kept == sorted(kept)
        assert kept[52] == pytest.approx(kept[50] + 0.08 * (kept[75] - kept[50]))


def test_rows_are_stored_by_column_and_read_as_rows(result: PublishedResult, tmp_path: Path) -> None:
    verdicts, page = result.parts()
    head = {name: part for name, part in result.head.items() if name != "digest"}
    rows = [{"a": number, "b": [{"c": number}, {"c": None}]} for number in range(100)]
    for part in (rows, rows[:1], [*rows, {}], [*rows, {"b": 1, "c": 2}], [rows, 1], []):
        again = write_result("rows", head, {**verdicts, "part": part}, page, tmp_path / "data.tar.xz")
        assert again.parts()[0]["part"] == part
    for wrong in ([], {"a": [1, 2], "b": [3]}, {"a": 1}):
        content = {**verdicts, "part": {"by column": wrong}}
        with pytest.raises(UserError, match="its columns do not form rows"):
            write_result("wrong", head, content, page, tmp_path / "data.tar.xz").parts()


def test_interactions_of_a_wrong_shape_are_refused(result: PublishedResult, tmp_path: Path) -> None:
    verdicts, page = result.parts()
    head = {name: part for name, part in result.head.items() if name != "digest"}
    for wrong in ({"p": "small"}, {"p": None}, {}):
        terms = [{name: part for name, part in row.items() if name != "p"} | wrong for row in verdicts["interactions"]]
        assert terms
        again = write_result("wrong", head, {**verdicts, "interactions": terms}, page, tmp_path / "data.tar.xz")
        with pytest.raises(UserError, match=r"is not as h123 writes it: .*interactions\.0\.p"):
            published_verdicts(again)


def edited(content: bytes, at: int = 1) -> bytes:
    lines = content.split(b"\n")
    lines[at] = lines[at].replace(b"0", b"1", 1)
    return b"\n".join(lines)


SPOILT: list[Callable[[bytes], bytes]] = [
    edited,
    lambda content: content.rpartition(b'{"')[0],
    lambda content: content + b"{}\n",
    lambda content: edited(content, 0),
    lambda content: edited(content, 2),
    lambda _: b"",
    lambda _: b"not JSON",
    lambda _: b"1\n2\n3\n",
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_damage_of_a_result_is_said(result: PublishedResult, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    archive = tmp_path / "data.tar.xz"
    archive.write_bytes(packed({"other/summary.txt": b"text", "spoilt.json": spoil(result.content)}))
    [spoilt] = results(archive)
    with pytest.raises(UserError, match=r"spoilt\.json in .*data\.tar\.xz is damaged: ") as error:
        result_page(spoilt)
    assert error.value.remedy == data_remedy()


SPOILT_ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    "it ends too early": lambda content: content[: len(content) // 2],
    "it cannot be unpacked": lambda content: content[:-40] + bytes([content[-40] ^ 255]) + content[-39:],
    "it ends too early ": lambda _: b"",
    "it cannot be unpacked ": lambda _: b"not compressed",
    "its members cannot be read": lambda _: lzma.compress(b"not an archive"),
    "its members cannot be read ": lambda content: lzma.compress(lzma.decompress(content)[:1000]),
}


@pytest.mark.parametrize("said", SPOILT_ARCHIVES)
def test_damage_of_the_archive_is_said_and_publishing_leaves_it_as_it_is(
    result: PublishedResult, tmp_path: Path, said: str
) -> None:
    archive = tmp_path / "data.tar.xz"
    archive.write_bytes(SPOILT_ARCHIVES[said](result.archive.read_bytes()))
    before = archive.read_bytes()
    with pytest.raises(UserError, match=rf"^.+/data\.tar\.xz is damaged: {said.strip()}") as error:
        results(archive)
    assert error.value.remedy == data_remedy()
    with pytest.raises(UserError, match="is damaged"):
        write_result("other", result.head, *result.parts(), archive)
    assert archive.read_bytes() == before


def test_a_published_result_joins_the_others_or_replaces_its_namesake(result: PublishedResult, tmp_path: Path) -> None:
    archive = tmp_path / "data.tar.xz"
    assert results(archive) == []
    archive.write_bytes(packed({"a/summary.txt": b"text", "b.json": b"old"}))
    b, a = (made_of(result, archive, name, lambda _: None) for name in ("b", "a"))
    assert results(archive) == [a, b]
    assert members(archive).keys() == {"a.json", "b.json", "a/summary.txt"}
    assert [path.name for path in tmp_path.iterdir()] == ["data.tar.xz"]


def test_a_result_of_another_shape_or_format_is_said(result: PublishedResult, tmp_path: Path) -> None:
    parts, page = result.parts()
    head = {name: part for name, part in result.head.items() if name not in ("rest", "digest")}
    wrong: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
        "has format": ({**head, "h123": "result/9"}, parts, page),
        "seals": ({**head, "seals": None}, parts, page),
        "comparisons": (head, {**parts, "comparisons": 1}, page),
        "links": (head, parts, {**page, "links": [{}]}),
        "its quantiles": (head, parts, {**page, "quantiles": [page["quantiles"][0] | {"steps_ns": [1, 2]}]}),
    }
    for said, content in wrong.items():
        with pytest.raises(UserError, match=said):
            result_page(write_result("wrong", *content, tmp_path / "data.tar.xz"))


def test_a_campaign_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=2, missing={"b02-t01-poor-h3"}))
    missing = sorted(path.name for path in folder.trials.iterdir())
    assert missing
    folder = make_campaign(tmp_path / "d", Scenario(blocks=2, missing=frozenset({missing[-1].partition("~")[0]})))
    analyse(folder)
    with pytest.raises(UserError, match="is not finished: 1 of"):
        publish_result(folder, "c", published_facts, tmp_path / "data.tar.xz")


def test_a_campaign_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=2))
    analyse(folder)
    with next(folder.trials.glob("*/report.json")).open("a") as file:
        file.write("\n")
    with pytest.raises(UserError, match=r"1 attempt .* is not as sealed: .*report\.json has changed"):
        publish_result(CampaignFolder.open(folder.path), "c", published_facts, tmp_path / "data.tar.xz")


def test_verdicts_of_another_program_are_refused(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c", Scenario(blocks=2))
    with pytest.raises(UserError, match="has not been analysed"):
        publish_result(folder, "c", published_facts, tmp_path / "data.tar.xz")
    verdicts = analyse(folder)
    changed = {**verdicts, "alpha": 0.01}
    folder.verdicts.write_text(json.dumps(changed))
    with pytest.raises(UserError, match="differ from what this version of h123 computes"):
        publish_result(folder, "c", published_facts, tmp_path / "data.tar.xz")
    assert not [*tmp_path.glob("*.xz")]
    folder.verdicts.write_text(json.dumps({**verdicts, "alpha": verdicts["alpha"] * (1 + 1e-13)}))
    assert publish_result(folder, "c", published_facts, tmp_path / "data.tar.xz").content, (
        "libraries differ in the last digit"
    )


def fast_open() -> PublishedResult:
    return next(result for result in PUBLISHED if result.name == "fast-open")


def made_of(
    result: PublishedResult, archive: Path, name: str, change: Callable[[dict[str, Any]], None]
) -> PublishedResult:
    """The result with another head."""
    head = {name: part for name, part in json.loads(canonical(result.head)).items() if name not in ("rest", "digest")}
    change(head)
    return write_result(name, head, *result.parts(), archive)


def test_claims_are_decided_by_what_measured_them() -> None:
    (ledger,) = ledgers_of("fast-open")
    decided = decide_by_results(ledger, [fast_open()])
    measured = {claim.id for claim in ledger.claims if isinstance(claim, MeasurableClaim)}
    assert decided.by.keys() == measured
    nothing = decide_by_results(ledger, [])
    assert nothing.by == {}
    open_ones = {row["id"]: row["reason"] or "" for row in nothing.ledger["claims"] if row["verdict"] == "open"}
    assert open_ones.keys() == measured
    assert all("no campaign of study fast-open is published" in why for why in open_ones.values())


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "setting 'users' has changed": lambda head: head["campaign"]["study"]["settings"].update(users=99),
    "level 'h3-early' of 'opening' has changed": lambda head: head["campaign"]["study"]["factors"]["opening"][
        "h3-early"
    ].update(sessions="full"),
    "network 'home' has changed": lambda head: head["campaign"]["networks"]["home"]["up"].update(delay_ns=1),
    "when the claim was different": lambda head: head["claims"][0]["claims"][0].update(b="h2-resumed"),
    "no campaign of study fast-open": lambda head: head["campaign"]["study"].update(name="other"),
    "the published changed did not measure it": lambda head: head["claims"].clear(),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_result_of_other_treatments_decides_nothing(said: str, tmp_path: Path) -> None:
    (ledger,) = ledgers_of("fast-open")
    changed = made_of(fast_open(), tmp_path / "data.tar.xz", "changed", CHANGES[said])
    decided = decide_by_results(ledger, [changed])
    first = decided.ledger["claims"][0]
    assert first["id"] not in decided.by
    assert first["verdict"] == "open"
    assert said in (first["reason"] or "")


def test_a_clock_that_was_chosen_does_not_matter(tmp_path: Path) -> None:
    (ledger,) = ledgers_of("fast-open")
    other = made_of(
        fast_open(),
        tmp_path / "data.tar.xz",
        "wall",
        lambda h: h["campaign"]["study"]["settings"].update(clock="wall"),
    )
    assert decide_by_results(ledger, [other]).by.keys() == {"N15", "N15a"}


def test_the_largest_decides_whatever_it_found(tmp_path: Path) -> None:
    (ledger,) = ledgers_of("fast-open")

    def more(head: dict[str, Any]) -> None:
        head["claims"][0]["claims"][0].update(blocks=20, verdict="refuted")

    def smaller(head: dict[str, Any]) -> None:
        head["campaign"]["study"].update(scale=0.5)
        head["claims"][0]["claims"][0].update(blocks=100, verdict="undecided")

    study = load_study(find_study("fast-open"))
    assert study.scale == 1
    large, small = (made_of(fast_open(), tmp_path / "data.tar.xz", f.__name__, f) for f in (more, smaller))
    for order in ([fast_open(), large, small], [small, large, fast_open()]):
        decided = decide_by_results(ledger, order)
        assert decided.by["N15"].name == "more"
        assert decided.ledger["claims"][0]["verdict"] == "refuted"

"""What a campaign says about itself, read back from its words: terminal, report, verdicts.json.

`contradictions` names each two statements that cannot both be true. It reads as a person does: the numbers and words
that are printed, not what they were made from; of the product it uses the names of levels, places and metrics alone.

    PYTHONPATH=src:tests python -m statements 40 400

draws the campaigns of these seeds, and prints what contradicts itself.
"""

import html
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drawn import campaign
from h123.analysis import analyse
from h123.report import print_answer, write_report
from h123.report.text.difference import timeless
from h123.report.text.words import cell_name, level, place, ratio, verdict_word
from h123.study import metric
from hasty import NO_PICTURES
from printing import printed, summary

Verdicts = Mapping[str, Any]
_WIDE = 400
"""Columns in which no sentence is broken."""
_NUMBER = r"(?:[\d,]+\.?\d*(?:e-?\d+)?)"
_SPAN = rf"({_NUMBER})(?: to ({_NUMBER}))?"
_LESS = {"faster", "lower", "shorter", "smaller"}
_APART = 0.045
"""Of the ratio of two medians to that of the pairs, which a reader notices."""
_UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "bit/s": 1.0}
_UNITS |= {"B/s": 8.0, "kB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9}


@dataclass(frozen=True)
class Text:
    """One way in which a campaign is told."""

    name: str
    lines: Sequence[str]

    def of(self, pattern: str) -> Iterator[re.Match[str]]:
        """All places where it is said."""
        for line in self.lines:
            yield from re.finditer(pattern, line)


def terminal(verdicts: Verdicts, width: int = _WIDE) -> Text:
    """What `h123 run --details` prints."""
    return Text("terminal", summary(verdicts, width=width).replace("\u00a0", " ").splitlines())


def screen(verdicts: Verdicts) -> Text:
    """What `h123 run` prints without --details, however long it is."""
    shown = printed(lambda console: print_answer(verdicts, console, most=1000), width=100)
    return Text("screen", shown.replace("\n    ", " ").splitlines())


def page(text: str) -> Text:
    """report.html: a line for each element, cells of a row apart by bars."""
    text = re.sub(r"<(style|script|svg).*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r"</t[dh]>", " | ", re.sub(r"\s+", " ", text))
    text = re.sub(r"</(li|p|tr|h\d|figcaption|summary|caption)>", "\n", text)
    plain = html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\u00a0", " ")
    return Text("report", [re.sub(r" +", " ", line).strip() for line in plain.splitlines() if line.strip()])


def contradictions(verdicts: Verdicts, *texts: Text) -> list[str]:
    """Each as a sentence; `texts`: what the same verdicts were told in."""
    found = [fault for text in texts for check in _CHECKS for fault in check(verdicts, text)]
    return [*found, *_advice(verdicts, texts)]


def _asked(verdicts: Verdicts) -> list[Mapping[str, Any]]:
    return [c for c in verdicts["comparisons"] if not c["twin"]]


def _varying(verdicts: Verdicts) -> set[str]:
    """The factors by which people tell cells apart."""
    cells = [c["cell"] for c in verdicts["comparisons"]]
    factors = {factor for cell in cells for factor in cell if len({one[factor] for one in cells}) > 1}
    return factors or {factor for cell in cells for factor in cell}


def _cell(c: Mapping[str, Any], verdicts: Verdicts) -> dict[str, str]:
    return {factor: name for factor, name in c["cell"].items() if factor in _varying(verdicts)}


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _sides(c: Mapping[str, Any]) -> tuple[str, str]:
    """How a sentence names them."""
    noun, possessive = metric(c["metric"]).noun, ("'s " + metric(c["metric"]).noun) * bool(metric(c["metric"]).noun)
    return f"{level(c['a'])}{possessive}", f"{level(c['b'])}{chr(39) + 's' if noun else ''}"


def _sentences(c: Mapping[str, Any], verdicts: Verdicts, text: Text) -> Iterator[str]:
    """Those that say what came of the comparison, without where."""
    where = place(_cell(c, verdicts))
    first, second = _sides(c)
    for line in map(str.strip, text.lines):
        if line.lower().startswith(f"{where}, ".lower() if where else ""):
            rest = line[len(where) + 2 :] if where else line
            kind = r"(cannot tell yet|not judged|no answer|no difference above the margin of [\d.]+ %)"
            if re.match(rf"({kind}: )?(so far )?{re.escape(first)} (is|takes) [^:]*{re.escape(second)}", rest):
                yield rest


def _ends(said: str) -> tuple[float, float] | None:
    """The ratio that a sentence tells as its estimate, as an interval of what rounds to it."""
    if found := re.search(rf"is ({_NUMBER}) % (\w+) than", said):
        value, step = _number(found[1]) / 100, _step(found[1]) / 100
        sign = -1 if found[2] in _LESS else 1
        ends = sorted((1 + sign * (value - step), 1 + sign * (value + step)))
        return ends[0], ends[1]
    if found := re.search(rf"({_NUMBER}) times as (long|fast)", said):
        value, step = _number(found[1]), _step(found[1])
        ends = (value - step, value + step)
        return ends if found[2] == "long" else (1 / ends[1], 1 / max(ends[0], 1e-9))
    return None


def _step(digits: str) -> float:
    """Half of the last digit's worth, and a little."""
    return 0.51 * 10 ** -len(digits.partition(".")[2]) if "." in digits or _number(digits) < 10 else 0.51


def _estimates(verdicts: Verdicts, text: Text) -> Iterator[str]:
    """Every sentence's estimate, and its word, are those of the same comparison in the tables and in verdicts.json."""
    for c in _asked(verdicts):
        for said in _sentences(c, verdicts, text):
            if said.startswith(("cannot tell yet", "no answer")) and verdict_word(c) != "cannot tell yet":
                yield f"{text.name}: {said!r} of what is {verdict_word(c)} elsewhere"
            if said.startswith("not judged") != bool(c["withheld"]):
                yield f"{text.name}: {said!r} of what is {verdict_word(c)} elsewhere"
            decided = not said.startswith(("cannot tell yet", "not judged", "no answer"))
            if decided and c["verdict"] == "inconclusive":
                yield f"{text.name}: {said!r} of what is not decided"
            ends = _ends(said)
            if decided and ends and c["ratio"] and not ends[0] <= c["ratio"] <= ends[1]:
                yield f"{text.name}: {said!r}, and the ratio is {c['ratio']:.3f}"


def _undecided(_: Verdicts, text: Text) -> Iterator[str]:
    """What cannot be told is not told in the same breath, unless it is said why it does not count."""
    for line in text.lines:
        if "cannot tell yet: " in line and not re.search(r", but |\(.*(too few|no bound)|between|failed in", line):
            yield f"{text.name}: undecided, with an interval that decides: {line.strip()!r}"


def _counts(verdicts: Verdicts, text: Text) -> Iterator[str]:
    """Words with numbers of comparisons: `not judged in 3 of 9` are as many as have that word."""
    titles = {metric(c["metric"]).title: c["metric"] for c in _asked(verdicts)}
    named = "|".join(re.escape(title) for title in sorted(titles, key=len, reverse=True))
    for found in text.of(rf"^\W*({named}), (.+?) v (.+?): ([a-z ,]+?) in (\d+) of (\d+)\b"):
        title, firsts, b, word, some, of = found.groups()
        names = re.split(r", | and ", firsts)
        asked = [c for c in _headline(verdicts) if c["metric"] == titles[title]] or _asked(verdicts)
        about = [c for c in asked if c["metric"] == titles[title] and level(c["b"]) == b]
        for name in names:
            mine = [c for c in about if level(c["a"]) == name]
            have = sum(verdict_word(c) == word for c in mine)
            if mine and (have, len(mine)) != (int(some), int(of)):
                yield f"{text.name}: {found[0]!r}, where {have} of {len(mine)} are"


def _headline(verdicts: Verdicts) -> list[Mapping[str, Any]]:
    asked = [c for c in _asked(verdicts) if not c["repeats"]]
    return [c for c in asked if c["family"].partition("/")[0] == asked[0]["family"].partition("/")[0]]


def _trials(verdicts: Verdicts, text: Text) -> Iterator[str]:
    """Numbers of valid trials, blocks and audits are the same wherever they are told."""
    valid = {int(found[1]) for found in text.of(r"\b(\d+) of \d+ trials valid")}
    valid |= {int(found[1]) for found in text.of(r"\b(\d+) trials in \d+ complete blocks")}
    missing = {int(found[1]) for found in text.of(r"\b(\d+) of \d+ trials have no valid attempt yet")}
    if len(valid) > 1 or len(missing) > 1:
        yield f"{text.name}: {valid} trials are valid, {missing} are missing"
    if valid and valid != {verdicts["trials"]["valid"]}:
        yield f"{text.name}: {valid} trials are valid, and {verdicts['trials']['valid']} in verdicts.json"
    none = list(text.of(r"No answer: no trial is valid[^|]*"))
    if none and max(valid, default=0) > 0:
        yield f"{text.name}: {none[0][0]!r}, and {max(valid)} trials are valid"
    failed = len({found[1] for found in text.of(r"^\W*audit ([a-z0-9-]+) failed:")})
    for found in text.of(r"\b(\d+) of \d+ audits passed(?:; (\d+) failed)?"):
        if int(found[2] or 0) != failed:
            yield f"{text.name}: {found[0]!r}, and {failed} are named"
    winners = [line for line in text.lines if re.search(r"No answer:", line)]
    if winners and any(c["verdict"] in ("faster", "slower", "equivalent") for c in _headline(verdicts)):
        yield f"{text.name}: {winners[0].strip()!r}, and there are answers"


def _rows(verdicts: Verdicts, text: Text) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """Each comparison with the row of a table of the page that is about it."""
    for line in text.lines:
        cells = [part.strip() for part in line.split("|")]
        for c in _asked(verdicts):
            names = [metric(c["metric"]).title, cell_name(_cell(c, verdicts)), f"{level(c['a'])} / {level(c['b'])}"]
            if cells[:3] == names and len(cells) > 9:
                yield c, cells


def _page_rows(verdicts: Verdicts, text: Text) -> Iterator[str]:
    """The report's table of all comparisons has the ratios and the words of verdicts.json; a dash for a ratio of times
    that nothing takes under the virtual clock."""
    for c, cells in _rows(verdicts, text) if text.name == "report" else ():
        shown = "–" if timeless(c) else ratio(c["ratio"], c["low"], c["high"])
        if cells[5] != shown or cells[7] != verdict_word(c):
            yield f"report: {' '.join(cells)!r}, and {c['ratio']} {verdict_word(c)} in verdicts.json"


def _medians(verdicts: Verdicts, text: Text) -> Iterator[str]:
    """Where medians of two levels part from what is said of their pairs, the reader is told so."""
    told = "\n".join(line for line in text.lines if "paired" in line)
    for name in dict.fromkeys(c["metric"] for c in _headline(verdicts)):
        for table in _answer_tables(text, metric(name).title):
            for c in (c for c in _headline(verdicts) if c["metric"] == name and c["ratio"] and not c["withheld"]):
                row = table.get(cell_name(_cell(c, verdicts)) or c["workload"], {})
                sides = [row.get(level(c[side])) for side in ("a", "b")]
                if not all(sides):
                    continue
                shown = sides[0] / sides[1]  # type: ignore[operator]
                if abs(shown / c["ratio"] - 1) <= _APART:
                    continue
                pair = f"{level(c['a'])} / {level(c['b'])}"
                where = cell_name(_cell(c, verdicts))
                if not re.search(rf"{re.escape(where)}[^;]*{re.escape(pair)}|and \d+ more", told):
                    yield f"{text.name}: {pair}, {where}: {shown:.2f} by medians, {c['ratio']:.2f} paired, unexplained"


def _answer_tables(text: Text, title: str) -> Iterator[dict[str, dict[str, float]]]:
    """By row and column."""
    for number, line in enumerate(text.lines):
        if not re.search(rf"{re.escape(title)} of .*median over the trials", line):
            continue
        rest = text.lines[number + 1 :]
        columns = _parts(rest[0], text)
        # A terminal's columns begin where their titles do.
        table: dict[str, dict[str, float]] = {}
        for row in rest[1:]:
            parts = _parts(row, text)
            if len(parts) < 3:
                break
            if text.name == "terminal" and row.startswith(" "):
                continue
            names = columns if text.name == "report" else ["", *columns]
            values = {name: _value(part) for name, part in zip(names[1:], parts[1:], strict=False)}
            table[parts[0]] = {name: value for name, value in values.items() if value}
        yield table


def _parts(row: str, text: Text) -> list[str]:
    if text.name == "terminal":
        return re.split(r" {2,}", row.strip())
    parts = [part.strip() for part in row.split("|")]
    return [parts[0], *parts[1:]]


def _value(text: str) -> float | None:
    found = re.match(rf"({_NUMBER}) ?([a-zµ/]+(?:bit)?(?:/s)?)", text, flags=re.IGNORECASE)
    return _number(found[1]) * _UNITS[found[2]] if found and found[2] in _UNITS else None


def _best(verdicts: Verdicts, text: Text) -> Iterator[str]:
    """Nobody is called the best whom a sentence calls worse; a cell that is not judged has no winner and no doubt."""
    for name in dict.fromkeys(c["metric"] for c in _headline(verdicts)):
        for cell in {tuple(c["cell"].items()): c for c in _headline(verdicts) if c["metric"] == name}.values():
            mine = [c for c in _asked(verdicts) if c["cell"] == cell["cell"] and c["metric"] == name]
            if not mine or not all(c["withheld"] for c in mine):
                continue
            where = cell_name(_cell(cell, verdicts))
            rows = _rows_of_answer(text, metric(name).title)
            lines = [line for line in rows if where and line.startswith(where) and "no clear winner" in line]
            if lines:
                yield f"{text.name}: {lines[0].strip()!r} of what is not judged"


def _rows_of_answer(text: Text, title: str) -> list[str]:
    """The lines of the tables that answer by this metric, up to the next such table."""
    headings = [number for number, line in enumerate(text.lines) if "median over the trials" in line]
    ends = [*headings[1:], len(text.lines)]
    spans = zip(headings, ends, strict=True) if headings else []
    return [
        line for start, end in spans if text.lines[start].startswith(f"{title} of") for line in text.lines[start:end]
    ]


def _split(verdicts: Verdicts, text: Text) -> Iterator[str]:
    """Of what is not judged no parts are told as if it were."""
    for c in _headline(verdicts):
        if c["withheld"] and c["withheld"]["kind"] != "machine" and verdicts["parts"] and "clock" in c["cell"]:
            where = cell_name({k: v for k, v in _cell(c, verdicts).items() if k != "clock"})
            pair = f"{level(c['a'])} / {level(c['b'])}" + (f" on {where}" if where else "")
            if [line for line in text.lines if line.strip().startswith(f"{pair}: ") and "≈" in line]:
                yield f"{text.name}: parts of {pair}, which is not judged"


_CHECKS = (_estimates, _undecided, _counts, _trials, _page_rows, _medians, _best, _split)


def _advice(verdicts: Verdicts, texts: Sequence[Text]) -> Iterator[str]:
    """There is one number of blocks to run. A larger one is for more than the question, and says so; what is called the
    least is no more than what would decide."""
    audits = [row["failure"] for row in verdicts["audit_summary"] if row["failure"]]
    notes = [c["note"] for c in verdicts["comparisons"] if c["note"]]
    for text in [*texts, Text("verdicts.json", [*audits, *notes])]:
        commands: dict[int, str] = {}
        for line in text.lines:
            for found in re.finditer(r"run (?:--out \S+ )?`?--blocks (\d+)", line):
                commands.setdefault(int(found[1]), line)
        least = {number for number, line in commands.items() if "more than" in line and "question" in line}
        if len(commands) > len(least) + 1:
            yield f"{text.name}: several numbers of blocks are advised: {sorted(commands.values())}"
        said = verdicts["projection"]["blocks"]
        for line in text.lines:
            for found in re.finditer(r"(?:[Aa]bout )?(\d+) blocks (?:would decide (?:it|all)|are the fewest)", line):
                if said and int(found[1]) > said:
                    yield f"{text.name}: {line.strip()!r}, and {said} are enough for all"
            for found in re.finditer(r"(?:needs|takes) (at least )?(\d+) blocks", line):
                if not found[1]:
                    yield f"{text.name}: {line.strip()!r} beside {said}"
                elif said and int(found[2]) > said and "more than" not in line:
                    yield f"{text.name}: {line.strip()!r}, and {said} are said to be enough"


def disagreements(seed: int, folder: Path) -> list[str]:
    """Of the campaign that the seed draws, which is written into the new folder."""
    made = campaign(seed, folder)
    verdicts = analyse(made)
    with NO_PICTURES:
        report = page(write_report(made).read_text("utf-8"))
    return contradictions(verdicts, terminal(verdicts), screen(verdicts), report)


if __name__ == "__main__":
    for number in range(*map(int, sys.argv[1:3])):
        with tempfile.TemporaryDirectory() as scratch:
            for fault in disagreements(number, Path(scratch) / "c"):
                print(f"seed {number}: {fault}")

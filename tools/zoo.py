"""Measures how soon `h123 verify` finds faults in servers, and what a trial shows of them: docs/zoo.md and its table.

    PYTHONPATH=src:tests .venv/bin/python tools/zoo.py [FAULT...] [--kept FILE] [--save]

Tries every fault of tests/adversary/peer/faults.go, or those that you name (such as zeros-h2), one at a time. --kept
stores the results in a file, and skips faults whose result is already there. --save writes docs/zoo.md and the table
of all faults. The exit status is 1 if a fault was not found, took too long to find, or was not shown by a trial. Faults
that take minutes to show are tried under the virtual clock, if its kernel is installed.
"""

import argparse
import csv
import io
import json
import lzma
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from adversary.told import TALES, told
from adversary.zoo import Fault, faults, findings
from h123.catalogue import catalogue, install
from h123.execution import LocalPool, machine_facts
from h123.execution.certificate import campaign_certificate
from h123.execution.files import SERVER_ADDRESS
from h123.virtual import installed_kernel

PAGE = Path(__file__).resolve().parents[1] / "docs" / "zoo.md"
TABLE = PAGE.parent / "data" / "zoo.csv.xz"
MOST_SECONDS = 60
"""The seconds in which a fault must be found."""
HEADING = ["fault: what the server does", "protocols", "`h123 verify`", "seconds", "a trial shows"]
_MACHINE = machine_facts()


@dataclass(frozen=True)
class Seen:
    """The result for a fault over a protocol."""

    name: str
    protocol: str
    seconds: float
    """The time from the beginning of the verification to the finding, or to the end."""
    failed: list[str]
    """The checks that failed."""
    detail: str
    """The details of the last failed check."""
    told: list[str]
    """What a trial of a campaign showed of the fault."""

    def __str__(self) -> str:
        return f"{self.name}-{self.protocol}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", metavar="FAULT", nargs="*")
    parser.add_argument("--kept", metavar="FILE", type=Path)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    if asked.faults and asked.save:
        parser.error("--save writes the whole page: leave out the faults")
    install(catalogue()["go"], print)
    chosen = [fault for fault in faults() if str(fault) in asked.faults or not asked.faults]
    able = [fault for fault in chosen if not fault.virtual or installed_kernel()]
    seen = list(_looked_at(able, asked.kept))
    results = {str(one): one for one in seen}
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([HEADING, *_rows(chosen, results)])
    if asked.save:
        PAGE.write_text(_page(chosen, results), encoding="utf-8")
        TABLE.write_bytes(lzma.compress(table.getvalue().encode()))
    print(table.getvalue())
    wrong = [f"{fault}: {why}" for fault, one in zip(able, seen, strict=True) if (why := _wrong(fault, one))]
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def _looked_at(chosen: Sequence[Fault], kept: Path | None) -> Iterator[Seen]:
    lines = kept.read_text("utf-8").splitlines() if kept and kept.is_file() else []
    known = {str(one): one for one in (Seen(**json.loads(line)) for line in lines)}
    with tempfile.TemporaryDirectory(prefix="h123-zoo-") as scratch:
        for fault in chosen:
            one = known.get(str(fault)) or _look(fault, Path(scratch).resolve() / str(fault))
            if kept and str(fault) not in known:
                with kept.open("a", encoding="utf-8") as file:
                    print(json.dumps(asdict(one)), file=file)
            print(f"{one}: {one.seconds:.1f} s, {_wrong(fault, one) or 'as it should be'}", file=sys.stderr, flush=True)
            yield one


def _look(fault: Fault, folder: Path) -> Seen:
    pool = LocalPool()
    begun = time.monotonic()
    found = list(findings(fault, folder / "verified", pool))
    seconds = time.monotonic() - begun
    certificate = campaign_certificate(folder / "tls", [SERVER_ADDRESS])
    words = told(fault, folder / "told", certificate, pool)
    pool.close()
    detail = found[-1].detail.rpartition(" (")[0] if found else ""
    checks = [result.check for result in found]
    return Seen(fault.name, fault.protocol, round(seconds, 1), checks, detail, sorted(words))


def _wrong(fault: Fault, one: Seen) -> str:
    """Return how the result differs from what is expected. Empty if it does not."""
    if fault.found and fault.found not in one.failed:
        return f"not found, but {', '.join(one.failed) or 'nothing'}"
    if not fault.found and one.failed:
        return f"found: {', '.join(one.failed)}"
    if fault.found and one.seconds > MOST_SECONDS:
        return f"found after {one.seconds:.0f} s"
    expected = TALES[fault.name].words
    if bool(expected & set(one.told)) != bool(expected) or (one.told and not expected):
        return f"a trial tells of {', '.join(one.told) or 'nothing'}"
    return ""


def _page(chosen: Sequence[Fault], seen: dict[str, Seen]) -> str:
    found = [(seen[str(fault)].seconds, str(fault)) for fault in chosen if fault.found and str(fault) in seen]
    kinds = len({fault.name for fault in chosen if fault.found and str(fault) in seen})
    return f"""\
# Faulty servers

This page shows which faults `h123 verify` finds in servers. Each server in the table
([zoo.csv](data/{TABLE.name}), shown below on the website) meets the
[contract](contracts/subject.md) except for one fault. We tested {kinds} kinds of fault, each over one to
three protocols, with {len(found)} servers in all. `h123 verify` finds all of these: half within
{_middle(found):.0f} s, and the last ({max(found)[1]}) after {max(found)[0]:.0f} s. For other faults, the table says
why `h123 verify` does not test them.

The last column gives the word in a campaign's journal or samples that shows the fault of an unverified server, or says
why a trial shows nothing.{_missing(chosen, seen)}

`PYTHONPATH=src:tests .venv/bin/python tools/zoo.py --save` writes this page. It ran on a busy machine with
{_MACHINE["cpus_usable"]} processors, {_MACHINE["distribution"]} and Linux {_MACHINE["kernel"].split("-")[0]}. The
servers are in `tests/adversary/peer/faults.go`, the expected results in `tests/adversary`.

<!-- table: data/{TABLE.name} -->
"""


def _rows(chosen: Sequence[Fault], seen: dict[str, Seen]) -> Iterator[list[str]]:
    for rows in _alike(chosen):
        first, ones = rows[0], [seen[str(fault)] for fault in rows if str(fault) in seen]
        verdict = f"`{first.found}`" if first.found else f"not tested: {first.unasked}"
        seconds = ", ".join(f"{one.seconds:.0f}" for one in ones) if first.found else ""
        words = dict.fromkeys(word for one in ones for word in one.told)
        tells = ", ".join(f"`{word}`" for word in words) or f"nothing: {TALES[first.name].why}"
        if not ones:
            seconds = tells = "not run yet"
        over = ", ".join(fault.protocol for fault in rows)
        yield [f"**{first.name}**: {first.does}", over, verdict, seconds, tells]


def _missing(chosen: Sequence[Fault], seen: dict[str, Seen]) -> str:
    count = sum(str(fault) not in seen for fault in chosen)
    return f" **{count} of {len(chosen)} rows were not run yet.**" if count else ""


def _alike(chosen: Sequence[Fault]) -> list[list[Fault]]:
    """Group the protocols of each fault that is found in the same way, or not found."""
    groups: dict[tuple[str, str], list[Fault]] = {}
    for fault in chosen:
        groups.setdefault((fault.name, fault.found), []).append(fault)
    return list(groups.values())


def _middle(found: list[tuple[float, str]]) -> float:
    return sorted(found)[len(found) // 2][0]


if __name__ == "__main__":
    raise SystemExit(main())

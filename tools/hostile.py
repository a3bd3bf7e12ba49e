"""Measures how clients react to a hostile server and servers to a hostile client: docs/hostile.md.

    PYTHONPATH=src:tests .venv/bin/python tools/hostile.py [SUBJECT...] [--attack NAME...] [--save]

Runs every attack of tests/adversary/peer, or only those that you name, against each subject (by default all that are
installed). --save writes the page with the list of failures, and docs/data/hostile.md.xz with the tables, which are
only on the site. A cell shows how the requests ended, how many seconds the client ran, and how many MiB of memory the
attacked side used. Failures are bold: a request that far outlasts its timeout, a success without the requested bytes,
or more than 512 MiB in a client.
"""

import argparse
import lzma
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from adversary.trial import (
    AT_ONCE,
    LONG_S,
    MOST_BYTES,
    REQUESTS,
    TIMEOUT_S,
    TRIAL_S,
    USERS,
    Attack,
    Outcome,
    Outcomes,
    assaulted,
    assaults_on,
    attacked,
    attacks_on,
)
from h123.catalogue import PROTOCOLS, Subject, catalogue, installed
from h123.execution import machine_facts
from h123.execution.certificate import campaign_certificate
from h123.execution.files import SERVER_ADDRESS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "hostile.md"
TABLES = PAGE.parent / "data" / "hostile.md.xz"
_MACHINE = machine_facts()
_HEAD = f"""\
# Hostile servers and clients

On the website, the tables below show how each program reacts to each attack. In the repository,
`xz -dc docs/data/hostile.md.xz` prints them. Each row is an attack on the programs in the columns. Each cell shows:

- how the requests ended: their errors, `answered`, or the reason why the trial is invalid; cells about servers omit
  `answered`
- how many seconds the client ran
- the largest amount of memory that the attacked program used, in MiB

Bold marks failures: a request that takes much longer than its timeout, a success without the requested bytes, or more
than {MOST_BYTES >> 20} MiB of memory in a client. A client that only counts bytes (its
[manifest](contracts/subject.md) has no `compares`) cannot detect the attacks `zeros` and `wrong-byte`.

Each client has {USERS} users, which make {REQUESTS} requests each with a timeout of {TIMEOUT_S} s. If the requests time
out and the client uses a lot of memory, the attack is repeated with a timeout of {LONG_S} s. A server is attacked for
{TIMEOUT_S} s and then gets ordinary requests. h123 ends everything that still runs after {TRIAL_S} s.

`PYTHONPATH=src:tests .venv/bin/python tools/hostile.py --save` writes this page. This run used
{_MACHINE["cpus_usable"]} processors, with Linux {_MACHINE["kernel"].split("-")[0]} and {_MACHINE["distribution"]},
{AT_ONCE} trials at a time. Programs that were not installed are missing. `tests/adversary/` describes each attack,
and which results are failures.

See [Isolation](isolation.md) for how h123 handles files from others, and what a server under test cannot do to the
machine.
""".splitlines()
_MARK = "<!-- generated: hostile -->"
"""The place of the tables in the site's page (tools/reference.py)."""
Found = dict[Attack, dict[str, Outcome]]
"""The outcomes by attack and subject."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", metavar="SUBJECT", nargs="*")
    parser.add_argument("--attack", metavar="NAME", action="append", default=[])
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    if asked.attack and asked.save:
        parser.error("--save writes the whole page: leave out --attack")
    known = catalogue()
    subjects = [known[name] for name in asked.subjects] or [one for one in known.values() if installed(one)]
    clients: Found = {}
    servers: Found = {}
    with tempfile.TemporaryDirectory(prefix="h123-hostile-") as scratch:
        place = Path(scratch).resolve()
        certificate = campaign_certificate(place, [SERVER_ADDRESS])
        for subject in subjects:
            print(f"{subject.name} ...", file=sys.stderr, flush=True)
            folder = place / subject.name
            if subject.client:
                chosen = _named(attacks_on(subject), asked.attack)
                _add(clients, subject, attacked(subject, chosen, folder / "attacks", certificate))
            if subject.server:
                chosen = _named(assaults_on(subject), asked.attack)
                _add(servers, subject, assaulted(subject, chosen, folder / "assaults", certificate))
            tables = "\n".join([*_tables("client", clients), *_tables("server", servers), ""])
            if asked.save:
                failures = [*_failures("client", clients), *_failures("server", servers)]
                PAGE.write_text("\n".join([*_HEAD, *failures, "", _MARK, ""]), encoding="utf-8")
                TABLES.write_bytes(lzma.compress(tables.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(tables)
    return 0


def _named(attacks: list[Attack], names: list[str]) -> list[Attack]:
    """Return the attacks with these names, or all attacks if there are no names."""
    return [attack for attack in attacks if attack.name in names or not names]


def _add(found: Found, subject: Subject, outcomes: Outcomes) -> None:
    for attack, outcome in outcomes.items():
        found.setdefault(attack, {})[subject.name] = outcome


def _tables(attacked: str, found: Found) -> Iterator[str]:
    for protocol, here in _by_protocol(found):
        names = sorted({name for outcomes in here.values() for name in outcomes})
        if not names:
            continue
        yield from ("", f"## How {attacked}s react over {protocol}", "")
        yield from (f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|")
        for attack, outcomes in here.items():
            cells = [_cell(attacked, outcomes[name]) if name in outcomes else "" for name in names]
            yield f"| **{attack.name}**: {attack.does} | {' | '.join(cells)} |"


def _failures(attacked: str, found: Found) -> Iterator[str]:
    """Yield the lines of the list of a role's failures."""
    faults = [
        f"* {name}, {protocol}, {attack.name}: {'; '.join(outcome.faults)}."
        for protocol, here in _by_protocol(found)
        for attack, outcomes in here.items()
        for name, outcome in outcomes.items()
        if outcome.faults
    ]
    yield from ("", f"## Failures of {attacked}s", "", *(faults or ["None."]))


def _by_protocol(found: Found) -> Iterator[tuple[str, Found]]:
    for protocol in PROTOCOLS:
        yield protocol, {attack: outcomes for attack, outcomes in found.items() if attack.protocol == protocol}


def _cell(attacked: str, outcome: Outcome) -> str:
    ended = "" if attacked == "server" and outcome.ended == "answered" else f"{outcome.ended}, "
    text = f"{ended}{outcome.seconds:.1f}, {outcome.memory >> 20}"
    return f"**{text}**" if outcome.faults else text


if __name__ == "__main__":
    raise SystemExit(main())

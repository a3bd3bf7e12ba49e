"""The contract test of several subjects one after another, as a person follows it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from h123.campaign import Engine
from h123.catalogue import Subject
from h123.steps import Steps
from h123.verification.client import verify_client
from h123.verification.record import Result, Verdict, VerifiedRole, keep_results
from h123.verification.server import verify_server

_VERIFY: dict[VerifiedRole, Callable[[Subject, Engine], Iterator[Result]]] = {
    "server": verify_server,
    "client": verify_client,
}


def roles_of(subject: Subject, asked: VerifiedRole | None = None) -> list[VerifiedRole]:
    """The roles in which a subject can be verified; only the one asked for, if it is named."""
    has: dict[VerifiedRole, bool] = {"server": subject.server is not None, "client": subject.client is not None}
    return [role for role, there in has.items() if there and asked in (None, role)]


def verify_each(
    subjects: Sequence[Subject], asked: VerifiedRole | None, engine: Engine, steps: Steps
) -> dict[str, list[Result]]:
    """What came of it by subject, which the cache remembers from now on. All are installed, the embedded ones too."""
    tasks = [(subject, role) for subject in subjects for role in roles_of(subject, asked)]
    found: dict[str, list[Result]] = defaultdict(list)
    for number, (subject, role) in enumerate(tasks, 1):
        steps.begin(f"[{number}/{len(tasks)}] {subject.name} as a {role}: {subject.title} {subject.version}")
        results = list(_followed(_VERIFY[role](subject, engine), steps))
        keep_results(subject, role, results)
        found[subject.name] += results
        steps.begin(f"  {tally(results)}")
    return found


def _followed(results: Iterator[Result], steps: Steps) -> Iterator[Result]:
    """The results as they come; what is wrong is said at once."""
    for result in results:
        steps.move(f"{result.protocol} {result.check}")
        if result.verdict == "failed":
            steps.begin(f"  {describe(result)}")
        yield result


def describe(result: Result) -> str:
    """One result in a line."""
    clock = ", virtual clock" if result.clock == "virtual" else ""
    detail = f": {result.detail}" if result.detail else ""
    return f"{result.protocol} {result.check}{clock} {result.verdict}{detail}"


def tally(results: Sequence[Result]) -> str:
    """`44 passed, 2 failed`."""
    counts = Counter(result.verdict for result in results)
    verdicts: tuple[Verdict, ...] = get_args(Verdict)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts if counts[verdict]) or "nothing to verify"

"""Checks the connections that a client reports for its requests: their number, their numbering from 0, and the
assignment of users to connections in turn."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from h123.store import Sample
from h123.verification.client_cases import ClientCase


def connections(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    columns: Sequence[Literal["connection", "reused"]] = ("connection", "reused")
    if partly := [c for c in columns if 0 < sum(row[c] is None for row in rows) < len(rows)]:
        yield f"{partly[0]} is empty in some rows and not in others"
    elif rows and all(rows[0][column] is not None for column in columns):
        yield from _indices(case, rows)
        yield from _reuse(rows)
        work = case.parameters.workload
        if not work.open_loop and not work.visit() and not work.connections_again():
            yield from _dealing(case, rows)


def _indices(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    used = {row["connection"] for row in rows}
    count = case.connections() + case.parameters.workload.connections_again()
    needed = min(case.connections(), case.parameters.users)
    if not used <= set(range(count)) or (not case.parameters.workload.open_loop and len(used) < needed):
        yield f"connections {sorted(c for c in used if c is not None)[:6]} instead of {count}, counted from 0"
    cold = [row["connection"] for row in rows if row["phase"] == "cold"]
    if len(set(cold)) < len(cold):
        yield "two cold requests on one connection"


def _reuse(rows: Sequence[Sample]) -> Iterator[str]:
    first = Counter(row["connection"] for row in rows if row["reused"] == 0)
    if {row["reused"] for row in rows} - {0, 1}:
        yield "reused is neither 0 nor 1"
    elif wrong := sorted({row["connection"] or 0 for row in rows if first[row["connection"]] != 1}):
        yield f"connection {wrong[0]} has {first[wrong[0]]} rows with reused 0 instead of 1"
    if any(row["reused"] for row in rows if row["phase"] == "cold"):
        yield "a cold row says that its connection was reused"


def _dealing(case: ClientCase, rows: Sequence[Sample]) -> Iterator[str]:
    """Check that users are assigned to the connections in turn, and keep their connections."""
    of_user = defaultdict(set)
    for row in rows:
        if row["phase"] != "cold":
            of_user[row["user"]].add(row["connection"])
    if wandering := sorted(user for user, used in of_user.items() if len(used) > 1):
        yield f"user {wandering[0]} used {len(of_user[wandering[0]])} connections"
    elif wrong := [
        (first, other)
        for first in of_user
        for other in of_user
        if (of_user[first] == of_user[other]) != (first % case.connections() == other % case.connections())
    ]:
        yield f"users {wrong[0][0]} and {wrong[0][1]} are not on connections as dealt round robin"

"""The client: carries a workload out with libcurl and writes samples.csv and client.json."""

import argparse
import json
import sys
from pathlib import Path

from contract import UNSUPPORTED
from facts import Facts
from samples import Sample, write_samples
from seat import Loop, Seat
from transfer import VERSIONS, Transfer
from workload import Refusal, Workload, read_workload


class Drive:
    """A workload being carried out."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._loop = Loop()
        self._facts = Facts()
        self._seats = [Seat(self._loop, max(100, workload.users)) for _ in range(workload.seats)]
        self._users = [Transfer(workload, user, self._facts) for user in range(workload.users)]
        self._made = [0] * workload.users
        self._connections: dict[tuple[Seat, int], int] = {}
        self.samples: list[Sample] = []

    def run(self) -> None:
        """All requests: the cold ones one connection after another, then all users at once."""
        if self._workload.cold:
            for number, seat in enumerate(self._seats):
                user = self._users[number % len(self._users)]
                user.number = self._workload.number(self._workload.users, number)
                seat.request(user, "cold")
                self._loop.run(self._ended)
        for user in self._users:
            self._next(self._seats[user.user % len(self._seats)], user)
        self._loop.run(self._ended_and_again)

    def facts(self) -> dict[str, object]:
        return self._facts.content()

    def _next(self, seat: Seat, user: Transfer) -> None:
        made = self._made[user.user]
        if made < self._workload.per_user:
            self._made[user.user] += 1
            user.number = self._workload.number(user.user, made)
            seat.request(user, self._workload.phase(made))

    def _ended(self, seat: Seat, _user: Transfer, sample: Sample) -> None:
        if sample.connection is not None:
            # libcurl numbers the connections of each seat by itself.
            sample.connection = self._connections.setdefault((seat, sample.connection), len(self._connections))
        self.samples.append(sample)

    def _ended_and_again(self, seat: Seat, user: Transfer, sample: Sample) -> None:
        self._ended(seat, user, sample)
        self._next(seat, user)


def check_supported(workload: Workload) -> None:
    if workload.protocol not in VERSIONS:
        raise Refusal(UNSUPPORTED, f"no protocol {workload.protocol} here")
    if workload.rate is not None:
        raise Refusal(UNSUPPORTED, "no open loop here: libcurl's timers, and epoll's, know only milliseconds")


def main() -> int:
    options = argparse.ArgumentParser()
    for name in ("--workload", "--samples", "--facts"):
        options.add_argument(name, required=True)
    arguments = options.parse_args()
    try:
        workload = read_workload(arguments.workload)
        check_supported(workload)
    except Refusal as refusal:
        print(f"h123-pycurl: {refusal}", file=sys.stderr)
        return refusal.status
    drive = Drive(workload)
    drive.run()
    write_samples(arguments.samples, drive.samples)
    Path(arguments.facts).write_text(json.dumps(drive.facts(), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

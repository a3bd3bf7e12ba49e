"""The fenced blocks of a page of the documentation that tests compare with what is there."""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^```(\w+) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A fenced block: a file (named after the language), commands (`sh`, `sh fails`), or what they print (`text`);
    what is named `virtual` needs the virtual clock's kernel."""

    language: str
    name: str
    body: str


def steps(page: str) -> list[Step]:
    return [Step(*found.groups()) for found in FENCE.finditer(page)]

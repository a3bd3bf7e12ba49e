"""Checks trial files with the lab itself: it must accept every trial that `h123 plan` accepts."""

import functools
import json
import subprocess
from typing import Any

from h123.base.paths import lab_binary


@functools.cache
def _asked() -> "subprocess.Popen[str]":
    """Start the lab's validator, once per process. It ends with the worker whose pipe it reads."""
    command = [str(lab_binary()), "validate"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def assert_taken(trial: dict[str, Any]) -> None:
    """Raise AssertionError if the lab refuses the trial. Programs that are not installed do not matter."""
    roles = [{**role, "command": ["/bin/true"]} for role in trial["roles"]]
    asked = _asked()
    assert asked.stdin and asked.stdout  # noqa: PT018
    asked.stdin.write(json.dumps({**trial, "roles": roles}, allow_nan=False) + "\n")
    asked.stdin.flush()
    refusal = json.loads(asked.stdout.readline())
    assert refusal is None, f"the lab refuses what the plan takes: {refusal}"

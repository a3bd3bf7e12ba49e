"""The tool with all that it imports, loaded once for many runs: most of a short one is otherwise the loading."""

import importlib
import os
import pkgutil
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

COLUMNS = "200"
"""Of the terminal that the tool believes to have, wherever a test starts it."""

os.environ["COLUMNS"] = COLUMNS  # read while it loads

import h123  # noqa: E402
from hasty import hasten  # noqa: E402

for _module in pkgutil.walk_packages(h123.__path__, "h123."):
    if _module.name != "h123.__main__":
        importlib.import_module(_module.name)


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], streams: Sequence[Path], draws: bool
) -> None:
    """Be `h123 arguments` in `folder`, with that environment and with files as standard output and error; its
    reports have no pictures unless it `draws`. For a process of its own, forked from one in which this module alone was
    imported.
    """
    for number, stream in enumerate(streams, start=1):
        os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # the environment says where
    hasten(draws)
    sys.argv = ["h123", *arguments]
    runpy.run_module("h123", run_name="__main__", alter_sys=True)

"""The lab's link against the kernel's own netem, in the virtual kernel: the table of docs/link-accuracy.md."""

import subprocess
import sys

import pytest
from rich.console import Console

from h123.base.paths import project_root
from h123.base.terminal.steps import Steps
from h123.virtual import install_kernel


@pytest.mark.heavy
def test_the_link_is_as_faithful_as_netem() -> None:
    with Steps(Console(stderr=True)) as steps:
        install_kernel(steps)  # the real build, where the cache has none
    done = subprocess.run([sys.executable, project_root() / "bench/link_accuracy"], capture_output=True, text=True)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    assert done.stdout.count("| yes |") == done.stdout.count("\n") - 2 == 12

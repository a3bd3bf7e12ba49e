"""A trial's folder is carried: its files name nothing of this machine, so that it runs wherever its roots are."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign.test_runner import STUDY, Silent, start
from h123.campaign import run_campaign
from h123.catalogue import files_folder, installations
from h123.errors import UserError
from h123.paths import lab_binary, project_root
from h123.trial import LocalEngine
from h123.virtual import virtual_kernel

PAIR = STUDY.replace("[h1, h2, h3]", "[h2, h3]").replace("[lan, poor]", "[lan]").replace("blocks: 2", "blocks: 1")
ODD = "it's: ~a b,ü"


@pytest.fixture
def strict_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def kernel_for(clock: str) -> list[str]:
    if clock == "wall":
        return []
    try:
        return ["--kernel", str(virtual_kernel())]
    except UserError:
        pytest.skip("the virtual kernel is not installed")


def absolute(content: Any) -> set[str]:
    """All absolute paths that a document holds, in whatever text."""
    found = re.findall(r"(?<![\w:/])/[\w.][^\s\"']*", json.dumps(content, ensure_ascii=False))
    return {path for path in found if not path.startswith(("/tmp/h123-roots/", "/bytes/")) and path != "/tmp"}


@pytest.mark.usefixtures("strict_umask")
@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_trials_of_a_campaign_run_in_another_folder_with_other_roots(tmp_path: Path, clock: str) -> None:
    kernel = kernel_for(clock)
    campaign = start(tmp_path, PAIR, tmp_path / ODD, clock=clock)
    assert run_campaign(campaign, LocalEngine(), Silent(), 1).failed == []
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(campaign.folder.tls, elsewhere / "certificates")
    (elsewhere / "programs").mkdir()
    shutil.copytree(installations() / "go", elsewhere / "programs/go")
    for trial in sorted(campaign.folder.sealed())[:2]:
        for name in ("trial.json", "workload.json"):
            content = (trial / name).read_text()
            assert not [
                path for path in (tmp_path, project_root(), installations(), files_folder()) if str(path) in content
            ]
            assert absolute(json.loads(content)) == set()
        folder = elsewhere / trial.name
        folder.mkdir()
        for name in ("trial.json", "workload.json"):
            shutil.copy(trial / name, folder)
        roots = [f"tls={elsewhere}/certificates", f"subjects={elsewhere}/programs"]
        options = [word for root in roots for word in ("--root", root)]
        command = [str(lab_binary()), "run", "trial.json", "--out", ".", *options, *kernel]
        subprocess.run(command, cwd=folder, check=True)
        report = json.loads((folder / "report.json").read_text())
        assert (report["valid"], report["reasons"]) == (True, [])
        assert (folder / "samples.csv").read_text().count("\n") > 1

"""A trial's folder is carried: its files name nothing of this machine, so that it runs wherever its roots are."""

import csv
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign.test_runner import Silent, start, two_levels
from h123.base.errors import UserError
from h123.base.paths import lab_binary, project_root
from h123.campaign import run_campaign
from h123.catalogue import files_folder, installations
from h123.execution import LocalPool
from h123.virtual import virtual_kernel

PAIR = two_levels(1, "lan")
MIX = "kind: mix, mix: [{size: 1kB}, {method: POST, file: b:ü/order.json}], users: 1, requests: 4"
UPLOADING = PAIR.replace("method: GET, size: 1kB, users: 1, requests: 1", MIX)
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
    return {
        path for path in found if not path.startswith(("/tmp/h123-roots/", "/bytes/", "/upload")) and path != "/tmp"
    }


@pytest.mark.usefixtures("strict_umask")
@pytest.mark.parametrize("clock", ["wall", "virtual"])
@pytest.mark.parametrize("text", [PAIR, UPLOADING], ids=["requests", "uploads"])
def test_trials_of_a_campaign_run_in_another_folder_with_other_roots(tmp_path: Path, clock: str, text: str) -> None:
    kernel = kernel_for(clock)
    (tmp_path / "b:ü").mkdir()
    (tmp_path / "b:ü/order.json").write_bytes(b"{}" * 1500)
    campaign = start(tmp_path, text, tmp_path / ODD, clock=clock)
    shutil.rmtree(tmp_path / "b:ü")
    assert run_campaign(campaign, LocalPool(campaign.folder.arrivals, campaign.folder.tls), Silent(), 1).failed == []
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(campaign.folder.tls, elsewhere / "certificates")
    (elsewhere / "files").mkdir()
    for file in campaign.folder.uploads.glob("*"):
        shutil.copy(file, elsewhere / "files")
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
        roots = [f"tls={elsewhere}/certificates", f"subjects={elsewhere}/programs", f"uploads={elsewhere}/files"]
        options = [word for root in roots for word in ("--root", root)]
        command = [str(lab_binary()), "run", "trial.json", "--out", ".", *options, *kernel]
        subprocess.run(command, cwd=folder, check=True)
        report = json.loads((folder / "report.json").read_text())
        assert (report["valid"], report["reasons"]) == (True, [])
        rows = list(csv.DictReader((folder / "samples.csv").open()))
        assert {row["status"] for row in rows} == {"200"}
        assert {row["bytes_up"] for row in rows} == ({"0", "3000"} if text == UPLOADING else {"0"})

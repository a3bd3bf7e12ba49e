"""The printed job files: Slurm runs its own as it is, and the other two are as their published schemas say."""

import os
import re
import subprocess
import time
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli import slurm
from cli.conftest import PATIENCE_S, Tool
from h123.analysis import analyse
from h123.campaign import join_shards
from h123.store import CampaignFolder

STUDY = """\
h123: study/1
name: small
question: Do all machines find the same?
factors:
  protocol: [h2, h3]
settings: {server: go, client: go, network: poor, size: 20kB, users: 1, requests: 2, clock: virtual}
compare: {factor: protocol, pairs: [h3/h2], twin: h2, margin: 5%}
blocks: 4
seed: 7
"""
WALL = STUDY.replace("clock: virtual", "clock: wall")
CHECKERS = ("check-jsonschema", "kubernetes-validate")
"""They bring the schemas that GitHub's workflows have in schemastore's catalogue, and Kubernetes' own."""
KUBERNETES = "1.31"


@pytest.fixture
def study(h123: Tool) -> Path:
    path = h123.folder / "small.yaml"
    path.write_text(STUDY)
    return path


def test_an_array_has_a_name_limits_and_the_command_of_each_element(h123: Tool, study: Path) -> None:
    done = h123.succeed("shards", "small.yaml", "--for", "slurm", "--shards", "2", "--filter", "protocol=h2,h3")
    assert "#SBATCH --array=1-2\n" in done.stdout
    assert "#SBATCH --requeue\n" in done.stdout
    command = done.stdout.splitlines()[-1]
    assert (
        ' run small.yaml --seed 7 --blocks 4 --filter protocol=h2,h3 --shard "$SLURM_ARRAY_TASK_ID/2" --out ' in command
    )
    assert subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=False).returncode == 0
    study.write_text(WALL)
    wall = h123("shards", "small.yaml", "--for", "slurm")
    assert "#SBATCH --exclusive\n" in wall.stdout
    assert "--jobs" not in wall.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--for", "slurm", "--shards", "5"], "4 blocks"),
        (["--for", "kubernetes"], "--image"),
        (["--for", "kubernetes", "--image", "a b"], "not a valid image name"),
        (["--for", "github", "--blocks", "400", "--shards", "300"], "at most 256"),
    ],
)
def test_what_a_system_cannot_run_is_refused(h123: Tool, study: Path, arguments: list[str], words: str) -> None:
    done = h123("shards", study.name, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("system", "blocks", "elements", "words"),
    [
        ("slurm", 12, 12, "one block each"),
        ("kubernetes", 12, 12, "one block each"),
        ("github", 12, 12, "one block each"),
        ("slurm", 1000, 1000, "one block each"),
        ("slurm", 5000, 1000, "up to 5 blocks each"),
        ("kubernetes", 1001, 1000, "up to 2 blocks each"),
        ("github", 300, 256, "up to 2 blocks each"),
    ],
)
def test_each_block_has_an_element_as_far_as_the_system_allows(
    h123: Tool, study: Path, system: str, blocks: int, elements: int, words: str
) -> None:
    """Twelve short blocks came in one element, so that a cluster was of no use."""
    done = h123.succeed("shards", study.name, "--for", system, "--blocks", str(blocks), "--image", "r/h:1")
    assert words in done.stdout
    assert len(set(re.findall(rf'--shard "[^"]*/({elements})"', done.stdout))) == 1
    if system == "slurm":
        assert f"#SBATCH --array=1-{elements}\n" in done.stdout


def test_another_number_of_elements_can_be_asked_for(h123: Tool, study: Path) -> None:
    done = h123("shards", study.name, "--for", "slurm", "--blocks", "12", "--shards", "3")
    assert "#SBATCH --array=1-3\n" in done.stdout
    assert "up to 4 blocks each" in done.stdout


def _documents(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize("clock", ["virtual", "wall"])
def test_a_job_of_kubernetes_has_what_its_clock_needs(h123: Tool, study: Path, clock: str) -> None:
    done = h123("shards", study.name, "--for", "kubernetes", "--image", "r/h:1", "--clock", clock, "--shards", "2")
    configuration, claim, job, join = _documents(done.stdout)
    assert yaml.safe_load(configuration["data"]["study.yaml"]) == yaml.safe_load(STUDY)
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    privileged = container["securityContext"].get("privileged", False)
    devices = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert (privileged, "/dev/net/tun" in devices, "affinity" in spec) == ((clock == "wall",) * 3)
    assert (job["spec"]["completions"], job["spec"]["completionMode"]) == (2, "Indexed")
    assert join["spec"]["suspend"]
    names = {claim["metadata"]["name"]}
    assert {v["persistentVolumeClaim"]["claimName"] for v in spec["volumes"] if "persistentVolumeClaim" in v} == names
    for script in (container["command"][-1], join["spec"]["template"]["spec"]["containers"][0]["command"][-1]):
        assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_a_workflow_runs_each_shard_and_joins_them(h123: Tool, study: Path) -> None:
    (workflow,) = _documents(h123("shards", study.name, "--for", "github", "--shards", "2").stdout)
    jobs = workflow["jobs"]
    assert jobs["shard"]["strategy"]["matrix"]["shard"] == [1, 2]
    assert jobs["join"]["needs"] == "shard"
    for job in jobs.values():
        for step in job["steps"]:
            script = step.get("run", "")
            assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


@pytest.mark.heavy
def test_files_are_as_their_schemas_say(h123: Tool, study: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "checkers", with_pip=True)
    programs = tmp_path / "checkers" / "bin"
    install = [programs / "pip", "install", "-q", "--disable-pip-version-check", *CHECKERS]
    if subprocess.run(install, check=False).returncode:
        pytest.skip(f"no package index has {' and '.join(CHECKERS)}")
    for clock in ("virtual", "wall"):
        for name, system in {"w.yml": "github", "k.yaml": "kubernetes"}.items():
            done = h123("shards", study.name, "--for", system, "--clock", clock, "--image", "registry/h123:1")
            (tmp_path / name).write_text(done.stdout)
        subprocess.run(
            [programs / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", tmp_path / "w.yml"],
            check=True,
        )
        subprocess.run(
            [programs / "kubernetes-validate", "--strict", "-k", KUBERNETES, tmp_path / "k.yaml"], check=True
        )
        # What is wrong is found.
        (tmp_path / "k.yaml").write_text((tmp_path / "k.yaml").read_text().replace("completionMode", "completionMood"))
        wrong = [programs / "kubernetes-validate", "--strict", "-k", KUBERNETES, tmp_path / "k.yaml"]
        assert subprocess.run(wrong, check=False, capture_output=True).returncode != 0


@pytest.mark.heavy
@pytest.mark.skipif(os.geteuid() != 0, reason="the daemons of two nodes need root")
@pytest.mark.skipif(bool(slurm.missing()), reason="apt install slurmctld slurmd slurm-client")
def test_slurm_runs_the_printed_file_and_a_requeued_element_goes_on(h123: Tool, study: Path, tmp_path: Path) -> None:
    printed = h123.succeed("shards", study.name, "--for", "slurm", "--shards", "2", "--cpus", "1")
    (h123.folder / "job.sh").write_text(printed.stdout)
    (tmp_path / "slurm").mkdir()
    with slurm.cluster(tmp_path / "slurm") as cluster:
        job = cluster("sbatch", "job.sh", cwd=h123.folder).split()[-1]
        first = h123.folder / "shards" / "1"
        _wait_until("its first trial", lambda: len(_trials(first)) > 0)
        before = _trials(first)
        cluster("scontrol", "requeue", f"{job}_1")
        _wait_until("the requeue", lambda: cluster.states(job).get("1") in ("PENDING", None))
        cluster("scontrol", "update", f"JobId={job}_1", "StartTime=now")
        _wait_until("the end", lambda: not cluster.states(job))
        logs = "\n".join(path.read_text() for path in sorted(h123.folder.glob("h123-small-*.log")))
    events = CampaignFolder.open(first).events()
    assert [event["event"] for event in events].count("resume") == 1, logs
    ended = [event["trial"] for event in events if event["event"] == "trial" and event["valid"]]
    assert len(ended) == len(set(ended)) == 6, logs
    assert before <= _trials(first)
    result = join_shards(sorted((h123.folder / "shards").iterdir()), h123.folder / "c", lambda _: None)
    assert result.missing == []
    assert {row["place"] for row in result.folder.events() if row["event"] == "trial"} <= set(slurm.NODES)
    assert analyse(result.folder)["blocks"] == {"planned": 4, "complete": 4}


def _trials(shard: Path) -> set[str]:
    """The finished attempts."""
    return {path.parent.name for path in shard.glob("trials/*/seal.json") if "partial" not in str(path)}


def _wait_until(what: str, condition: Any) -> None:
    deadline = time.monotonic() + 2 * PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.5)

"""A recorded link is imported as a person does it, and trials run over it."""

import json

import pytest

from cli.conftest import Tool

RECORD = "time_s,rate_mbit_s,delay_ms,loss_percent\n0,20,10,0\n1,5,30,0\n2,0,30,0\n2.5,10,20,1\n"
STUDY = """\
h123: study/1
name: recorded
question: Do blocks meet different parts of a record?
factors: {protocol: [h2, h3]}
settings: {network: drive.yaml, server: go, client: go, size: 50kB, users: 1, requests: 3, clock: virtual}
compare: {factor: protocol, pairs: [h3/h2], twin: h2}
blocks: 2
"""


def test_a_recording_is_imported_or_refused_whole(h123: Tool) -> None:
    (h123.folder / "drive.csv").write_text(RECORD)
    (h123.folder / "bad.csv").write_text(RECORD + "2,1,1,1\n")
    done = h123.succeed("network", "import", "drive.csv", "--out", "drive.yaml", "--licence", "CC0-1.0")
    assert "the link may have been able to carry more" in " ".join(done.stdout.split())
    assert sorted(path.name for path in h123.folder.glob("drive*")) == [
        *("drive-down.csv", "drive-up.csv", "drive.csv", "drive.yaml")
    ]
    assert "drive.yaml is there already" in h123.refusal("network", "import", "drive.csv", "--out", "drive.yaml")
    assert "bad.csv:6: 2 s comes after 2.5 s" in h123.refusal("network", "import", "bad.csv", "--out", "bad.yaml")
    assert not list(h123.folder.glob("bad*.yaml"))
    for wrong in (("--step", "1us"), ("--delay", "soon"), ("--out", "x.txt")):
        h123.refusal("network", "import", "drive.csv", "--force", *wrong)


@pytest.mark.heavy
@pytest.mark.usefixtures("leaves_nothing_behind")
def test_blocks_meet_different_parts_of_a_record(h123: Tool) -> None:
    (h123.folder / "drive.csv").write_text(RECORD)
    h123.succeed("network", "import", "drive.csv", "--out", "drive.yaml")
    h123.run_study(STUDY)
    verdicts = h123.verdicts()
    assert {row["audit"] for row in verdicts["audit_summary"] if row["failed"]} <= {"blocks-too-few"}
    begun: dict[str, set[str]] = {}
    for path in sorted((h123.folder / "out/trials").glob("*/trial.json")):
        (link,) = json.loads(path.read_text())["links"]
        begun.setdefault(path.parent.name[:3], set()).add(json.dumps(link["down"]["changes"][:2]))
    # The same for all three trials of a block, and another in the next.
    assert [len(each) for each in begun.values()] == [1, 1]
    assert begun["b01"] != begun["b02"]

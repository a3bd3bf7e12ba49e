"""A client that does or tells something else than it should: the embedded one, its workload or samples edited."""

from pathlib import Path

from h123.base.roots import mounted
from h123.catalogue import Subject, read_subject

_MANIFEST = """\
h123 = "subject/1"
name = "broken"
title = "A client that lies"
stack = "none"
language = "Python"
version = "1"
home = "https://example.org"
licence = "Apache-2.0"

[install]
build = ["cp", "drive.py", "{prefix}/drive.py"]

[client]
command = ["python3", "{prefix}/drive.py", "{workload}", "{samples}", "{facts}"]
protocols = ["PROTOCOL"]
methods = ["GET", "POST"]
"""
_DRIVE = """\
import csv, json, subprocess, sys

workload, samples, facts = sys.argv[1:4]
asked = json.load(open(workload))
CHANGE
json.dump(asked, open("carried-out.json", "w"))
files = ["--workload", "carried-out.json", "--samples", samples, "--facts", facts]
unset = [part for name in ("initial-window", "pacing", "max-datagram") for part in (f"--{name}", "")]
status = subprocess.call([GO, "drive", *files, *unset])
with open(samples, newline="") as file:
    rows = list(csv.DictReader(file))
header = list(rows[0])
LIE
with open(samples, "w", newline="") as file:
    written = csv.DictWriter(file, header)
    written.writeheader()
    written.writerows(rows)
sys.exit(status)
"""


def broken(
    folder: Path, lie: str = "pass", declares: str = "ttfb = true\n", protocol: str = "h2", change: str = "pass"
) -> Subject:
    """The subject, whose client runs the Python statements `change` on the workload `asked` before, and `lie` on
    `rows`, `asked`, `header` and `status` afterwards."""
    place = folder / "broken"
    place.mkdir(parents=True, exist_ok=True)
    (place / "subject.toml").write_text(_MANIFEST.replace("PROTOCOL", protocol) + declares)
    go = mounted("subjects", "go", "h123-go")
    words = {"GO": repr(go), "CHANGE": change, "LIE": lie}
    program = _DRIVE
    for word, text in words.items():
        program = program.replace(word, text)
    (place / "drive.py").write_text(program)
    return read_subject(place)

"""A client that carries everything out and then tells something else: the embedded one, its samples edited."""

from pathlib import Path

from h123.catalogue import Subject, catalogue, prefix, read_subject

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
protocols = ["h2"]
methods = ["GET"]
"""
_DRIVE = """\
import csv, json, subprocess, sys

workload, samples, facts = sys.argv[1:4]
asked = json.load(open(workload))
status = subprocess.call([GO, "drive", "--workload", workload, "--samples", samples, "--facts", facts])
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


def broken(folder: Path, lie: str, declares: str = "ttfb = true\n") -> Subject:
    """The subject, whose client runs the Python statements `lie` on `rows`, `asked`, `header` and `status`."""
    place = folder / "broken"
    place.mkdir(parents=True, exist_ok=True)
    (place / "subject.toml").write_text(_MANIFEST + declares)
    go = str(prefix(catalogue()["go"]) / "h123-go")
    (place / "drive.py").write_text(_DRIVE.replace("GO", repr(go)).replace("LIE", lie))
    return read_subject(place)

"""A subject so small that it is installed at once: a shell script that is copied."""

from pathlib import Path

from h123.catalogue import Subject, read_subject

MANIFEST = """\
h123 = "subject/1"
name = "small"
title = "A shell script"
stack = "none"
language = "sh"
version = "1"
home = "https://example.org"
licence = "Apache-2.0"

[install]
needs = ["sh"]
needs_help = "any Unix"
build = ["sh", "build.sh", "{prefix}"]

[server]
command = ["{prefix}/serve", "{address}:{port}", "--{protocol}", "{cert}", "{key}", "{congestion}"]
protocols = ["h1", "h2", "h3"]
methods = ["GET"]
listens = {h1 = ["tcp"], h2 = ["tcp"], h3 = ["udp"]}

[client]
command = ["{prefix}/serve", "{workload}", "{samples}", "{facts}"]
protocols = ["h1", "h2", "h3"]
methods = ["GET", "POST"]

[features]
congestion = {h1 = "kernel", h2 = "kernel", h3 = ["cubic", "reno"]}
"""


def built_already(name: str, title: str) -> str:
    """The head of a manifest of a program in Go that is there already."""
    return f"""\
h123 = "subject/1"
name = "{name}"
title = "{title}"
stack = "quic-go"
language = "Go"
version = "1"
home = "https://example.org"
licence = "Apache-2.0"

[install]
build = ["true"]

"""


PART = MANIFEST.replace('"small"', '"part"').replace(
    MANIFEST[MANIFEST.index("needs =") : MANIFEST.index("\n\n[server]")], 'part_of = "small"'
)
"""A subject that is made by the build of the first."""
BUILD = """\
echo built >> "$(dirname "$1")/builds"
cp serve "$1/serve"
"""


def write_small(subjects: Path, manifest: str = MANIFEST, build: str = BUILD, name: str = "small") -> Path:
    """The subject's folder, written below `subjects`."""
    folder = subjects / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "subject.toml").write_text(manifest)
    (folder / "build.sh").write_text(build)
    (folder / "serve").write_text("#!/bin/sh\necho serving\n")
    return folder


def small(subjects: Path, manifest: str = MANIFEST, build: str = BUILD) -> Subject:
    """The subject, read."""
    return read_subject(write_small(subjects, manifest, build))


def change_small(subjects: Path) -> Subject:
    """The subject, after a change of its files."""
    return small(subjects, MANIFEST.replace('language = "sh"', 'language = "bash"'))

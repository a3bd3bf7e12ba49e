"""Studies and networks that tests write, break and read."""

from pathlib import Path

from h123.study import Study, load_study

STUDY = """\
h123: study/1
name: sample
question: Which is faster?
factors:
  protocol: [h1, h2, h3]
  network: [lan, poor]
  load:
    light: {users: 1, requests: 2}
    heavy:
      users: 8
      requests: 4
settings:
  server: go
  client: go
  size: 10kB
  timeout: 5s
compare:
  factor: protocol
  pairs: [h3/h2, h3/h1]
  twin: h2
  margin: 5%
  families:
    - {name: answer, correction: holm, metrics: [latency], pairs: [h3/h2], each: [network]}
    - {name: details, correction: bh, metrics: [latency, ttfb]}
blocks: 3
seed: 5
"""


def write(folder: Path, text: str = STUDY, name: str = "sample.yaml") -> Path:
    """The file, written."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def sample_study(folder: Path) -> Study:
    """The study above."""
    return load_study(write(folder))

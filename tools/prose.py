"""Checks the prose of documentation, help, notes on subjects and docstrings with Vale: `make lint`. The rules are in
tools/vale.

    .venv/bin/python tools/prose.py .cache/vale/vale

The help and the notes come from the files that `tools/reference.py` has written into target/reference.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "target/reference").glob("*.md")]
    findings = _findings(sys.argv[1], [*sorted(pages), ROOT / "src/h123"])
    for line in findings:
        print(line)
    return bool(findings)


def _findings(vale: str, paths: list[Path]) -> list[str]:
    command = [vale, "--no-exit", "--output", "JSON", *(str(path) for path in paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, list[dict[str, object]]] = json.loads(done.stdout or "{}")
    return [
        f"{Path(name).relative_to(ROOT) if Path(name).is_absolute() else name}:{each['Line']}: {each['Message']}"
        for name, alerts in found.items()
        for each in alerts
    ]


if __name__ == "__main__":
    raise SystemExit(main())

"""Checks the prose of documentation, help and docstrings with Vale: `make lint`. The rules are in tools/vale.

    .venv/bin/python tools/prose.py .cache/vale/vale

Help is read from what `tools/reference.py` wrote into target/reference. Rooms whose docstrings still have findings are
listed in STILL_TO_DO, which may only shrink: a room without findings must leave it.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GENERATED = {"catalogue.md", "constants.md", "contracts.md", "hostile.md", "profiles.md", "zoo.md"}
"""Pages below docs that other files generate or subjects name."""
STILL_TO_DO = {"analysis", "campaign", "catalogue", "causes", "cli", "measures", "store"}


def main() -> int:
    vale = sys.argv[1]
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.name not in GENERATED]
    pages += [*ROOT.glob("*.md"), *(ROOT / "target/reference").glob("*.md")]
    code = ROOT / "src/h123"
    rooms = sorted(path for path in code.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file())
    held = [path for path in rooms if path.name not in STILL_TO_DO]
    findings = _findings(vale, [*sorted(pages), *held])
    for line in findings:
        print(line)
    clean = [name for name in sorted(STILL_TO_DO) if not _findings(vale, [code / name])]
    for name in clean:
        print(f"tools/prose.py: the docstrings of {name} have no findings: take it out of STILL_TO_DO")
    return bool(findings or clean)


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

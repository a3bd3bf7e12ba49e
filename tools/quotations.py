"""Are a ledger's quotations in their source, letter by letter? Tells which are not, keeps the digests of the others.

The sources belong to others and do not come with h123. Whoever has their texts compares them here; then
tests/study/test_ledger.py holds each quotation to what was compared, so that none is changed or added unseen.

    python tools/quotations.py claims/rest-api.yaml paper.txt
"""

import hashlib
import json
import sys
from pathlib import Path

from h123.study import load_ledger

KEPT = Path(__file__).resolve().parent.parent / "tests/study/quotations.json"


def main(ledger: Path, text: Path) -> int:
    """Compare one ledger; white space counts as one blank, since texts are broken into lines anywhere."""
    source = " ".join(text.read_text(encoding="utf-8").split())
    quoted = {claim.id: claim.quotation for claim in load_ledger(ledger).claims if claim.quotation}
    foreign = [name for name, quotation in quoted.items() if " ".join(quotation.split()) not in source]
    if foreign:
        print(f"not in {text}: {', '.join(foreign)}", file=sys.stderr)
        return 1
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept[ledger.stem] = {name: digest(quotation) for name, quotation in quoted.items()}
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    print(f"{ledger.stem}: {len(quoted)} quotations are in {text}")
    return 0


def digest(quotation: str) -> str:
    """Of a quotation, however it is broken into lines."""
    return hashlib.sha256(" ".join(quotation.split()).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

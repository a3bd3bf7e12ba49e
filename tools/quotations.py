"""Checks that a ledger's quotations appear literally in their source, and stores their digests if they do.

The sources belong to others and do not come with h123. If you have a source's text, compare the ledger with it here.
Afterwards, tests/study/test_ledger.py compares each quotation with the stored digest, so that none is changed or added
unnoticed.

    python tools/quotations.py claims/rest-api.yaml paper.txt
"""

import hashlib
import json
import sys
from pathlib import Path

from h123.study import load_ledger

KEPT = Path(__file__).resolve().parent.parent / "tests/study/quotations.json"


def main(ledger: Path, text: Path) -> int:
    """Compare one ledger with a text and return the exit status. Any white space counts as one blank, because texts are
    broken into lines at different places."""
    source = " ".join(text.read_text(encoding="utf-8").split())
    quoted = {claim.id: claim.quotation for claim in load_ledger(ledger).claims if claim.quotation}
    foreign = [name for name, quotation in quoted.items() if " ".join(quotation.split()) not in source]
    if foreign:
        print(f"not in {text}: {', '.join(foreign)}", file=sys.stderr)
        return 1
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept[ledger.stem] = {name: digest(quotation) for name, quotation in quoted.items()}
    KEPT.write_text(json.dumps(kept, separators=(",", ":"), sort_keys=True) + "\n")
    print(f"{ledger.stem}: {len(quoted)} quotations are in {text}")
    return 0


def digest(quotation: str) -> str:
    """Return the digest of a quotation. It does not depend on line breaks."""
    return hashlib.sha256(" ".join(quotation.split()).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

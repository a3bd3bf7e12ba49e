"""Checks that a ledger's quotations appear literally in their source, and stores their digest if they do.

The sources belong to others and do not come with h123. If you have a source's text, compare the ledger with it here.
Afterwards, tests/study/test_ledger.py compares the quotations with the stored digest, so that none is changed or added
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
    quoted = {claim.id: " ".join(claim.quotation.split()) for claim in load_ledger(ledger).claims if claim.quotation}
    foreign = [name for name, quotation in quoted.items() if quotation not in source]
    if foreign:
        print(f"not in {text}: {', '.join(foreign)}", file=sys.stderr)
        return 1
    digest = hashlib.sha256(json.dumps(quoted, sort_keys=True).encode()).hexdigest()
    KEPT.write_text(json.dumps({**json.loads(KEPT.read_text()), ledger.stem: digest}, indent=1, sort_keys=True) + "\n")
    print(f"{ledger.stem}: {len(quoted)} quotations are in {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

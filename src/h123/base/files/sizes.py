"""Defines the largest size, in bytes, of each kind of file. h123 neither writes nor reads larger ones, because that
would take too long."""

WRITTEN = 100_000
"""The limit on a study, network, manifest, site or schema. Handwritten ones are far smaller."""
AUTHORITIES = 10_000_000
"""The limit on `--cacert`, for forty times as many certificates as a Linux distribution trusts."""
UPLOAD = 900_000_000
"""The limit on the body for `--data`."""
SAMPLES = 900_000_000
"""The limit on files with another tool's samples."""
DOCUMENT = 200_000_000
"""The limit on JSON that h123 wrote, such as verdicts.json."""
JOURNAL = 500_000_000
CACHED = 50_000_000
"""The limit on a file in h123's cache."""
RECORDED = 900_000_000
"""The limit on a campaign's other files: samples, packets, logs, figures."""

_OF_A_CAMPAIGN = {".json": DOCUMENT, ".yaml": WRITTEN, ".jsonl": JOURNAL, ".pem": AUTHORITIES}


def most(name: str) -> int:
    """Return the largest allowed size, in bytes, of a campaign's file with this name."""
    return _OF_A_CAMPAIGN.get(name[name.rfind(".") :], RECORDED)

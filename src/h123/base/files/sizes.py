"""Defines the largest size, in bytes, of each kind of file. h123 neither writes nor reads larger ones, because that
would take too long."""

WRITTEN = 100_000
"""A study, network, manifest, site or schema. Those that people write by hand are far smaller."""
AUTHORITIES = 10_000_000
"""Certificates for `--cacert`, forty times as many as a Linux distribution trusts."""
UPLOAD = 900_000_000
"""The body for `--data`."""
SAMPLES = 900_000_000
"""A file with another tool's samples."""
DOCUMENT = 200_000_000
"""JSON that h123 wrote, such as campaign.json or verdicts.json."""
JOURNAL = 500_000_000
CACHED = 50_000_000
"""A file in h123's cache."""
RECORDED = 900_000_000
"""Any other file of a campaign: samples, packets, logs, figures."""

_OF_A_CAMPAIGN = {".json": DOCUMENT, ".yaml": WRITTEN, ".jsonl": JOURNAL, ".pem": AUTHORITIES}


def most(name: str) -> int:
    """Return the largest allowed size, in bytes, of a campaign's file with this name."""
    return _OF_A_CAMPAIGN.get(name[name.rfind(".") :], RECORDED)

"""The tool without what it takes its time for: each test of many would wait for it again.

PYTHONPATH=src:tests python -m hasty run smoke
"""

import os
import runpy
from unittest import mock

import vl_convert

from h123.execution import retry_policy
from h123.report.page import campaign

BLANK_PICTURES = mock.patch.multiple(
    vl_convert, vegalite_to_svg=lambda *_, **__: "<svg></svg>", svg_to_png=lambda *_, **__: b""
)
NO_PICTURES = mock.patch.object(campaign, "_drawn", return_value={})
"""For tests of a report's words: the pictures take as long as all the rest of a small campaign, and have tests of their
own."""


def hasten(draws: bool = False) -> None:
    """For a process of its own: no power cut comes, no machine becomes calmer amid tests, and reports have no pictures
    unless it `draws`."""
    os.fsync = lambda _: None
    retry_policy.PATIENCE = retry_policy.Patience(least_repeating_s=0.0, least_waiting_s=0.0)
    if not draws:
        NO_PICTURES.start()


if __name__ == "__main__":
    hasten()
    runpy.run_module("h123", run_name="__main__", alter_sys=True)

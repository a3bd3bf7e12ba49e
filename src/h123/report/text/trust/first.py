"""What a reader must know before any answer, in the terminal and on the page."""

from collections.abc import Mapping
from typing import Any

from h123.report.text.trust.failed_attempts import often_failed_lines
from h123.report.text.trust.other_answers import other_answers_lines
from h123.report.text.trust.unproved import failed_lines


def first_lines(verdicts: Mapping[str, Any]) -> list[str]:
    """Servers that did different work, subjects that failed verification, treatments that get stuck: sentences."""
    return [*other_answers_lines(verdicts), *failed_lines(verdicts), *often_failed_lines(verdicts)]

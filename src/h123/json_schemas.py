"""JSON Schemas of what h123 writes. `python -m h123.json_schemas docs/schemas`.

They say what a reader may rely on, in files of earlier versions too. A file may have more than its schema names.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from h123.analysis.results.head import ResultHead
from h123.analysis.sections import Verdicts
from h123.diff import Diff
from h123.documents.campaign_file import CampaignFile, Seal
from h123.documents.events import Event, EventFile
from h123.documents.lab_report import Report
from h123.documents.trial_files import ClientFile, TrialFile
from h123.execution import BlockOrder, Machine, PoolEvent
from h123.gate import Gate
from h123.report import PageFacts
from h123.study.workload import AnyWorkloadFile

DOCUMENTS: dict[str, Any] = {
    "campaign": CampaignFile,
    "client": ClientFile,
    "diff": Diff,
    "event": EventFile,
    "gate": Gate,
    "journal-event": Event,
    "machine": Machine,
    "order": BlockOrder,
    "pool-event": PoolEvent,
    "report": Report,
    "result-head": ResultHead,
    "result-page": PageFacts,
    "seal": Seal,
    "trial": TrialFile,
    "verdicts": Verdicts,
    "workload": AnyWorkloadFile,
}
"""By the schema's name; the journal has an event a line."""


def schemas() -> Iterator[tuple[str, str]]:
    """Names of files, and what is to be in them."""
    for name, document in DOCUMENTS.items():
        schema = TypeAdapter(document).json_schema()
        whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": name}
        yield f"{name}.schema.json", json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n"


def main(folder: Path) -> None:
    """Write them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

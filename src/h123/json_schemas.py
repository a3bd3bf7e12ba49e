"""Generates JSON Schemas for the files that h123 writes: `python -m h123.json_schemas docs/schemas`.

The schemas describe what a reader may rely on, even in files from earlier versions. A file may contain keys that its
schema does not list. The docstring below a field is its description.
"""

import ast
import inspect
import itertools
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import get_original_bases

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
from h123.tuning import Tuning, TuningAnswer

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
    "tuning": Tuning,
    "tuning-answer": TuningAnswer,
    "verdicts": Verdicts,
    "workload": AnyWorkloadFile,
}
"""The documents by schema name. The journal has one event per line."""


class _Described(GenerateJsonSchema):
    """A generator of schemas with the fields' docstrings and without titles, which would only repeat the fields'
    names."""

    def field_title_should_be_set(self, _schema: Any) -> bool:
        return False

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        return _described(super().typed_dict_schema(schema), schema.get("cls"))

    def model_schema(self, schema: Any) -> dict[str, Any]:
        return _described(super().model_schema(schema), schema["cls"])


def _described(schema: dict[str, Any], form: type | None) -> dict[str, Any]:
    meanings = field_meanings(form) if form else {}
    if "description" in schema:
        schema["description"] = _in_json(schema["description"])
    for name, value in schema.get("properties", {}).items():
        if name in meanings:
            value["description"] = meanings[name]
    return schema


def field_meanings(form: type) -> dict[str, str]:
    """Return the docstring of each field that a class declares or inherits."""
    found = dict[str, str]()
    for base in get_original_bases(form):
        if getattr(base, "__module__", "").startswith("h123."):
            found |= field_meanings(base)
    return found | _meanings(form.__module__).get(form.__name__, {})


@cache
def _meanings(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of the fields of a module's classes, by class."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {one.name: dict(_documented(one.body)) for one in tree.body if isinstance(one, ast.ClassDef)}


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, after in itertools.pairwise(body):
        match field, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, _in_json(" ".join(text.split()))


def _in_json(text: str) -> str:
    """Return a docstring in JSON's terms, with null for None."""
    return re.sub(r"\bNone\b", "null", re.sub(r"(^|[.] )None\b", r"\1Null", text))


def schemas() -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each schema file."""
    for name, document in DOCUMENTS.items():
        schema = TypeAdapter(document).json_schema(schema_generator=_Described)
        for definition, content in schema.get("$defs", {}).items():
            if content.get("title") == definition:
                del content["title"]
        whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": name}
        yield f"{name}.schema.json", json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

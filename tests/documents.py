"""Documents that tests write: of the models that h123 reads, so that no fake says what nothing real does."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from jsonschema import Draft202012Validator

from h123.documents.reading import write_document
from h123.documents.shapes import Document
from h123.json_schemas import schemas

Model = TypeVar("Model", bound=Document)


def document(model: type[Model], content: dict[str, Any]) -> Model:
    """The content as its model, which must know every name in it."""
    read = model.model_validate(content, strict=True)
    assert read.model_dump(mode="json", exclude_unset=True, by_alias=True) == content
    return read


def put(path: Path, model: type[Document], content: dict[str, Any]) -> None:
    """Write it."""
    write_document(path, document(model, content))


@contextmanager
def changed_campaign(folder: Path) -> Iterator[dict[str, Any]]:
    """Change what a folder's campaign.json says. Its digest is left out, as it would no longer hold."""
    path = folder / "campaign.json"
    content = json.loads(path.read_text())
    content.pop("digest", None)
    yield content
    path.write_text(json.dumps(content))


@contextmanager
def changed_events(folder: Path) -> Iterator[list[dict[str, Any]]]:
    """Change the events of a folder's journal. Their digests are left out, as they would no longer hold."""
    path = folder / "journal.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()]
    for event in events:
        event.pop("digest", None)
    yield events
    path.write_text("".join(json.dumps(event) + "\n" for event in events))


def check_campaign(folder: Path) -> set[str]:
    """Hold a campaign's documents against their schemas; returns the names of those that there are."""
    validators = {name: Draft202012Validator(json.loads(text)) for name, text in schemas()}
    found: list[tuple[str, object]] = [
        (path.stem, json.loads(path.read_text("utf-8")))
        for path in [*folder.glob("*.json"), *folder.glob("trials/*/*.json")]
        if f"{path.stem}.schema.json" in validators
    ]
    journal = (folder / "journal.jsonl").read_text("utf-8").splitlines()
    found += [("journal-event", json.loads(line)) for line in journal]
    for name, content in found:
        faults = [fault.message for fault in validators[f"{name}.schema.json"].iter_errors(content)]
        assert not faults, f"{name}: {faults[0]}"
    return {name for name, _ in found}


def check_documents(name: str, texts: Sequence[str]) -> None:
    """Hold documents of one format against its schema."""
    validator = Draft202012Validator(json.loads(dict(schemas())[f"{name}.schema.json"]))
    faults = [fault.message for text in texts for fault in validator.iter_errors(json.loads(text))]
    assert not faults, f"{name}: {faults[0]}"

"""Reads and writes JSON files whose `h123` key names their format. Files are untrusted input: if the format or the
shape of one is wrong, the error says how."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from h123 import __version__
from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.jsontext import parse_json
from h123.base.strict import describe
from h123.documents.shapes import Document

Model = TypeVar("Model", bound=Document)


def read_document(path: Path, model: type[Model]) -> Model:
    """Return the document in `path`. Raises UserError if it has a different format or does not fit its model."""
    return parsed(path, model) or validated(read_content(path, model.form()), model, path)


def parsed(path: Path, model: type[Model]) -> Model | None:
    """Parse the document in `path` in one step. Return None if something is wrong with it; `read_content` and
    `validated` are slower and report the fault."""
    try:
        return model.model_validate_json(path.read_bytes(), strict=True)
    except (OSError, ValueError):
        return None


def validated(content: object, model: type[Model], path: Path) -> Model:
    """Return the content of `path` as an instance of its model. Raises UserError if the content does not fit."""
    try:
        return model.model_validate(content, strict=True)
    except ValidationError as invalid:
        message = f"{path} is not as h123 writes it: {fault_of(invalid)}"
        raise UserError(message, remedy="restore the file from a copy") from None


def read_content(path: Path, form: str) -> dict[str, Any]:
    """Return the JSON object in `path`. Raises UserError unless its `h123` key is `form`."""
    try:
        content = parse_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UserError(f"{path} cannot be read: {error}", remedy="restore the file from a copy") from None
    form_line = content.get("h123") if isinstance(content, dict) else None
    if form_line != form:
        description = f"format {excerpt(form_line)}" if isinstance(form_line, str) else "an unknown format"
        raise UserError(
            f"{path} has {description}; this h123 ({__version__}) reads {form}",
            remedy="use the version of h123 that wrote it, or restore the file from a copy",
        )
    return dict(content)


def write_document(path: Path, document: BaseModel) -> None:
    """Write only the fields of the document that were set. For the other fields, readers use the defaults."""
    content = document.model_dump(mode="json", exclude_unset=True, by_alias=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def fault_of(invalid: ValidationError) -> str:
    """Describe the first fault, in at most 300 characters."""
    fault = invalid.errors()[0]
    return describe(fault, ".".join(map(str, fault["loc"])))[:300]

"""JSON files with a format line, read as anybody's: of another format or shape they are refused in words."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from h123 import __version__
from h123.errors import UserError
from h123.results.shapes import SHAPES, Shape
from h123.strict import describe


def read_document(path: Path, form: str) -> dict[str, Any]:
    """The JSON object in `path`, whose `h123` line must be `form`. Raises UserError otherwise."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise UserError(f"{path} cannot be read: it is nested too deeply") from None
    except (ValueError, OSError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    written = content.get("h123") if isinstance(content, dict) else None
    if written != form:
        found = written if isinstance(written, str) else "unknown"
        raise UserError(
            f"{path} has format {found[:40]}; this h123 ({__version__}) reads {form}",
            remedy="use the version of h123 that wrote it",
        )
    if fault := misshapen(content, SHAPES.get(form, Shape)):
        raise UserError(f"{path} is not as h123 writes it: {fault}", remedy="restore the file from a copy")
    return dict(content)


def misshapen(content: object, shape: type[Shape]) -> str | None:
    """What is wrong with the content, where its shape is another; None if it has that shape."""
    try:
        shape.model_validate(content, strict=True)
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        return describe(fault, ".".join(map(str, fault["loc"])))[:300]
    return None

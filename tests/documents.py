"""Documents that tests write: of the models that h123 reads, so that no fake says what nothing real does."""

from pathlib import Path
from typing import Any, TypeVar

from h123.results.documents import write_document
from h123.results.shapes import Document

Model = TypeVar("Model", bound=Document)


def document(model: type[Model], content: dict[str, Any]) -> Model:
    """The content as its model, which must know every name in it."""
    read = model.model_validate(content, strict=True)
    assert read.model_dump(mode="json", exclude_unset=True, by_alias=True) == content
    return read


def put(path: Path, model: type[Document], content: dict[str, Any]) -> None:
    """Write it."""
    write_document(path, document(model, content))

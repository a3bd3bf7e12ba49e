"""A YAML file that knows its line numbers, so that every complaint about it can name file and line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from h123.errors import UserError
from h123.strict import describe, place

Location = Sequence[str | int]
Model = TypeVar("Model", bound=BaseModel)


class Document:
    """The data of one YAML file, and the line on which each part of it stands."""

    def __init__(self, path: Path, text: str) -> None:
        """Raises UserError for what is not YAML, not a mapping, or names a key twice."""
        self.path = path
        loader = yaml.SafeLoader(text)
        try:
            self._root = loader.get_single_node()
            self._refuse_duplicates(self._root, set())
            data = loader.construct_document(self._root) if self._root else None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise UserError(f"{path}:{mark.line + 1 if mark else 1}: {error.problem or error.context}") from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise UserError(f"{path}: not valid YAML: {error}") from None
        if not isinstance(data, dict):
            raise UserError(f"{path}:1: expected `key: value` lines, as in the files that ship with h123")
        self.data: dict[str, Any] = data

    @classmethod
    def read(cls, path: Path, format_line: str) -> "Document":
        """Reads a file whose `h123` key must name `format_line` (such as `study/1`). Raises UserError."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            raise UserError(f"{path}: cannot be read: {reason}") from None
        document = cls(path, text)
        found = document.data.pop("h123", None)
        if found is None:
            raise UserError(f"{path}:1: the line `h123: {format_line}` is missing")
        if found != format_line:
            raise document.error(["h123"], f"the format is {found!r}; this version of h123 reads {format_line!r} here")
        return document

    def error(self, location: Location, message: str) -> UserError:
        """The complaint, with file and line in front."""
        return UserError(f"{self.path}:{self.line(location)}: {message}")

    def line(self, location: Location) -> int:
        """Line (from 1) of the part at `location`, or of the nearest part around it that exists."""
        node, line = self._root, 1
        for step in location:
            line, node = _child(node, step) or (line, node)
        return line

    def _written(self, fault: ErrorDetails, at: Location) -> str:
        """`a.b.c` for where a fault is, without the steps that only pydantic knows (members of a union)."""
        node, words = self._root, []
        for step in at:
            _, node = _child(node, step) or (0, node)
        for count, step in enumerate(fault["loc"], 1):
            entry = _child(node, step)
            if entry:
                node = entry[1]
            if entry or (fault["type"] == "missing" and count == len(fault["loc"])):
                words.append(str(step))
        return ".".join(words)

    def validate(self, model: type[Model], data: Any, at: Location = (), context: object = None) -> Model:
        """`data`, which stands at `at` in this file, as a `model`. Raises UserError for the first fault in the file."""
        try:
            return model.model_validate(data, context=context)
        except ValidationError as invalid:
            faults = [([*at, *place(fault)], fault) for fault in invalid.errors()]
            where, fault = min(faults, key=lambda pair: self.line(pair[0]))
            raise self.error(where, describe(fault, self._written(fault, at))) from None

    def _refuse_duplicates(self, node: yaml.Node | None, seen: set[int]) -> None:
        if node is None or id(node) in seen:
            return
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self._refuse_duplicates(item, seen)
        if isinstance(node, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if isinstance(key, yaml.ScalarNode) and key.value in first:
                    raise UserError(
                        f"{self.path}:{line}: duplicate key {key.value!r}; it is already on line {first[key.value]}"
                    )
                if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                    first[key.value] = line
                self._refuse_duplicates(value, seen)


def _child(node: yaml.Node | None, step: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == str(step):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return item.start_mark.line + 1, item
    return None

"""Reads a YAML file and keeps its line numbers, so that every error message can name the file and the line."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.reader import ReaderError
from yaml.resolver import Resolver
from yaml.scanner import ScannerError

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.textfile import code_point, read_text, unprintable
from h123.base.strict import describe, place

Location = Sequence[str | int]
Model = TypeVar("Model", bound=BaseModel)
MOST_BYTES = sizes.WRITTEN
"""The largest size of a file. Reading such a file takes about a second."""
MOST_VALUES = 100_000
"""The largest number of values in a file. Values that an alias repeats are counted each time."""
MOST_LEVELS = 50
"""The deepest nesting of values."""
MOST_BITS = 256
"""The largest size of a whole number in bits: more than any quantity needs, but short enough to print."""
_PLAIN = {
    "found unhashable key": "a key is a list or a map; it must be a word or a number",
    "could not determine a constructor": "tags such as !this are not allowed",
    "mapping values are not allowed": "a `key: value` cannot begin here: the line is indented too far, or has two "
    "`: `; quote a value that contains `: `",
    "mapping keys are not allowed": "a key cannot begin here: check the indentation",
    "sequence entries are not allowed": "a list cannot begin here: write its `- ` on a line of its own",
    "expected <block end>": "this line is not indented like the lines that it belongs to",
    "expected ',' or '}'": "the `{` on this line has no `}`, or a comma is missing",
    "expected ',' or ']'": "the `[` on this line has no `]`, or a comma is missing",
    "expected the node content": "a value is missing",
    "but found another document": "a second document begins here, and a file has only one: remove the `---`",
    "could not find expected ':'": "expected `key: value`, and there is no `: `",
    "found unexpected end of stream": "the quote that begins on this line has no end",
    "found character '\\t'": "a tab; indent with blanks",
    "found character": "a value cannot begin with this character; quote the value",
    "found undefined alias": "this `*name` has no `&name` before it",
    "found duplicate anchor": "an `&name` that another value has already",
    "found unknown escape character": "a backslash in double quotes that means nothing; use single quotes",
}
"""Plain words for the YAML library's messages, keyed by the beginning of the message."""
_WHERE_IT_BEGAN = ("expected ',' or", "could not find expected ':'", "found unexpected end of stream")
"""The beginnings of messages about something that began on an earlier line, which is the line to fix."""
_PAGES = {"published": "docs/contracts/claims.md", "site": "docs/pages.md", "import": "docs/import.md"}
"""The documentation pages of formats that have no page docs/contracts/<format>.md."""
MOST_FAULTS = 100
"""The largest number of faults that the reader compares to find the first one in the file."""


_OCTAL = re.compile(r"[-+]?0[0-7_]+")


class _Bounded(Composer):
    """A composer that limits the nesting depth."""

    _level = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._level += 1
        if self._level > MOST_LEVELS:
            raise ComposerError(None, None, "nested too deeply", getattr(self, "get_mark", lambda: None)())
        node = super().compose_node(parent, index)
        self._level -= 1
        return node


class _Checked(SafeConstructor):
    """A constructor that refuses invalid values, and reports them with their lines."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if _is_plain(node):
            _refuse_slips(node)
        try:
            value = super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            kind = node.tag.rpartition(":")[2]
            raise _unfit(node, f"{excerpt(node.value)} is not a valid {kind}") from None
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise _unfit(node, "a number with too many digits")
        if isinstance(value, str) and (character := unprintable(value)):
            raise _unfit(node, f"{excerpt(value)} contains a character that is not allowed, {character}")
        return value


class _Loader(_Bounded, _Checked, yaml.SafeLoader):
    """A loader whose messages give the fault and its position."""


if yaml.__with_libyaml__:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]

    class _FastLoader(_Bounded, CParser, _Checked, Resolver):
        """A loader that uses the C library, which is ten times as fast. It raises an error for text that only the C
        library might accept."""

        def __init__(self, text: str) -> None:
            if "\t" in text or "\ufeff" in text:
                raise ScannerError(problem="a tab or a byte order mark")
            CParser.__init__(self, text)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            node = super().compose_node(parent, index)
            if isinstance(parent, yaml.CollectionNode) and parent.flow_style and _is_plain(node) and "?" in node.value:
                raise ComposerError(problem="a question mark among braces or brackets")
            return node

else:
    _FastLoader = _Loader  # type: ignore[misc, assignment]


def _is_plain(node: yaml.Node | None) -> TypeGuard[yaml.ScalarNode]:
    return isinstance(node, yaml.ScalarNode) and not node.style


def _refuse_slips(node: yaml.ScalarNode) -> None:
    """Refuse values that YAML 1.1 reads in a way that few people intend."""
    kind, text = node.tag.rpartition(":")[2], node.value
    if kind == "null" and not text:
        raise _unfit(node, "there is no value here: write one, or remove the line")
    if kind in ("int", "float") and ":" in text:
        raise _unfit(node, f"YAML reads {text} as a number to base 60; write the number itself, or quote it")
    if kind == "int" and _OCTAL.fullmatch(text):
        raise _unfit(node, f"YAML reads {text} as an octal number; write it without the leading 0, or quote it")


def _unfit(node: yaml.Node, message: str) -> ConstructorError:
    return ConstructorError(None, None, message, node.start_mark)


class YamlDocument:
    """The data of one YAML file, with the line number of each part."""

    def __init__(self, path: Path, format_line: str = "study/1") -> None:
        """Read the file. Raises UserError if it cannot be read, is not valid YAML, is not a mapping, or contains a key
        twice. `format_line` is the expected format; it determines which page the messages name."""
        kind = format_line.partition("/")[0]
        self.path, self.page = path, _PAGES.get(kind, f"docs/contracts/{kind}.md")
        self.text = read_text(path, MOST_BYTES)
        data = self._load(self.text)
        if not isinstance(data, dict):
            raise UserError(f"{path}:1: expected `key: value` lines", remedy=f"see the examples in {self.page}")
        self.data: dict[str, Any] = data

    @classmethod
    def read(cls, path: Path, format_line: str) -> "YamlDocument":
        """Read a file whose `h123` key must be `format_line`, such as `study/1`. Raises UserError."""
        document = cls(path, format_line)
        format_of_file = document.data.pop("h123", None)
        if format_of_file is None:
            raise UserError(
                f"{path}:1: the line `h123: {format_line}` is missing, which declares the file's format",
                remedy=f"add it as the first line; {document.page} has the format",
            )
        if format_of_file != format_line:
            message = f"the format is {excerpt(format_of_file)}; this version of h123 reads {format_line!r} here"
            raise document.error(["h123"], message, remedy=f"{document.page} has the format")
        return document

    def error(self, location: Location, message: str, remedy: str | None = None) -> UserError:
        """Return an error whose message begins with the file and the line."""
        return UserError(f"{self.path}:{self.line(location)}: {message}", remedy)

    def rename(self, at: Location, old: str, new: str) -> None:
        """Rename a key of the mapping at `at`, both in the data and in the YAML nodes that `line` searches. A mapping
        that contains both keys stays as it is."""
        data, node = self.data, self._root
        for step in at:
            data, (_, node) = data[step], _child(node, step) or (0, None)  # type: ignore[index]
        if new in data or old not in data:
            return
        data[new] = data.pop(old)
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value == old:
                key.value = new

    def line(self, location: Location) -> int:
        """Return the line (from 1) of the part at `location`, or of the closest enclosing part that exists."""
        node, line = self._root, 1
        for step in location:
            line, node = _child(node, step) or (line, node)
        return line

    def _key_path(self, fault: ErrorDetails, at: Location) -> str:
        """Return the path of keys to a fault, such as `a.b.c`, without the steps that pydantic adds for the members of
        a union."""
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
        """Validate `data`, the part of this file at `at`, as a `model`. Raises UserError for the first fault in the
        file."""
        try:
            return model.model_validate(data, context=context)
        except ValidationError as invalid:
            raise self.fault(invalid, at) from None

    def fault(self, invalid: ValidationError, at: Location, name: str = "") -> UserError:
        """Return an error for the fault that comes first in the file. `at` is the location of the validated part, and
        `name` its name in the message."""
        faults = [([*at, *place(fault)], fault) for fault in invalid.errors()[:MOST_FAULTS]]
        where, fault = min(faults, key=lambda pair: self.line(pair[0]))
        inside = self._key_path(fault, at)
        remedy = f"add it; {self.page} says what it means" if fault["type"] == "missing" else None
        return self.error(where, describe(fault, ".".join(part for part in (name, inside) if part)), remedy)

    def _load(self, text: str) -> Any:
        """Return the file's data, and keep the YAML nodes, which have the line numbers."""
        with suppress(yaml.YAMLError, UserError, RecursionError, ArithmeticError, ValueError):
            return self._constructed(_FastLoader(text))
        try:
            loader = _Loader(text)
        except ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise UserError(f"{self.path}:{line}: the character {code_point(error.character)} is not allowed") from None
        try:
            return self._constructed(loader)
        except yaml.MarkedYAMLError as error:
            problem = str(error.problem or error.context)
            began = error.context_mark if problem.startswith(_WHERE_IT_BEGAN) else None
            mark = began or error.problem_mark or error.context_mark
            plain = next((words for begins, words in _PLAIN.items() if problem.startswith(begins)), problem)
            raise UserError(
                f"{self.path}:{mark.line + 1 if mark else 1}: {plain}", remedy=f"{self.page} has the format"
            ) from None
        except RecursionError:
            raise UserError(f"{self.path}:{loader.line + 1}: nested too deeply") from None
        except (yaml.YAMLError, ArithmeticError, ValueError):
            raise UserError(
                f"{self.path}:{loader.line + 1}: not valid YAML",
                remedy="look for a missing colon or quote, or a wrong indentation, on this line or the one before",
            ) from None

    def _constructed(self, loader: "_Loader | _FastLoader") -> Any:
        self._root = loader.get_single_node()
        if self._root is None:
            return None
        self._count_values(self._root, {})
        return loader.construct_document(self._root)

    def _count_values(self, node: yaml.Node, counts: dict[int, int]) -> int:
        """Return the number of values that a node represents. Raises UserError if aliases repeat too many values or
        refer to themselves, or if a mapping contains a key twice."""
        line = node.start_mark.line + 1
        if id(node) in counts:
            if not counts[id(node)]:
                raise UserError(f"{self.path}:{line}: an alias that contains itself")
            return counts[id(node)]
        counts[id(node)] = 0
        if isinstance(node, yaml.MappingNode):
            self._refuse_duplicates(node)
            inside = [part for pair in node.value for part in pair]
        else:
            inside = node.value if isinstance(node, yaml.SequenceNode) else []
        count = counts[id(node)] = 1 + sum(self._count_values(part, counts) for part in inside)
        if count > MOST_VALUES:
            raise UserError(f"{self.path}:{line}: its aliases repeat so much that this has over {MOST_VALUES} values")
        return count

    def _refuse_duplicates(self, node: yaml.MappingNode) -> None:
        first: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.value in first:
                raise UserError(
                    f"{self.path}:{line}: duplicate key {excerpt(key.value)}; it is already on line {first[key.value]}"
                )
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                first[key.value] = line


def _child(node: yaml.Node | None, step: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == str(step):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return item.start_mark.line + 1, item
    return None

"""Provides the base of all models of files that people write. It refuses unknown keys, and its messages help the
author."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from h123.base.complaints import choose, excerpt

_PLAIN = {
    "Input should be": "must be",
    "String should": "must",
    "a valid integer": "a whole number",
    "a valid boolean": "true or false",
    "a valid string": "text",
    "a valid number": "a number",
    "a valid list": "a list",
    "a valid dictionary": "keys with values",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
}
"""Plain words for parts of pydantic's messages."""
_NAMES = {
    "^[A-Za-z0-9][A-Za-z0-9._+-]*$": "letters, digits and `.`, `_`, `+`, `-`, the first a letter or a digit",
    "^[A-Za-z0-9][A-Za-z0-9._-]*$": "letters, digits and `.`, `_`, `-`, the first a letter or a digit",
    "^[a-z0-9][a-z0-9._-]*$": "small letters, digits and `.`, `_`, `-`, the first a letter or a digit",
    "^[a-z0-9][a-z0-9-]*$": "small letters, digits and `-`, the first a letter or a digit",
}
"""Descriptions of the names that each pattern allows."""


def fault_at(keys: Sequence[str | int], message: str) -> PydanticCustomError:
    """Return an error about the part at `keys`, for a validator to raise."""
    return PydanticCustomError("fault_at", "{message}", {"message": message, "keys": keys})


class Strict(BaseModel):
    """A model that refuses unknown keys and lists the allowed ones."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        for key in data:
            if key not in cls.model_fields:
                raise fault_at([key], f"unknown key {excerpt(key)}; {choose(key, cls.model_fields)}")
        return data


def place(fault: ErrorDetails) -> list[str | int]:
    """Return the location of a fault as keys and indices from the top of the file."""
    return [*fault["loc"], *fault.get("ctx", {}).get("keys", [])]


def describe(fault: ErrorDetails, key: str) -> str:
    """Describe a fault that pydantic found, in words for the author of the file."""
    value, context = fault.get("input"), fault.get("ctx", {})
    at = f"{key}: " if key else ""
    match fault["type"]:
        case "missing":
            return f"`{key}` is missing"
        case "fault_at":
            return at + fault["msg"]
        case "literal_error":
            allowed = [word.strip(" '") for word in context["expected"].replace(" or ", ",").split(",")]
            return f"{at}{excerpt(value)} is not allowed; {choose(value, allowed)}"
        case "value_error":
            return f"{at}{context['error']}"
        case "string_pattern_mismatch" if context["pattern"] in _NAMES:
            return f"{at}a name has only {_NAMES[context['pattern']]}; found {excerpt(value)}"
        case "too_short":
            return f"{at}must not be empty"
        case "model_type" | "dict_type":
            return f"{at}expected keys with values, found {excerpt(value)}"
        case _:
            message = fault["msg"].partition(", unable to")[0]
            for theirs, ours in _PLAIN.items():
                message = message.replace(theirs, ours)
            return f"{at}{message[:1].lower()}{message[1:]}, found {excerpt(value)}"


@dataclass(frozen=True)
class Changed:
    """A document's value that a model changed while reading it."""

    at: tuple[str, ...]
    """The value's location, as keys and indices from the top."""
    value: object
    """The value as the file gives it."""


def changed_value(document: object, read: object, at: tuple[str, ...] = ()) -> Changed | None:
    """Compare a document, which a program wrote, with what its model made of it (`read`). Return the first value that
    differs, or None. Values that the model adds, or leaves out because they are empty, are ignored. A number that is
    given as text differs from the number itself, and 1 differs from true."""
    if isinstance(document, Mapping) and isinstance(read, Mapping):
        relevant = {key: value for key, value in document.items() if key in read or value not in ([], {})}
        parts = [changed_value(value, read.get(key), (*at, str(key))) for key, value in relevant.items()]
    elif isinstance(document, list) and isinstance(read, list) and len(document) == len(read):
        parts = [changed_value(*both, (*at, str(index))) for index, both in enumerate(zip(document, read, strict=True))]
    else:
        return None if _kind(document) is _kind(read) and document == read else Changed(at, document)
    return next((part for part in parts if part), None)


def _kind(value: object) -> type:
    """Return the type of a value in JSON, which has only one type of number."""
    return float if type(value) is int else type(value)

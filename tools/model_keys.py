"""Tables of all keys of a file that people write, from the models that read it, for tools/reference.py."""

import ast
import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any, Literal, Union, get_args, get_origin

from file_keys import cell
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from h123.base.units import format_bytes, format_rate, format_seconds, format_share
from h123.json_schemas import field_meanings

Models = dict[str, type[BaseModel]]
_QUANTITIES = {
    "Duration": "time, such as `50ms`",
    "Time": "time, such as `50ms`",
    "parse_duration": "time, such as `50ms`",
    "Delay": "time, such as `15ms`",
    "Size": "size, such as `100kB`",
    "Bytes": "size, such as `100kB`",
    "LossFile": "share, such as `5%`, or mapping",
    "Share": "share, such as `5%`",
    "BitRate": "rate, such as `20Mbit/s`",
    "Queue": "size, packets or time",
    "Udp": "a word, or a rate",
    "Change": "change, such as `-31.2%`",
    "ColumnSource": "source",
}


def _time(ns: float) -> str:
    return format_seconds(ns / 10**9)


_SHOWN: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(("Duration", "Time", "parse_duration", "Delay"), _time),
    **dict.fromkeys(("Size", "Bytes"), format_bytes),
    "BitRate": format_rate,
    "Share": format_share,
}
"""How defaults are shown."""


def model_keys(models: Models) -> Iterator[str]:
    """Yield the lines of a table of keys for each model."""
    for title, model in models.items():
        yield from (f"### {title}", "", "| key | value | default | meaning |", "|---|---|---|---|")
        for name, (annotation, meaning) in _fields(model).items():
            field = model.model_fields[name]
            key = field.alias or name
            values = _values(field.annotation, annotation)
            if "number" in values:
                values += _limits(field) or _limits(field.annotation)
            inner = [each.__doc__ or "" for each in _models(field.annotation)]
            meaning = meaning or (inner[0] if len(inner) == 1 else "")
            yield f"| `{key}` | {cell(values)} | {_default(field, annotation)} | {cell(meaning)} |"
        yield ""


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models(each)]


def _fields(model: type[BaseModel]) -> dict[str, tuple[str, str]]:
    """Return the annotation and the docstring of each field that the class or a private class above it declares."""
    private = [each for each in model.__mro__ if each.__name__.startswith("_") and issubclass(each, BaseModel)]
    return {name: field for each in (model, *private) for name, field in _own_fields(each).items()}


def _own_fields(model: type[BaseModel]) -> dict[str, tuple[str, str]]:
    """Return the annotation and the docstring of each field that the class itself declares."""
    [tree] = ast.parse(inspect.cleandoc("\n" + inspect.getsource(model))).body
    assert isinstance(tree, ast.ClassDef)
    meanings = field_meanings(model)
    return {
        each.target.id: (ast.unparse(each.annotation), meanings.get(each.target.id, ""))
        for each in tree.body
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and each.target.id in model.model_fields
    }


def _values(annotation: Any, written: str) -> str:
    for quantity, words in _QUANTITIES.items():
        if re.search(rf"\b{quantity}\b", written):
            return words
    origin = get_origin(annotation)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if origin in (Union, types.UnionType):
        kinds = [_values(each, "") for each in get_args(annotation) if each is not type(None)]
        return " or ".join(dict.fromkeys(kinds))
    if hasattr(annotation, "__metadata__"):
        return _values(get_args(annotation)[0], written)
    if origin in (list, tuple):
        return f"list of {_values(get_args(annotation)[0], '')}"
    if origin is dict:
        return "mapping"
    if annotation is bool:
        return "`true`, `false`"
    if annotation is int:
        return "whole number"
    if annotation is float:
        return "number"
    return "text" if annotation is str else "mapping" if isinstance(annotation, type) else ""


def _limits(annotation: Any) -> str:
    """Describe the minimum and maximum of a number."""
    least, most = _bound(annotation, ("ge", "gt")), _bound(annotation, ("le", "lt"))
    if least is None:
        return ""
    return f", {least:,} to {most:,}" if most is not None else f", from {least:,}"


def _bound(annotation: Any, names: tuple[str, ...]) -> float | None:
    for each in (*getattr(annotation, "metadata", ()), *getattr(annotation, "__metadata__", ())):
        for name in names:
            if (bound := getattr(each, name, None)) is not None:
                return float(bound) if isinstance(bound, float) else int(bound)
        if (inner := _bound(each, names)) is not None:
            return inner
    for each in get_args(annotation):
        if (inner := _bound(each, names)) is not None:
            return inner
    return None


def _default(field: Any, written: str) -> str:
    if field.default is PydanticUndefined:
        return "none" if field.default_factory else "required"
    value = field.default
    if value is None or value in ([], (), {}, ""):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    for quantity, show in _SHOWN.items():
        if quantity in written and isinstance(value, int | float):
            return f"`{show(value).replace(' ', '')}`" if value else "`0`"
    if isinstance(value, list | tuple | dict | BaseModel):
        return "see below"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"

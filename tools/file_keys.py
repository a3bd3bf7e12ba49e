"""Tables of all keys of a file that h123 writes, from its JSON Schema, for tools/reference.py."""

import json
from collections.abc import Iterator
from typing import Any


def file_keys(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a reference of all keys of a file that h123 writes: a table for each kind of object in it."""
    for title, shape in _objects(schema):
        yield from (f"**{title}**" if title else "", "", "| key | value | meaning |", "|---|---|---|")
        for key, value in shape.get("properties", {}).items():
            words = _words(value, schema) + ("" if key in shape.get("required", ()) else ", optional")
            inner = [each.get("description", "") for each in _inner(value, schema)]
            meaning = value.get("description") or (inner[0] if len(inner) == 1 else "")
            yield f"| `{key}` | {cell(words)} | {cell(meaning)} |"
        yield ""


def _objects(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each kind of object in a document once, with its first place."""
    waiting = [("", each) for each in ([schema] if "properties" in schema else _inner(schema, schema))]
    seen = list[dict[str, Any]]()
    while waiting:
        place, shape = waiting.pop(0)
        if shape in seen:
            continue
        seen.append(shape)
        properties = shape.get("properties", {})
        yield f"`{place}`" if place else _kind(properties), shape
        for key, value in properties.items():
            waiting += [(f"{place}.{key}".lstrip("."), each) for each in _inner(value, schema)]


def _kind(properties: dict[str, Any]) -> str:
    """Return the words that distinguish one event, or one kind of workload, from others."""
    named = properties.get("event") or properties.get("kind") or {}
    values = named.get("enum") or ([named["const"]] if "const" in named else [])
    return ", ".join(f"`{value}`" for value in values)


def _inner(value: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the kinds of objects in a value."""
    if "$ref" in value:
        shape = schema["$defs"][value["$ref"].rpartition("/")[2]]
        return [shape] if "properties" in shape else _inner(shape, schema)
    below = [*value.get("anyOf", ()), *value.get("oneOf", ())]
    below += [value[key] for key in ("items", "additionalProperties") if isinstance(value.get(key), dict)]
    below += value.get("patternProperties", {}).values()
    return [shape for each in below for shape in _inner(each, schema)]


def _words(value: dict[str, Any], schema: dict[str, Any]) -> str:
    if "$ref" in value:
        shape = schema["$defs"][value["$ref"].rpartition("/")[2]]
        return "object" if "properties" in shape else _words(shape, schema)
    if "const" in value or "enum" in value:
        return ", ".join(f"`{json.dumps(each).strip(chr(34))}`" for each in value.get("enum", [value.get("const")]))
    if several := [*value.get("anyOf", ()), *value.get("oneOf", ())]:
        words = list(dict.fromkeys(_words(each, schema) for each in several))
        return " or ".join(word for word in words if word != "null" or not words[0].endswith(" null"))
    match value.get("type"):
        case "array":
            return f"list of {_words(value.get('items', {}), schema)}"
        case "object":
            inner = next(iter(value.get("patternProperties", {}).values()), value.get("additionalProperties"))
            return f"map of {_words(inner, schema)}" if isinstance(inner, dict) else "object"
        case str(name):
            return {"integer": "whole number", "string": "text", "boolean": "`true`, `false`"}.get(name, name)
    return "any"


def cell(text: str) -> str:
    """Return a text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")

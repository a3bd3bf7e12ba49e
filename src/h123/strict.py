"""Models of files that people write: unknown keys are refused, and faults are said in words that help."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError


def choose(word: object, allowed: Iterable[object]) -> str:
    """What may stand in place of `word`: a near miss if there is one, and the whole list."""
    names = [str(name) for name in allowed]
    close = difflib.get_close_matches(str(word), names, n=1)
    hint = f"did you mean {close[0]}? The" if close else "the"
    if not names:
        return "there are none to choose from"
    return f"{hint} choices are {', '.join(names)}" if len(names) > 1 else f"the only choice is {names[0]}"


def fault_at(keys: Sequence[str], message: str) -> PydanticCustomError:
    """What a validator raises about one part of what it checks: the part at `keys`."""
    return PydanticCustomError("fault_at", "{message}", {"message": message, "keys": keys})


class Strict(BaseModel):
    """A model that refuses keys it does not know and says which it does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        for key in data:
            if key not in cls.model_fields:
                raise fault_at([key], f"unknown key {key!r}; {choose(key, cls.model_fields)}")
        return data


def place(fault: ErrorDetails) -> list[str | int]:
    """Where a fault is: keys and indices from the top of the file."""
    return [*fault["loc"], *fault.get("ctx", {}).get("keys", [])]


def describe(fault: ErrorDetails, written: str) -> str:
    """One fault found by pydantic, at `written`, in the words of somebody who writes these files."""
    given, context = fault.get("input"), fault.get("ctx", {})
    at = f"{written}: " if written else ""
    match fault["type"]:
        case "missing":
            return f"`{written}` is missing"
        case "fault_at":
            return at + fault["msg"]
        case "literal_error":
            allowed = [word.strip(" '") for word in context["expected"].replace(" or ", ",").split(",")]
            return f"{at}{given!r} is not allowed; {choose(given, allowed)}"
        case "value_error":
            return f"{at}{context['error']}"
        case "too_short":
            return f"{at}must not be empty"
        case "model_type" | "dict_type":
            return f"{at}expected keys with values, found {given!r}"
        case _:
            message = fault["msg"].replace("Input should be", "must be").replace("String should", "must")
            return f"{at}{message[:1].lower()}{message[1:]}, found {given!r}"

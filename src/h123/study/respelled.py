"""Values that the version before spelled otherwise. Files with the old spelling are read until the next one; campaigns
that were begun with it stay readable."""

from collections.abc import Mapping
from typing import Any

_VALUES = {("congestion", "own"): "default"}
"""The new spelling, by parameter and old spelling."""


def respelled(name: str, value: Any) -> Any:
    """A parameter's value as this version spells it."""
    return _VALUES.get((name, value), value) if isinstance(value, str) else value


def respelled_study(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """A campaign's study with its parameters so. Levels keep their names."""
    study = dict(resolved)
    if isinstance(settings := study.get("settings"), dict):
        study["settings"] = respelled_parameters(settings)
    if isinstance(factors := study.get("factors"), dict):
        study["factors"] = {
            factor: {
                name: respelled_parameters(level) if isinstance(level, dict) else level
                for name, level in levels.items()
            }
            if isinstance(levels, dict)
            else levels
            for factor, levels in factors.items()
        }
    return study


def respelled_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by name, as a campaign folder of the version before has them, in this version's spelling."""
    return {name: respelled(name, value) for name, value in parameters.items()}

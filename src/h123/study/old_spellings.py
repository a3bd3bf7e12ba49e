"""Keys and values that the previous version spelled differently. This version still reads them and gives a hint; the
next one will not. Campaigns begun with them stay readable."""

from collections.abc import Iterator, Mapping
from typing import Any

_VALUES = {("congestion", "own"): "default"}
"""The new spelling, by parameter and old spelling."""
_STUDY_KEYS = {"only": "filter"}
_SERVER_KEYS = {"may_load": "allow_remote_load"}
"""Keys of a server that the study describes itself."""
_CAMPAIGN_KEYS = {**_STUDY_KEYS, "width": "precision"}
"""Keys of campaign.json."""


def respelled(name: str, value: Any) -> Any:
    """A parameter's value in this version's spelling."""
    return _VALUES.get((name, value), value) if isinstance(value, str) else value


def old_keys(study: Mapping[str, Any]) -> Iterator[tuple[list[str | int], str, str]]:
    """Keys with the old spelling in a study's file: the part that has them, the old and the new word."""
    yield from (([], old, new) for old, new in _STUDY_KEYS.items() if old in study)
    servers = study.get("servers")
    for name, server in servers.items() if isinstance(servers, dict) else ():
        if isinstance(server, dict):
            yield from ((["servers", name], old, new) for old, new in _SERVER_KEYS.items() if old in server)


def respelled_campaign(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of campaign.json in this version's spelling."""
    campaign = _with_keys(content, _CAMPAIGN_KEYS)
    if isinstance(campaign.get("study"), dict):
        campaign["study"] = respelled_study(campaign["study"])
    return campaign


def respelled_study(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """A campaign's resolved study in this version's spelling. Levels keep their names."""
    study = _with_keys(resolved, _STUDY_KEYS)
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
    if isinstance(servers := study.get("servers"), dict):
        study["servers"] = {
            name: _with_keys(server, _SERVER_KEYS) if isinstance(server, dict) else server
            for name, server in servers.items()
        }
    return study


def respelled_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by name, as a campaign folder of the previous version spells them, in this version's spelling."""
    return {name: respelled(name, value) for name, value in parameters.items()}


def _with_keys(content: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A content that has both words keeps both, and is refused for the old one."""
    return {key if names.get(key, key) in content else names.get(key, key): value for key, value in content.items()}

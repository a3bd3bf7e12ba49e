"""Reads keys and values that the previous version spelled differently. This version accepts them and prints a hint; the
next version will refuse them in studies. Campaigns that contain them will stay readable."""

from collections.abc import Iterator, Mapping
from typing import Any

_VALUES = {("congestion", "own"): "default"}
"""Maps a parameter and its old value to the new value."""
_STUDY_KEYS = {"only": "filter"}
_SERVER_KEYS = {"may_load": "allow_remote_load"}
"""Maps the old keys of servers that a study defines to the new keys."""
_CAMPAIGN_KEYS = {**_STUDY_KEYS, "width": "precision"}
"""Maps the old keys of campaign.json to the new keys."""


def respelled(name: str, value: Any) -> Any:
    """Return a parameter's value in the spelling of this version."""
    return _VALUES.get((name, value), value) if isinstance(value, str) else value


def old_keys(study: Mapping[str, Any]) -> Iterator[tuple[list[str | int], str, str]]:
    """Yield, for each old key in a study's file, the location of the mapping that contains it, the old key and the new
    key."""
    yield from (([], old, new) for old, new in _STUDY_KEYS.items() if old in study)
    servers = study.get("servers")
    for name, server in servers.items() if isinstance(servers, dict) else ():
        if isinstance(server, dict):
            yield from ((["servers", name], old, new) for old, new in _SERVER_KEYS.items() if old in server)


def respelled_campaign(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of campaign.json in the spelling of this version."""
    campaign = _with_keys(content, _CAMPAIGN_KEYS)
    if isinstance(campaign.get("study"), dict):
        campaign["study"] = respelled_study(campaign["study"])
    return campaign


def respelled_study(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Return a campaign's resolved study in the spelling of this version. Levels keep their names."""
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
    """Return the parameters in the spelling of this version. A campaign folder of the previous version may contain old
    values."""
    return {name: respelled(name, value) for name, value in parameters.items()}


def _with_keys(content: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rename the keys. If a mapping contains both the old and the new key, both stay, and the old one is refused
    later."""
    return {key if names.get(key, key) in content else names.get(key, key): value for key, value in content.items()}

"""Completes arguments in the shell.

The names come only from listing folders. No manifest or study is read, so a broken file cannot disable completion.
"""

from collections.abc import Callable, Iterable


def studies() -> list[str]:
    from h123.study import list_studies

    return [path.stem for path in list_studies()]


def claims_and_studies() -> list[str]:
    from h123.study import list_claims

    return sorted({*studies(), *(path.stem for path in list_claims())})


def sites() -> list[str]:
    from h123.study import list_sites

    return [path.stem for path in list_sites()]


def schemas() -> list[str]:
    from h123.study import list_schemas

    return [path.stem for path in list_schemas()]


def networks() -> list[str]:
    from h123.study import list_networks

    return list_networks()


def subjects() -> list[str]:
    from h123.catalogue import subject_names

    return subject_names()


def installable() -> list[str]:
    from h123 import virtual

    return [*subjects(), virtual.NAME]


def comma_separated(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes the last name in a comma-separated list."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name not in before.split(",")]

    return complete

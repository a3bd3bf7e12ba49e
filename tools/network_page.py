"""Makes docs/networks.md, the list of the networks that come with h123, for tools/reference.py."""

from collections.abc import Iterator

from h123.base.paths import project_root
from h123.study import load_network

_INTRODUCTION = """# Networks

This page lists the networks that come with h123. `h123 list networks` also lists your own. Pass names to h123, as in
`h123 compare --networks home,satellite`, or write them into a study.
You can also [define your own](contracts/network.md).

The [files](../networks) contain all numbers. `5g-*`, `dsl`, `lte` and `starlink` follow published measurements of real
links, and the files say what they assume. `cellular`, `home`, `medium`, `poor` and `satellite` come from published
comparisons of protocols, and the round trips of `europe-us*` and `us-us*` from a published study of page loads. Most
other networks, such as `wifi`, are examples. Times in ms without explanation are round trips.
`A/B Mbit/s` are the rates to and from the client. A *dark* network loses every packet.

| network | what it is |
|---|---|"""


def lines() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from _INTRODUCTION.splitlines()
    for path in sorted((project_root() / "networks").glob("*.yaml")):
        yield f"| `{path.stem}` | {load_network(str(path)).title} |"

"""A container image as a person's own server: what cannot work in a lab is said before it is tried."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath

from h123.base.errors import UserError

_NETWORK = ("--network", "--net")


def check_container(words: Sequence[str], there: bool) -> None:
    """Raises UserError where the command that starts a server is one of docker or podman with which the lab's clients
    would never reach it; `there`: whether the program is on this machine."""
    engine = PurePath(words[0]).name
    if engine == "docker":
        raise UserError(
            "docker's containers are its daemon's, outside of the lab, where no client of the lab reaches them",
            remedy="`podman run --rm --network host IMAGE`, which needs no daemon; or start it with its port "
            "published, `docker run -p 8443:8443 -p 8443:8443/udp IMAGE`, and ask it with --url alone",
        )
    if engine == "podman" and not there:
        raise UserError(
            "podman is not on this machine",
            remedy="install it (Debian: `apt install podman`); or start the image with docker, its port published, and "
            "ask it with --url alone; or name the server's program itself",
        )
    if engine == "podman" and "run" in words and not _on_the_host(words):
        raise UserError(
            "the container would have a network of its own, which no client of the lab reaches",
            remedy="`podman run --rm --network host IMAGE`: the host is the lab's",
        )


def _on_the_host(words: Sequence[str]) -> bool:
    apart = any(name in _NETWORK and value == "host" for name, value in pairwise(words))
    return apart or any(word in [f"{name}=host" for name in _NETWORK] for word in words)

"""Commands that start a container where the lab's clients would not reach it are refused; no container is started."""

import shlex

import pytest

from h123.base.errors import UserError
from h123.catalogue import OwnServer
from h123.catalogue.own_server import check_container


@pytest.mark.parametrize(
    ("command", "there", "said"),
    [
        ("docker run -p 8443:8443 image", True, "daemon runs its containers outside the lab"),
        ("/usr/bin/docker compose up", True, "daemon runs its containers outside the lab"),
        ("podman run --network host image", False, "podman is not on this machine"),
        ("podman run --rm image", True, "its own network"),
        ("podman run --network bridge --pid host image", True, "its own network"),
        ("podman run --network host image", True, "its own /proc"),
    ],
)
def test_what_no_client_would_reach_is_refused(command: str, there: bool, said: str) -> None:
    with pytest.raises(UserError, match=said):
        check_container(shlex.split(command), there)


@pytest.mark.parametrize(
    "command",
    [
        "podman run --rm --network host --pid host image --port 8443",
        "podman --root ./store run --net=host --pid=host image",
        "podman start name",
        "./serve docker",
    ],
)
def test_all_else_is_tried(command: str) -> None:
    check_container(shlex.split(command), True)


def test_a_server_is_checked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    own = {"command": "podman run --network host image", "host": "localhost", "protocols": ["h2"]}
    with pytest.raises(UserError, match="podman is not on this machine"):
        OwnServer.model_validate(own).check()

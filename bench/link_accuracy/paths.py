"""Builds the same path in two ways: with the lab's own link, and with the kernel's netem.

The reference is a chain of plain veth pairs: client - near - far - server. netem runs only on the two routers in the
middle. The endpoints' offloads are off, so netem gets single packets, as a router does. In each direction, the first
router has the queue and the rate, and the second one loses and delays packets. The lab's link works in the same order.
"""

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from h123.base.errors import UserError
from h123.base.paths import lab_binary
from h123.base.roots import root_options
from h123.virtual import virtual_kernel

Kind = Literal["link", "netem"]
Trial = dict[str, Any]

CLIENT, SERVER = "10.1.0.1", "10.1.0.2"
_TOOLS = {"ip": "iproute2", "tc": "iproute2"}
"""Commands that build the reference on this machine, and the Debian packages that contain them."""
_HOPS = (
    ("client", "10.2.0.1", "near", "10.2.0.2"),
    ("near", "10.2.0.5", "far", "10.2.0.6"),
    ("far", "10.2.0.9", "server", "10.2.0.10"),
)
_ETHERNET = 14
"""The bytes of a frame's header. netem's rate would count them; the rate in a network's file counts IP packets."""
_AMPLE = 1_000_000
"""The number of packets that a delay line can hold, more than are ever on it."""
_SETTLED_NS = 10_000_000_000


@dataclass(frozen=True)
class Profile:
    """The properties of a path, which are the same in both directions."""

    delay_ns: int
    bps: int
    queue_packets: int
    """The length of the queue, including the packet that is being sent."""
    loss: float | tuple[float, float] = 0.0
    """The share of lost packets, or Gilbert's (p, r): the probability to enter a state that loses every packet, and the
    probability to leave it."""

    def arrival_ns(self, size: int) -> int:
        """Return the time in ns from sending to receiving a packet that meets no other."""
        return self.delay_ns + -(-size * 8 * 10**9 // self.bps)


def require_tools() -> None:
    """Raise UserError if this machine lacks a tool for the reference."""
    missing = [command for command in _TOOLS if shutil.which(command) is None]
    if missing:
        packages = " ".join(sorted({_TOOLS[command] for command in missing}))
        raise UserError(f"{', '.join(missing)}: not found", remedy=f"apt-get install {packages}", status=3)


def lay(trial: Trial, kind: Kind, profile: Profile) -> Trial:
    """Return the trial of the hosts client and server with such a path between them."""
    return _over_link(trial, profile) if kind == "link" else _over_netem(trial, profile)


def run(trial: Trial, folder: Path, roots: Mapping[str, Path] | None = None) -> dict[str, Any]:
    """Run a trial in `folder`, which may already contain the trial's files. These may name `roots`. Raises UserError if
    the trial is invalid."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trial.json").write_text(json.dumps(trial), encoding="utf-8")
    kernel = ["--kernel", str(virtual_kernel())] if trial["clock"] == "virtual" else []
    command = [
        str(lab_binary()),
        "run",
        "trial.json",
        "--out",
        ".",
        "--die-with-parent",
        *root_options(roots or {}),
        *kernel,
    ]
    subprocess.run(command, cwd=folder, check=True)
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    if not report["valid"]:
        raise UserError(f"{trial['id']}: {report['reasons']}; its logs are in {folder}", status=1)
    return report


def service(host: str, command: list[str], **ready_when: Any) -> dict[str, Any]:
    """Return a role that runs throughout the trial."""
    ready = {"tcp": [], "udp": [], "line": None, "timeout_ns": _SETTLED_NS, **ready_when}
    role = {"name": host, "host": host, "kind": "service", "command": command, "env": {}, "ready": ready}
    return {**role, "stop_timeout_ns": _SETTLED_NS}


def _over_link(trial: Trial, profile: Profile) -> Trial:
    direction: dict[str, Any] = {
        "delay_ns": profile.delay_ns,
        "rate": {"bps": profile.bps},
        "queue": {"packets": profile.queue_packets},
    }
    match profile.loss:
        case (p, r):
            direction["loss"] = {"gilbert_elliott": {"p": p, "r": r, "loss_good": 0.0, "loss_bad": 1.0}}
        case share:
            direction["loss"] = {"random": share}
    ends = {"a": {"host": "client", "address": CLIENT}, "b": {"host": "server", "address": SERVER}}
    link = {"name": "access", "kind": "emulated", **ends, "up": direction, "down": direction}
    return {**trial, "hosts": ["client", "server"], "links": [link]}


def _over_netem(trial: Trial, profile: Profile) -> Trial:
    links = [
        {"name": f"hop{i}", "kind": "veth", "a": {"host": a, "address": x}, "b": {"host": b, "address": y}}
        for i, (a, x, b, y) in enumerate(_HOPS)
    ]
    limit = f"netem rate {profile.bps}bit -{_ETHERNET} limit {profile.queue_packets}"
    carry = f"netem delay {profile.delay_ns // 1000}us loss {_netem_loss(profile)} limit {_AMPLE}"
    near = _router("near", {"h123-1": limit, "h123-0": carry}, {SERVER: "10.2.0.6", CLIENT: "10.2.0.1"})
    far = _router("far", {"h123-1": limit, "h123-2": carry}, {SERVER: "10.2.0.10", CLIENT: "10.2.0.5"})
    ends = {
        "client": _endpoint("h123-0", CLIENT, SERVER, "10.2.0.2", trial["congestion"]),
        "server": _endpoint("h123-2", SERVER, CLIENT, "10.2.0.9", trial["congestion"]),
    }
    roles = [{**role, "command": _after(ends[role["host"]], role["command"])} for role in trial["roles"]]
    return {**trial, "hosts": ["client", "near", "far", "server"], "links": links, "roles": [near, far, *roles]}


def _netem_loss(profile: Profile) -> str:
    match profile.loss:
        case (p, r):
            return f"gemodel {100 * p:.9g}% {100 * r:.9g}% 100% 0%"
        case share:
            return f"random {100 * share:.9g}%"


_FORWARD = """
import socket, struct, sys
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
attribute = lambda kind, content: struct.pack("HH", 4 + len(content), kind) + content
on = attribute(26, attribute(2, attribute(1, attribute(1, struct.pack("I", 1)))))
for device in sys.argv[1:]:
    message = struct.pack("BxHiII", 0, 0, socket.if_nametoindex(device), 0, 0) + on
    netlink.send(struct.pack("IHHII", 16 + len(message), 19, 5, 1, 0) + message)
    sys.exit(error) if (error := struct.unpack_from("i", netlink.recv(4096), 16)[0]) else None
"""
"""Lets devices forward IPv4 (RTM_SETLINK with IPV4_DEVCONF_FORWARDING), because roles cannot write sysctls."""


def _router(host: str, queues: dict[str, str], routes: dict[str, str]) -> dict[str, Any]:
    lines = [f"python3 -c {shlex.quote(_FORWARD)} {' '.join(queues)}"]
    lines += [f"tc qdisc add dev {device} root {queue}" for device, queue in queues.items()]
    lines += [f"ip route add {to}/32 via {through}" for to, through in routes.items()]
    return service(host, ["sh", "-ec", "; ".join([*lines, "echo routing", "exec sleep infinity"])], line="routing")


def _endpoint(device: str, own: str, other: str, router: str, congestion: str) -> list[str]:
    return [
        f"ip link set dev {device} gso_max_segs 1",  # netem loses whole super-packets
        f"ip address add {own}/32 dev {device}",
        f"ip route add {other}/32 via {router} src {own} congctl {congestion}",
    ]


def _after(preparation: list[str], command: list[str]) -> list[str]:
    return ["sh", "-ec", "; ".join([*preparation, f"exec {shlex.join(command)}"])]

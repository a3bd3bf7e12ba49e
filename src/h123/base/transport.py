"""Defines the settings of senders that a study can fix so that two senders behave alike (docs/fairness.md).

For TCP, the lab applies a setting, or the kernel uses its default. For QUIC, the stack applies it if the subject
accepts it. A setting's name is also the name of a parameter in studies, of a feature in manifests, and of a placeholder
in commands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Value = int | str
Name = Literal["initial_window", "pacing", "max_datagram"]
INITIAL_WINDOW = 10
"""The packets with which senders begin according to the RFCs: 6928 for TCP, 9002 for QUIC."""
TCP_PAYLOAD = 1448
"""The largest payload of a TCP segment over the lab's links, in bytes: 1500 - 40 for headers - 12 for timestamps."""
TCP_PAYLOAD_IPV6 = 1428
"""The largest payload of a TCP segment over IPv6, in bytes. IPv6's header is 20 bytes longer."""


@dataclass(frozen=True)
class Setting:
    """A transport setting of the end that sends bodies, such as the initial window."""

    name: Name
    title: str
    """The name in plans and reports."""
    kernel: Value
    """The default of Linux's TCP over the lab's links."""
    matched_value: Value
    """The value that both senders use with `transport: matched`."""
    describe: Callable[[Value], str]
    """Formats a value in words."""
    brought_by: str = ""
    """The congestion controller that always sets its own value, if there is one."""


SETTINGS: dict[Name, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "initial_window", "initial window", INITIAL_WINDOW, INITIAL_WINDOW, lambda packets: f"{packets} packets"
        ),
        # Linux paces if a queueing discipline does, which a lab does not have, or if the controller does.
        Setting("pacing", "pacing", "off", "off", lambda _: "none", brought_by="bbr"),
        # TCP's usual size. All links of a lab carry it, so a QUIC stack with this setting need not probe for it.
        Setting("max_datagram", "packet size", TCP_PAYLOAD, TCP_PAYLOAD, lambda size: f"{size} bytes"),
    )
}
assert tuple(SETTINGS) == get_args(Name)

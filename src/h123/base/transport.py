"""The settings of senders that a study can fix, so that two senders send alike (docs/fairness.md).

For TCP the lab sets them, or the kernel's defaults hold. For QUIC the stack sets them, where its subject allows it.
A setting's name is also that of a study's parameter, of a manifest's feature, and of a placeholder in commands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Value = int | str
Name = Literal["initial_window", "pacing", "max_datagram"]
TCP_PAYLOAD = 1448
"""Most bytes of a TCP segment over the lab's links: 1500, less 40 of headers and 12 of timestamps."""


@dataclass(frozen=True)
class Setting:
    """One of the settings."""

    name: Name
    title: str
    """The name in plans and reports."""
    kernel: Value
    """The default of Linux' TCP over the lab's links."""
    matched_value: Value
    """The value that `transport: matched` asks of both senders."""
    describe: Callable[[Value], str]
    """A value in words."""
    brought_by: str = ""
    """Controllers that cannot work without their own value."""


SETTINGS: dict[Name, Setting] = {
    setting.name: setting
    for setting in (
        # The RFCs' number: 6928 for TCP, 9002 for QUIC.
        Setting("initial_window", "initial window", 10, 10, lambda packets: f"{packets} packets"),
        # Linux paces with a queueing discipline that a lab has not, or where the controller does.
        Setting("pacing", "pacing", "off", "off", lambda _: "none", brought_by="bbr"),
        # What TCP has anyway. All links of a lab carry it, so a QUIC stack with this setting need not search for it.
        Setting("max_datagram", "packet size", TCP_PAYLOAD, TCP_PAYLOAD, lambda size: f"{size} bytes"),
    )
}
assert tuple(SETTINGS) == get_args(Name)

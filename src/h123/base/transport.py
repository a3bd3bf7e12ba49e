"""What a study can set of how senders send, so that two of them send alike (docs/fairness.md).

TCP's part is the lab's to set, or the kernel's own; over QUIC it is the stack's, where its subject takes it. The name
is that of a parameter of studies, of a feature of manifests, and of a placeholder of commands.
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
    """One of them."""

    name: Name
    title: str
    """What plans and reports call it."""
    kernel: Value
    """What Linux' TCP has by itself, over a lab's links."""
    matched_value: Value
    """What `transport: matched` asks of both."""
    describe: Callable[[Value], str]
    """A value in words."""
    brought_by: str = ""
    """A controller that cannot do without its own."""


SETTINGS: dict[Name, Setting] = {
    setting.name: setting
    for setting in (
        # The RFCs' number: 6928 for TCP, 9002 for QUIC.
        Setting("initial_window", "initial window", 10, 10, lambda packets: f"{packets} packets"),
        # Linux paces with a queueing discipline that a lab has not, or where the controller does.
        Setting("pacing", "pacing", "off", "off", lambda _: "none", brought_by="bbr"),
        # What TCP has anyway. All links of a lab carry it, so a QUIC that is told need not find it out.
        Setting("max_datagram", "packet size", TCP_PAYLOAD, TCP_PAYLOAD, lambda size: f"{size} bytes"),
    )
}
assert tuple(SETTINGS) == get_args(Name)

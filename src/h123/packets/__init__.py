"""What the lab recorded of a trial besides its samples: packets, frames, TCP's account, logs of QUIC stacks."""

from h123.packets.evidence import tabulate_evidence

__all__ = ["capture", "frames", "qlog", "stack_log", "tabulate_evidence", "tcp_account"]

"""Describes the conditions of a trial that affect explanations of its packets."""

from dataclasses import dataclass

from h123.documents.trial_files import TrialFile

_VIRTUAL_NS, _WALL_NS = 50_000, 1_000_000


@dataclass(frozen=True)
class Conditions:
    """The conditions of one trial that explanations depend on."""

    virtual: bool = False
    """Whether the trial ran under the virtual clock, so that processing took no time."""
    first_window: int = 10
    """TCP's initial window in packets. Linux's default is that of RFC 6928."""
    paced: bool = False
    """Whether TCP spaces its packets with a timer, as BBR does."""

    @classmethod
    def of(cls, trial: TrialFile) -> "Conditions":
        window = trial.tcp.initial_window if trial.tcp else None
        return cls(trial.clock == "virtual", window or cls.first_window, (trial.congestion or "").startswith("bbr"))

    @property
    def soon_ns(self) -> int:
        """The longest delay, in ns, after which a program's action is still taken as a reaction to an event."""
        return _VIRTUAL_NS if self.virtual else _WALL_NS


WALL = Conditions()
"""The conditions under the wall clock with the kernel's own settings."""

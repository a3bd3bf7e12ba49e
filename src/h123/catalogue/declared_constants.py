"""Reads subjects/constants.toml, which lists constants in the stacks' source code, with the lines that define them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from h123.base.strict import Strict
from h123.catalogue.manifest import OneOrMore, Protocol
from h123.catalogue.registry import subjects_folder
from h123.catalogue.toml_file import TomlFile

Line = Annotated[str, StringConstraints(pattern=r"^[\w./-]+:[1-9][0-9]*$")]
"""A location in source code: `src/cubic.rs:12`."""


class _SourceConstant(Strict):
    """The declaration of one constant."""

    where: OneOrMore[Line]
    differs: str = ""
    """Why packets show a different value. Empty if they show the same value."""


class InitialWindow(_SourceConstant):
    """The data that a sender may send before any of it is acknowledged."""

    packets: int = Field(gt=0)
    of_bytes: int | None = Field(default=None, gt=0)
    """The packet size, in bytes, that the source code assumes. None: the size of the packets that the sender actually
    sends."""


class Decrease(_SourceConstant):
    """The multiplicative decrease: the fraction of the congestion window that remains after one loss."""

    keeps: float = Field(gt=0, lt=1)


class Retransmission(_SourceConstant):
    """How long a stack waits for an acknowledgement of its last packets before it retransmits, if the round-trip time
    is 2 ms."""

    says: str
    """The formula, in words."""
    least_ms: float = Field(gt=0)
    most_ms: float = Field(gt=0)
    """The longest wait. The formula depends on how much round-trip times have varied, so it gives a range."""
    attempt: Literal[1, 2] = 1
    """The retransmission that the formula is for: the first or the second one."""


class DeclaredConstants(Strict):
    """The constants of a subject as a server over one protocol with one congestion controller."""

    subject: str
    protocol: Protocol
    congestion: str
    source: str
    """The code that contains these lines: a stack, a library or a kernel."""
    version: str
    """The version of the source."""
    read_from: str
    """The public location of the source."""
    otherwise: str = ""
    """Why the version differs from the subject's, if it does."""
    initial_window: InitialWindow
    decrease: Decrease | None = None
    """The decrease after a loss. None: the controller has no such factor."""
    retransmission: Retransmission


class DeclaredConstantsFile(Strict):
    """The content of subjects/constants.toml."""

    stack: list[DeclaredConstants] = Field(default=[])


def load_declared_constants() -> list[DeclaredConstants]:
    """Return all declared constants in the order of the file, or an empty list if there is no such file. Raises
    UserError if the file is malformed."""
    path = subjects_folder() / "constants.toml"
    if not path.is_file():
        return []
    file = TomlFile(path)
    return file.validate(DeclaredConstantsFile, file.data).stack

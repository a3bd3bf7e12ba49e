"""Bodies on their way in, held against the block."""

from contract import BLOCK

_SHEET = BLOCK * 3
_STEP = 2 * len(BLOCK)
"""What the sheet has from anywhere in its first block on: more than libcurl's largest piece, so that none is cut."""


class Comparison:
    """A body that comes in pieces. What differs from the block, repeated, shows in its end."""

    def __init__(self) -> None:
        self.wrong = False
        self._at = 0

    def take(self, data: bytes) -> None:
        """The next piece: a memcmp, and nothing is copied."""
        pieces = (data,) if len(data) <= _STEP else (data[at : at + _STEP] for at in range(0, len(data), _STEP))
        for piece in pieces:
            self.wrong = self.wrong or not _SHEET.startswith(piece, self._at)
            self._at = (self._at + len(piece)) % len(BLOCK)

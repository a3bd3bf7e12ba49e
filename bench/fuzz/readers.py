"""All readers that are fuzzed, by name. Another one is a module beside this and a line here."""

from journal import JOURNAL
from reader import Reader

READERS: dict[str, Reader] = {reader.name: reader for reader in (JOURNAL,)}

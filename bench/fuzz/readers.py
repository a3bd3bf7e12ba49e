"""All readers that are fuzzed, by name. Another one is a module beside this and a line here."""

from manifests import MANIFESTS
from plans import NETWORKS, STUDIES, WORKLOADS
from reader import Reader

_ALL = (NETWORKS, STUDIES, MANIFESTS, WORKLOADS)
READERS: dict[str, Reader] = {reader.name: reader for reader in _ALL}

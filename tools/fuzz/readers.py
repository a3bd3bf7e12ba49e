"""All readers that are fuzzed, by name. Another one is a module beside this and a line here."""

from forged import FORGED
from imports import IMPORTS
from journal import JOURNAL
from manifests import MANIFESTS
from plans import NETWORKS, STUDIES, WORKLOADS
from reader import Reader
from recordings import HAR
from samples import PARQUET, SAMPLES
from seals import SEAL
from verdicts import VERDICTS

from campaign import CAMPAIGN
from report import CLIENT, REPORT, TRIAL

_WRITTEN = (NETWORKS, STUDIES, MANIFESTS, WORKLOADS)
_RECORDED = (JOURNAL, CAMPAIGN, REPORT, TRIAL, CLIENT, SEAL, SAMPLES, PARQUET, VERDICTS)
READERS: dict[str, Reader] = {reader.name: reader for reader in (*_WRITTEN, *_RECORDED, HAR, *IMPORTS, *FORGED)}

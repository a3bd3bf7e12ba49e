"""Lists all readers to fuzz by name. To add one, write a module in this folder and add a line here."""

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

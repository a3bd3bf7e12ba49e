"""What a campaign leaves behind: its folder, its journal, its raw samples, and the tables over them."""

from h123.results.export import export
from h123.results.folder import CampaignFolder
from h123.results.machine import machine_facts
from h123.results.samples import ingest
from h123.results.tables import connect

__all__ = ["CampaignFolder", "connect", "export", "ingest", "machine_facts"]

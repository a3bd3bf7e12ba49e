"""Keeps campaigns on disk: their folders and seals, raw samples, tables over them, and samples from other tools."""

from h123.store.columns import Sample
from h123.store.damage import damage_warning, damage_words
from h123.store.folder import CampaignFolder
from h123.store.foreign.campaign import import_samples
from h123.store.new_folder import check_name, check_new
from h123.store.rows import Rows
from h123.store.samples import ingest, read_samples
from h123.store.tables import connect

__all__ = [
    "CampaignFolder",
    "Rows",
    "Sample",
    "check_name",
    "check_new",
    "columns",
    "compact",
    "connect",
    "damage_warning",
    "damage_words",
    "folder",
    "foreign",
    "import_samples",
    "ingest",
    "read_samples",
    "rows",
    "samples",
    "seal",
    "tables",
]

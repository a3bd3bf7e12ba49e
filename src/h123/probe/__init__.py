"""Surveys an unknown server: finds out which protocols it speaks and how it responds, and drafts a suitable study."""

from h123.probe.draft import STUDY, Draft
from h123.probe.findings import Answer, ProbeFindings
from h123.probe.inquiry import Inquiry, survey
from h123.probe.judgement import TITLES, ServerAbilities, abilities_words, judge, served
from h123.probe.likeness import check_answers
from h123.probe.load import DraftedRequests, DraftedVisits, OfferedLoad
from h123.probe.site import ProbedSite, addresses_of, site_of, takes_a_connection

__all__ = [
    "STUDY",
    "TITLES",
    "Answer",
    "Draft",
    "DraftedRequests",
    "DraftedVisits",
    "Inquiry",
    "OfferedLoad",
    "ProbeFindings",
    "ProbedSite",
    "ServerAbilities",
    "abilities_words",
    "addresses_of",
    "check_answers",
    "judge",
    "served",
    "site_of",
    "survey",
    "takes_a_connection",
]

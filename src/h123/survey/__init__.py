"""A survey of a server of which nothing is known: what it speaks and what it answers."""

from h123.survey.found import Found
from h123.survey.inquiry import Inquiry, survey
from h123.survey.site import Site, site_of

__all__ = ["Found", "Inquiry", "Site", "site_of", "survey"]

"""The page of profiles: it is as the records say, and names those that are not in it."""

from h123.catalogue import catalogue
from h123.report.catalogue.profiles import profiles_page
from h123.verification import public_records


def test_those_without_a_profile_are_named() -> None:
    subjects, known = catalogue(), {"nginx": public_records()["nginx"]}
    assert "No profile of theirs" not in profiles_page({"nginx": subjects["nginx"]}, known)
    page = profiles_page({name: subjects[name] for name in ("nginx", "lighttpd", "wrk")}, known)
    servers = page.partition("## Clients")[0]
    assert servers.endswith("\n\nNo profile of theirs has been published: lighttpd.\n")
    assert "| nginx | h3 |" in servers

"""The page of profiles: it is as the records say, and names those that are not in it."""

from h123.base.paths import project_root
from h123.catalogue import catalogue
from h123.report.catalogue.profiles import profile_tables, profiles_page
from h123.verification import public_records


def test_those_without_a_profile_are_named() -> None:
    subjects, known = catalogue(), {"nginx": public_records()["nginx"]}
    assert "No profile has been published" not in profile_tables({"nginx": subjects["nginx"]}, known)
    page = profile_tables({name: subjects[name] for name in ("nginx", "lighttpd", "wrk")}, known)
    servers = page.partition("## Clients")[0]
    assert servers.endswith("\n\nNo profile has been published for: lighttpd.\n")
    assert "| nginx | h3 |" in servers


def test_the_projects_page_is_what_the_situations_are() -> None:
    assert (project_root() / "docs/profiles.md").read_text() == profiles_page(), "`h123 publish` writes it again"

"""The contents of a page: its sections in their order, each with a name that a link leads to."""

import re

PLACE = "<!-- contents -->"
"""Where a template wants the list."""
_HEADING = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)


def with_contents(page: str) -> str:
    """The rendered page with its `<h2>` named, and their list at PLACE."""
    names: list[tuple[str, str]] = []

    def named(found: re.Match[str]) -> str:
        title = re.sub("<.*?>", "", found[1])
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        again = sum(re.fullmatch(rf"{re.escape(slug)}(-\d+)?", name) is not None for name, _ in names)
        names.append((f"{slug}-{again + 1}" if again else slug, title))
        return f'<h2 id="{names[-1][0]}">{found[1]}</h2>'

    page = _HEADING.sub(named, page)
    items = "\n".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in names)
    listed = f'<nav aria-label="Contents"><ul>\n{items}\n</ul></nav>'
    folded = f'<details class="contents" open><summary>Contents</summary>\n{listed}</details>'
    return page.replace(PLACE, folded if names else "", 1)

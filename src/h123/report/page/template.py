"""Provides the common parts of all pages: style and script, loading of templates, and the table of contents."""

import re
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

from h123.base.terminal.visible import visible
from h123.report.text.words import unbroken


def template(room: str, name: str) -> jinja2.Template:
    """Return the template `name` in the package `room`. It includes `style` and `script`, because a page is a single
    file."""
    return templates(room).get_template(name)


def templates(room: str) -> jinja2.Environment:
    """Return the Jinja environment with the templates in the package `room`."""
    loader = jinja2.PackageLoader(room, "")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_visible
    )
    environment.filters["unbroken"] = unbroken
    environment.filters["commands"] = _commands
    environment.filters["plain"] = lambda text: text.replace("`", "")  # an attribute cannot contain markup
    for what, file in (("style", "page.css"), ("script", "page.js")):
        environment.globals[what] = files(__package__).joinpath(file).read_text("utf-8")
    return environment


def _visible(value: object) -> object:
    """Make invisible characters visible in everything that a template inserts, except in h123's own markup."""
    return visible(value) if type(value) is str else value


def _commands(text: str) -> Markup:
    """Format text in backticks as code."""
    parts = map(str, map(escape, visible(text).split("`")))
    return Markup("".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts)))


PLACE = "<!-- contents -->"
"""The place in a template for the list of headings."""
_HEADING = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)


def with_contents(page: str) -> str:
    """Return the page with an id on each `<h2>`, and with a list of the headings in place of PLACE."""
    names: list[tuple[str, str]] = []

    def heading(match: re.Match[str]) -> str:
        title = re.sub("<.*?>", "", match[1])
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        again = sum(re.fullmatch(rf"{re.escape(slug)}(-\d+)?", name) is not None for name, _ in names)
        names.append((f"{slug}-{again + 1}" if again else slug, title))
        return f'<h2 id="{names[-1][0]}">{match[1]}</h2>'

    page = _HEADING.sub(heading, page)
    items = "\n".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in names)
    listed = f'<nav aria-label="Contents"><ul>\n{items}\n</ul></nav>'
    folded = f'<details class="contents" open><summary>Contents</summary>\n{listed}</details>'
    return page.replace(PLACE, folded if names else "", 1)

"""The look that all pages share: their style, and how their templates are read."""

from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

from h123.report.words import unbroken


def template(name: str) -> jinja2.Template:
    """The page's template; it puts `style` into its head, for a page is one file."""
    loader = jinja2.PackageLoader("h123.report", "")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["unbroken"] = unbroken
    environment.filters["commands"] = _commands
    environment.globals["style"] = files(__package__).joinpath("page.css").read_text("utf-8")
    return environment.get_template(name)


def _commands(text: str) -> Markup:
    """What stands in backticks is set as code."""
    parts = map(str, map(escape, text.split("`")))
    return Markup("".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts)))

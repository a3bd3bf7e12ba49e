"""What all pages share: their style and script, and how their templates are read."""

from importlib.resources import files

import jinja2


def template(name: str) -> jinja2.Template:
    """The page's template; it puts `style` and `script` into itself, for a page is one file."""
    loader = jinja2.PackageLoader("h123.report", "")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["unbroken"] = _unbroken
    for what, file in (("style", "page.css"), ("script", "page.js")):
        environment.globals[what] = files(__package__).joinpath(file).read_text("utf-8")
    return environment.get_template(name)


def _unbroken(text: str) -> str:
    """A number stays on one line with its unit, and an interval with itself."""
    return text.replace(" %", "\u00a0%").replace("\u00a0% ", "\u00a0%\u00a0").replace(" – ", "\u00a0–\u00a0")

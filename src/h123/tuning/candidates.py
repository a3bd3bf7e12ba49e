"""Makes candidates: every combination of the knobs' values, with the command, environment and configuration of each.

The configuration's template, the command and the variables of the environment may contain a placeholder `{{ NAME }}`.
Templates use Jinja's syntax (https://jinja.palletsprojects.com/templates/). Its sandbox renders them, because someone
else may have written them.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.textfile import read_text
from h123.base.roots import mounted
from h123.tuning.knobs import GIVEN, Knob

DEFAULT = "default"
"""The name of the candidate in which every knob has its first value."""
MOST = 128
"""The largest number of candidates."""
_JINJA = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)


@dataclass(frozen=True)
class ServerTemplate:
    """A server whose command, environment and configuration may contain placeholders."""

    command: str
    environment: Mapping[str, str]
    config: Path | None = None
    subject: str | None = None
    """The folder of the subject's installation, the value of `{{ prefix }}`."""

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield the place and the content of each text that may contain placeholders."""
        yield "--server", self.command
        for name, value in self.environment.items():
            yield f"--env {name}", value
        if self.config:
            yield str(self.config), read_text(self.config, sizes.WRITTEN)


@dataclass(frozen=True)
class Candidate:
    """One combination of the knobs' values."""

    name: str
    values: Mapping[str, str]
    command: str
    environment: Mapping[str, str]
    config: str | None
    file: str | None
    """The name of the configuration's file."""

    @property
    def is_default(self) -> bool:
        return self.name == DEFAULT


def candidates(
    template: ServerTemplate, knobs: Sequence[Knob], fixed: Mapping[str, str] | None = None
) -> list[Candidate]:
    """Return all candidates, the default first. `fixed` gives the values of further placeholders, which do not vary.
    Raises UserError if a placeholder has no value, a knob has no placeholder, or there are too many candidates."""
    number = math.prod(len(knob.values) for knob in knobs)
    if number > MOST:
        product = " x ".join(str(len(knob.values)) for knob in knobs)
        raise UserError(
            f"the knobs make {product} = {number} candidates; at most {MOST} are possible",
            remedy="name fewer knobs with --knob, or fewer values",
        )
    parts = list(template.parts())
    _check(parts, template, knobs, {*(fixed or {}), *(knob.name for knob in knobs)})
    names = [knob.name for knob in knobs]
    combined = itertools.product(*(knob.values for knob in knobs))
    return [
        _render(
            f"c{index}" if index > 1 else DEFAULT, dict(zip(names, values, strict=True)), fixed or {}, template, parts
        )
        for index, values in enumerate(combined, 1)
    ]


def placeholders(template: ServerTemplate) -> set[str]:
    """Return the names of all placeholders of a server. Raises UserError if a part is not a template."""
    return {name for place, text in template.parts() for name, _ in _placeholders(place, text)}


def _check(parts: Sequence[tuple[str, str]], template: ServerTemplate, knobs: Sequence[Knob], known: set[str]) -> None:
    used = set[str]()
    given = _given(template, "")
    for place, text in parts:
        for name, line in _placeholders(place, text):
            where = place if place.startswith("--") else f"{place}:{line}"
            if name == "config" and template.config is None:
                raise UserError(f"{where}: there is no template for {{{{ config }}}}", remedy="name it: --config FILE")
            if name not in known and name not in given:
                raise UserError(
                    f"{where}: {{{{ {name} }}}} is not a knob; {choose(name, sorted(known))}",
                    remedy=f"give its values: --knob '{name}={{a,b}}'",
                )
            used.add(name)
    for knob in knobs:
        if knob.name not in used:
            raise UserError(
                f"{knob.origin}: {{{{ {knob.name} }}}} is neither in the configuration nor in the command",
                remedy=f"write {{{{ {knob.name} }}}} where the value belongs: in --config FILE, --server or --env",
            )
    if template.config and "config" not in used:
        raise UserError(
            f"--config {template.config}: the command does not use it",
            remedy="write {{ config }} in --server where the path of the configuration belongs",
        )


def _placeholders(place: str, text: str) -> list[tuple[str, int]]:
    """Return the names of the placeholders in `text`, with their lines. Raises UserError if it is not a template."""
    try:
        tree = _JINJA.parse(text)
    except TemplateSyntaxError as error:
        where = place if place.startswith("--") else f"{place}:{error.lineno}"
        raise UserError(
            f"{where}: not a template: {error.message}",
            remedy="write placeholders as {{ NAME }}; to write {{ itself: {{ '{{' }}",
        ) from None
    undeclared = find_undeclared_variables(tree) - _JINJA.globals.keys()
    found = [(node.name, node.lineno) for node in tree.find_all(nodes.Name) if node.ctx == "load"]
    return [(name, line) for name, line in dict.fromkeys(found) if name in undeclared]


def _given(template: ServerTemplate, file: str) -> dict[str, str]:
    values = {"cert": mounted("tls", "cert.pem"), "key": mounted("tls", "key.pem")}
    if template.config:
        values["config"] = mounted("uploads", file)
    if template.subject:
        values["prefix"] = template.subject
    assert values.keys() <= {*GIVEN}
    return values


def _render(
    name: str,
    values: dict[str, str],
    fixed: Mapping[str, str],
    template: ServerTemplate,
    parts: Sequence[tuple[str, str]],
) -> Candidate:
    file = f"{name}-{template.config.name.removesuffix('.j2')}" if template.config else None
    known = {**_given(template, file or ""), **fixed, **values}
    texts = {}
    for place, text in parts:
        try:
            texts[place] = _JINJA.from_string(text).render(known)
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise UserError(
                f"{place}: this cannot be filled in: {str(error)[:200]}", remedy="correct the template"
            ) from None
    environment = {name: texts[f"--env {name}"] for name in template.environment}
    config = texts[str(template.config)] if template.config else None
    return Candidate(name, values, texts["--server"], environment, config, file)

"""What is said and drawn belongs to a section of verdicts.json, which owns its keys."""

from collections import Counter
from importlib.resources import files

from h123.analysis.provenance.gate import GatePart
from h123.analysis.sections import SECTIONS, Verdicts
from h123.report.page.figures import DRAWN
from h123.report.page.parts import BODY, HEAD
from h123.report.text.sections import SAID


def test_each_key_is_of_one_section() -> None:
    keys = Counter(key for section in SECTIONS for key in section.keys)
    assert max(keys.values()) == 1
    assert {*keys, *GatePart.__annotations__} == {*Verdicts.__annotations__}


def test_words_and_figures_are_of_sections_that_there_are() -> None:
    for registered in ([said.section for said in SAID], [drawn.section for drawn in DRAWN]):
        assert max(Counter(section.keys[0] for section in registered).values()) == 1
        assert all(section in SECTIONS for section in registered)


def test_parts_of_the_page_are_of_sections_and_have_a_template_each() -> None:
    folder = files("h123.report.page").joinpath("parts")
    names = {part.template for part in (*HEAD, *BODY)}
    assert {f"{name}.html.j2" for name in names} == {one.name for one in folder.iterdir()} - {"macros.html.j2"}
    assert all(part.section in SECTIONS for part in (*HEAD, *BODY) if part.section)


def test_each_section_is_told_somewhere() -> None:
    told = {section.part for section in (*(one.section for one in SAID), *(one.section for one in DRAWN))}
    told |= {part.section.part for part in (*HEAD, *BODY) if part.section}
    assert {section.part for section in SECTIONS} == told


def test_each_registered_section_says_something() -> None:
    for said in SAID:
        assert any([said.first, said.below, said.trust, said.last]), said.section.keys

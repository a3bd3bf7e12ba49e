"""The site shows figures of published results where a page asks for one."""

import importlib.util
import re
from types import ModuleType
from xml.dom.minidom import parseString

from h123.base.paths import project_root
from h123.documents.result_file import results
from h123.report import result_page

MARK = re.compile(r"<!-- figure: ([\w-]+) -->")


def tool(name: str) -> ModuleType:
    """Import a script of the folder tools."""
    spec = importlib.util.spec_from_file_location(name, project_root() / f"tools/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_mark_names_a_published_result() -> None:
    pages = (project_root() / "docs").rglob("*.md")
    marked = {name for page in pages for name in MARK.findall(page.read_text("utf-8"))}
    assert len(marked) >= 8
    assert marked <= {result.name for result in results()}


def test_the_figure_of_a_page_stands_alone() -> None:
    [result] = [one for one in results() if one.name == "fast-open"]
    figure = tool("result_pages")._figure(result_page(result))
    document = parseString(figure).documentElement
    assert document.tagName == "svg"
    assert document.getAttribute("aria-label").startswith("The answer.")
    used, defined = set(re.findall(r"var\((--\w[\w-]*)\)", figure)), set(re.findall(r"(--\w[\w-]*):", figure))
    assert used
    assert used <= defined
    assert tool("result_pages")._figure("<html>no figure</html>") is None

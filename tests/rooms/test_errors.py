"""Every error says what happened, why, and what to do, in at most three lines of a terminal of 100 columns."""

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[2] / "src/h123"
_LINE, _LEADS, _VALUE = 100, (6, 5), 12
"""Columns of a line; of `h123: ` and `  -> `; of a value that is put in."""


def written(node: ast.expr | None) -> str:
    """The text of a literal, with a stand-in for each value; empty for what is no literal."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(written(part) or "x" * _VALUE for part in parts)
        case ast.IfExp(body=body, orelse=other):
            return max(written(body), written(other), key=len)
        case ast.BinOp(left=left, right=right):
            return written(left) + written(right)
        case _:
            return ""


def errors() -> Iterator[tuple[str, str, str]]:
    """Place, message and remedy of each error that is raised."""
    for path in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UserError" and node.args:
                remedies = [keyword.value for keyword in node.keywords if keyword.arg == "remedy"] + node.args[1:2]
                yield (
                    f"{path.relative_to(SRC)}:{node.lineno}",
                    written(node.args[0]),
                    written(remedies[0] if remedies else None),
                )


def lines(message: str, remedy: str) -> int:
    """Lines of prose; commands to copy, which stand on lines of their own below it, are no part of them."""
    texts = (message.partition("\n  ")[0], remedy.partition("\n  ")[0])
    return sum(-(-len(text) // (_LINE - lead)) for text, lead in zip(texts, _LEADS, strict=True))


def test_no_error_is_longer_than_three_lines() -> None:
    found = list(errors())
    assert len(found) > 300
    assert {place: lines(*texts) for place, *texts in found if lines(*texts) > 3} == {}

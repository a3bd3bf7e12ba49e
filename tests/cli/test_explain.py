"""`h123 explain`, as people use it."""

from cli.conftest import Tool, h123

__all__ = ["h123"]  # a fixture


def test_a_term_is_explained(h123: Tool) -> None:
    done = h123.succeed("explain", "cannot", "tell", "yet")
    assert done.stdout.startswith("cannot tell yet (verdict)\n")
    assert "What to do: " in done.stdout


def test_an_unknown_term_ends_with_near_ones(h123: Tool) -> None:
    assert "machine-saturated" in h123.refusal("explain", "machine-saturatd")


def test_without_a_term_all_are_listed(h123: Tool) -> None:
    assert "client-saturated" in h123.succeed("explain").stdout.replace("\n", " ")

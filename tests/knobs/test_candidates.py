"""Knobs and the candidates that they make; every mistake is refused where it is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.errors import UserError
from h123.study import list_knobs
from h123.tuning import DEFAULT, KnobLibrary, ServerTemplate, candidates, placeholders, read_knobs

VALUE = st.text(st.characters(categories=("L", "N", "P", "S"), max_codepoint=0x2000), max_size=12)


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


@given(st.lists(VALUE, min_size=2, max_size=20, unique=True))
def test_all_values_are_read_as_written(values: list[str]) -> None:
    (knob,) = read_knobs([f"size={{{','.join(map(_quoted, values))}}}"], None)
    assert knob.values == tuple(values)


@given(st.lists(st.integers(2, 4), min_size=1, max_size=3))
def test_the_candidates_are_all_combinations_and_the_first_is_the_default(sizes: list[int]) -> None:
    names = [f"k{number}" for number in range(len(sizes))]
    texts = [f"{name}={{{','.join(map(str, range(size)))}}}" for name, size in zip(names, sizes, strict=True)]
    knobs = read_knobs(texts, None)
    made = candidates(ServerTemplate(" ".join(f"--{name} {{{{ {name} }}}}" for name in names), {}), knobs)
    assert made[0].name == DEFAULT
    assert set(made[0].values.values()) == {"0"}
    assert len({tuple(each.values.items()) for each in made}) == len(made)
    assert {each.command for each in made if each.is_default} == {" ".join(f"--{name} 0" for name in names)}


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ([], "no knob given"),
        (["size"], "has no values"),
        (["size=1,2"], "not in braces"),
        (["size={1}"], "it has 1 value"),
        (["size={1,2,1}"], "given twice"),
        (["size={1,2}", "size={3,4}"], "--knob size is given twice"),
        (['size={"1,2}'], "a quote"),
        (["a-b={1,2}"], "letters, digits"),
        (["config={1,2}"], "fills in config itself"),
    ],
)
def test_a_bad_knob_is_refused(knobs: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said) as error:
        read_knobs(knobs, None)
    assert error.value.remedy


@pytest.mark.parametrize(
    ("config", "command", "said"),
    [
        (
            "a {{ size }};\nb {{ sise }};\n",
            "x {{ config }}",
            "server.conf:2: {{ sise }} is not a knob; the only choice is size",
        ),
        ("a {{ size }};\n\n{% if %}\n", "x {{ config }}", "server.conf:3: not a template"),
        ("a 1;\n", "x {{ config }}", "--knob size: {{ size }} is neither in the configuration nor in the command"),
        ("{{ size }}", "x", "the command does not use it"),
        (None, "x {{ config }} {{ size }}", "there is no template"),
        (None, "x {{ size", "--server: not a template"),
        (None, "x {{ size.y.z }}", "cannot be filled in"),
    ],
)
def test_a_bad_template_is_refused_with_its_line(tmp_path: Path, config: str | None, command: str, said: str) -> None:
    file = tmp_path / "server.conf"
    if config is not None:
        file.write_text(config)
    with pytest.raises(UserError) as error:
        candidates(ServerTemplate(command, {}, file if config else None), read_knobs(["size={1,2}"], None))
    assert said in error.value.message
    assert error.value.remedy


def test_too_many_candidates_are_refused() -> None:
    knobs = read_knobs([f"{name}={{1,2,3,4,5,6}}" for name in "abc"], None)
    with pytest.raises(UserError, match="6 x 6 x 6 = 216 candidates; at most 128"):
        candidates(ServerTemplate("{{ a }} {{ b }} {{ c }}", {}), knobs)


def test_a_configuration_is_filled_in_for_each_candidate(tmp_path: Path) -> None:
    (tmp_path / "a.conf.j2").write_text("size {{ size }};\n{% if size == '2' %}big on;\n{% endif %}")
    template = ServerTemplate("x -c {{ config }}", {"SIZE": "{{ size }}"}, tmp_path / "a.conf.j2")
    made = candidates(template, read_knobs(["size={1,2}"], None))
    assert [each.config for each in made] == ["size 1;\n", "size 2;\nbig on;\n"]
    assert [each.command for each in made] == [
        "x -c /tmp/h123-roots/uploads/default-a.conf",
        "x -c /tmp/h123-roots/uploads/c2-a.conf",
    ]
    assert [each.environment for each in made] == [{"SIZE": "1"}, {"SIZE": "2"}]


@pytest.mark.parametrize("path", list_knobs(), ids=lambda path: path.stem)
def test_a_shipped_knob_file_makes_candidates(path: Path) -> None:
    library = KnobLibrary.read(path.stem)
    template = ServerTemplate(library.content.command or "", {}, library.template(), "/tmp/h123-roots/subjects/x")
    knobs = read_knobs([], library)
    assert {knob.name for knob in knobs} <= placeholders(template)
    assert len(candidates(template, knobs)) > 1


def test_a_bad_knob_file_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "knobs.yaml"
    file.write_text(
        "h123: knobs/1\ntitle: x\nknobs:\n  a:\n    what: x\n    docs: https://x\n    values: {on: x, off: y}\n"
    )
    with pytest.raises(UserError, match=r"knobs.yaml:7: .*put words such as on and off in quotes"):
        KnobLibrary.read(str(file))

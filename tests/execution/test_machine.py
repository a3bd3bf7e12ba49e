"""What a machine says of itself."""

import re
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.base.paths import lab_binary
from h123.execution import Machine, this_machine
from h123.execution import machine as module


@pytest.mark.parametrize("given", ["node-7.cluster", "n", "x" * 40])
def test_a_machine_has_the_name_that_it_is_given(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("H123_MACHINE", given)
    assert this_machine().name == given


@pytest.mark.parametrize("given", ["GitHub Actions 12", "ip-10-0-0-1." + "a" * 60 + ".internal", "../x", "ü", "-", "."])
def test_a_name_that_fits_no_journal_is_made_to_fit_and_stays_apart_from_others(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    names = []
    for name in (given, given + "2"):
        monkeypatch.setenv("H123_MACHINE", name)
        names.append(this_machine().name)
    assert names[0] != names[1]
    assert all(Machine(name=name, facts={}, cpus=1, memory_bytes=1).name == name for name in names)


def test_a_machine_names_what_it_builds_trials_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise UserError("there is none")

    monkeypatch.setattr(module, "virtual_kernel", none)
    facts = this_machine().facts
    assert facts["virtual_kernel"] is False
    assert facts["virtual_kernel_build"] is None
    assert lab_binary().is_file() == bool(re.fullmatch(r"[0-9a-f]{12}", facts["lab_build"] or ""))
    other = tmp_path / "linux"
    other.write_bytes(b"a kernel")
    monkeypatch.setattr(module, "virtual_kernel", lambda: other)
    assert this_machine().facts["virtual_kernel_build"] == "4fff0d3e643b"

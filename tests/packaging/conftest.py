"""The wheels of this checkout, built once."""

from pathlib import Path

import pytest

from built_wheels import build
from h123.base.paths import project_root


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build(project_root(), tmp_path_factory.mktemp("wheels"))

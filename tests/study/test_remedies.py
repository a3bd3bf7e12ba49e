"""What is wrong with a file that people write: what, why, and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.study import list_claims, list_networks, list_schemas, list_sites, list_studies, load_study
from h123.study.claims.ledger import load_ledger
from h123.study.networks.network_file import read_network
from h123.study.schema import load_schema
from h123.study.sites.site import read_site

ROOT = Path(__file__).resolve().parents[2]
READERS: dict[str, Callable[[Path], object]] = {
    "study": load_study,
    "claims": load_ledger,
    "import": lambda path: load_schema(str(path)),
    "network": read_network,
    "site": read_site,
}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("text", ["name: x\n", "h123: other/9\nname: x\n", "x\n", "h123: KIND/1\n"])
def test_a_file_of_no_format_says_where_its_format_is(tmp_path: Path, kind: str, text: str) -> None:
    """`h123: study/1 is missing` left out why, and what to do."""
    path = tmp_path / "written.yaml"
    path.write_text(text.replace("KIND", kind))
    with pytest.raises(UserError) as caught:
        READERS[kind](path)
    page = next(word for word in (caught.value.remedy or "").replace(";", " ").split() if word.startswith("docs/"))
    assert f"h123: {kind}/1" in (ROOT / page).read_text() or kind == "claims"
    assert caught.value.message.startswith(f"{path}:1: ")


def test_lists_are_in_the_order_of_names() -> None:
    """`fallback-curl` came before `fallback`."""
    for names in (list_networks(), *([path.stem for path in had()] for had in (list_studies, list_claims))):
        assert names == sorted(names)
    assert [path.stem for path in list_sites()] == sorted(path.stem for path in list_sites())
    assert [path.stem for path in list_schemas()] == sorted(path.stem for path in list_schemas())

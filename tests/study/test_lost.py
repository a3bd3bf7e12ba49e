"""A trial that loses one packet on purpose loses it within the bodies, in each block elsewhere, and nothing else."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from h123.study import Network, Parameters, access_link, find_study, load_study, make_plan
from h123.study.changes.single_loss import spread
from h123.study.networks.network import Change, Direction, Loss

LOSSY = Direction(
    delay_ns=5,
    loss=Loss(random=0.01),
    changes=[Change(at_ns=1, loss=Loss(random=0.5)), Change(at_ns=2, delay_ns=9, loss=Loss(random=0.5))],
)
NETWORK = Network(name="lossy", title="lossy", up=LOSSY, down=LOSSY)
CLEAN = Direction(delay_ns=5, changes=[Change(at_ns=2, delay_ns=9)])


def _parameters(**changes: Any) -> Parameters:
    basis = {"protocol": "h2", "server": "go", "client": "go", "network": "lossy", "cold": False}
    return Parameters.model_validate({**basis, **changes})


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 200))
def test_places_fill_the_transfer_evenly_however_many_there_are(first: float, count: int) -> None:
    places = sorted(spread(first, number) for number in range(1, count + 1))
    gaps = [later - earlier for earlier, later in pairwise(places)] + [places[0] + 1 - places[-1]]
    assert all(0 <= place < 1 for place in places)
    assert max(gaps) <= 2 / count


def test_a_network_keeps_its_losses_unless_it_is_asked() -> None:
    assert access_link(NETWORK, _parameters(), 0.5) is NETWORK
    without = access_link(NETWORK, _parameters(losses="none"), 0.5)
    assert (without.up, without.down) == (CLEAN, CLEAN)
    assert without.name == NETWORK.name


@given(st.floats(0, 1, exclude_max=True), st.sampled_from(["h1", "h2", "h3"]), st.sampled_from(["GET", "POST"]))
def test_the_one_packet_carries_a_byte_of_the_bodies(lost_at: float, protocol: str, method: str) -> None:
    p = _parameters(losses="one", protocol=protocol, method=method, users=3, requests=2, size=50_000)
    network = access_link(NETWORK, p, lost_at)
    loser, other = (network.down, network.up) if method == "GET" else (network.up, network.down)
    assert other == CLEAN
    assert loser
    assert loser.loss
    assert loser.loss.bytes
    (byte,) = loser.loss.bytes
    assert loser.model_copy(update={"loss": None}) == CLEAN
    assert 0 <= byte - int(lost_at * 300_000) <= 12_001


def test_all_treatments_of_a_block_lose_theirs_at_one_place_and_each_block_at_another() -> None:
    study = load_study(find_study("head-of-line"))
    places = [{trial.lost_at for trial in block} for block in make_plan(study, blocks=9).blocks]
    assert all(len(of_block) == 1 for of_block in places)
    assert len(set().union(*places)) == 9
    assert [{trial.lost_at for trial in block} for block in make_plan(study, blocks=4).blocks] == places[:4]

"""Orders and events as they travel: read as they were written, and nothing else is read."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from campaign.scripted import HERE, ScriptedEngine
from h123.base.errors import UserError
from h123.catalogue import OwnServer
from h123.execution import (
    AttemptDone,
    BlockDone,
    BlockOrder,
    LocalPool,
    Machine,
    MachineLost,
    Notice,
    OrderRefused,
    PoolEvent,
    PreparedTrial,
    SingleTrials,
    Started,
    execute,
    folder_digest,
    pack,
    read_event,
    unpack,
)
from h123.study import Network, Parameters

FACTS: dict[str, Any] = {
    "event": "trial",
    "trial": "b01-t01",
    "attempt": 1,
    "block": 1,
    "position": 1,
    "place": "there",
    "lane": 1,
    "alone": True,
    "cell": {"protocol": "h3"},
    "twin": False,
    "parameters": {"protocol": "h3"},
    "link_seed": 1,
    "valid": False,
    "reasons": [{"code": "client-timeout", "detail": "after 5 s"}],
    "disturbed": True,
    "disturbance": 1.0,
    "shares": {},
    "crowded": False,
    "noise": 0.5,
    "seconds": 1.5,
}
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
counts = st.integers(0, 2**40)
events: st.SearchStrategy[PoolEvent] = st.one_of(
    st.builds(Started, machine=names, trial=names, attempt=counts, repeating_s=st.none() | st.floats(0, 1e9)),
    st.builds(
        AttemptDone,
        machine=names,
        facts=st.builds(lambda trial, seconds: {**FACTS, "trial": trial, "seconds": seconds}, names, st.floats(0, 1e9)),
        seal=st.just("0f" * 32),
        archive=names,
    ),
    st.builds(Notice, machine=names, text=st.text()),
    st.builds(BlockDone, machine=names, number=counts),
    st.builds(MachineLost, machine=names, why=st.text(), remedy=st.none() | st.text()),
    st.builds(OrderRefused, machine=names, why=st.text(), remedy=st.none() | st.text(), status=counts),
)


@given(events)
def test_an_event_is_read_as_it_was_written(event: PoolEvent) -> None:
    assert read_event(event.model_dump_json()) == event


@given(events, st.data())
def test_an_event_that_is_not_whole_or_has_more_is_refused(event: PoolEvent, data: st.DataObject) -> None:
    written = json.loads(event.model_dump_json())
    key = data.draw(st.sampled_from(sorted(written)))
    changed = data.draw(
        st.sampled_from(
            [
                {**written, "another": 1},
                {**written, "h123": "pool-event/2"},
                {**written, "event": "finished"},
                {**written, "machine": "../there"},
                {**written, key: ["not", "of", "that", "kind"]},
            ]
        )
    )
    with pytest.raises(ValidationError):
        read_event(json.dumps(changed))


@pytest.mark.parametrize("archive", ["../trials", "/etc", ".hidden", "a/b", ""])
def test_an_archive_has_the_name_of_an_attempt(archive: str) -> None:
    with pytest.raises(ValidationError):
        AttemptDone(machine="there", facts=FACTS, seal="0f" * 32, archive=archive)  # type: ignore[arg-type]


def test_a_machine_is_read_as_it_was_written() -> None:
    assert Machine.model_validate_json(HERE.model_dump_json()) == HERE
    with pytest.raises(ValidationError):
        Machine.model_validate({**HERE.model_dump(), "gpus": 1})


class Keeping(LocalPool):
    """Keeps what is submitted, and runs it all the same."""

    def __init__(self) -> None:
        super().__init__(engine=ScriptedEngine(), machine=HERE)
        self.kept = list[tuple[BlockOrder, dict[str, Path]]]()

    def submit(self, machine: Machine, order: BlockOrder, archives: Any) -> None:
        self.kept.append((order, dict(archives)))
        super().submit(machine, order, archives)


PARAMETERS = {
    "server": "go",
    "client": "go",
    "network": "plain",
    "protocol": "h2",
    "size": 1,
    "users": 1,
    "requests": 1,
}


def prepared(folder: Path) -> PreparedTrial:
    folder.mkdir()
    trial = {"id": "a-trial", "check": False, "clock": "wall"}
    (folder / "trial.json").write_text(json.dumps(trial))
    (folder / "workload.json").write_text(json.dumps({"users": 1, "requests": 1, "path": "/1", "protocol": "h2"}))
    return PreparedTrial(folder, Parameters.model_validate(PARAMETERS), Network(name="plain", title="plain"))


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    (tmp_path / "tls").mkdir()
    (tmp_path / "tls/ca.pem").write_text("a certificate")
    return tmp_path / "tls"


def test_a_prepared_trial_ends_in_its_folder_and_its_order_names_no_path(tmp_path: Path, tls: Path) -> None:
    with Keeping() as pool:
        trial = prepared(tmp_path / "trial")
        ((ended, facts),) = SingleTrials(pool, {"tls": tls}).run([trial])
    assert ended == trial
    assert facts["valid"]
    assert (trial.folder / "report.json").is_file()
    assert (trial.folder / "seal.json").is_file()
    ((order, archives),) = pool.kept
    text = order.portable()
    assert str(tmp_path) not in text
    assert BlockOrder.read(text) == order
    assert order.archives().keys() == archives.keys() == {"tls", "1"}
    with pytest.raises(ValidationError):
        BlockOrder.read(json.dumps({**json.loads(text), "folder": "/"}))
    with pytest.raises(ValidationError):
        BlockOrder.read(json.dumps({**json.loads(text), "policy": {**json.loads(text)["policy"], "hurry": True}}))


def test_what_did_not_arrive_as_the_order_says_loses_the_machine(tmp_path: Path, tls: Path) -> None:
    with Keeping() as pool:
        list(SingleTrials(pool, {"tls": tls}).run([prepared(tmp_path / "trial")]))
    ((order, archives),) = pool.kept
    (tls / "ca.pem").write_text("another certificate")
    (tmp_path / "run").mkdir()
    prepared(archives["1"].with_name("again"))
    (lost,) = execute(order, tmp_path / "run", {**archives, "1": tmp_path / "again"}, HERE, ScriptedEngine())
    assert isinstance(lost, MachineLost)
    assert lost.why == "tls arrived damaged at here"


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({"command": "./serve --fast"}, r"is a program on this machine \(./serve --fast\)"),
        ({"address": "192.0.2.1", "allow_remote_load": True}, "runs at 192.0.2.1"),
    ],
)
def test_a_server_of_your_own_does_not_travel(tmp_path: Path, tls: Path, server: dict[str, object], said: str) -> None:
    own = OwnServer.model_validate({**server, "host": "localhost", "protocols": ["h2"]})
    with Keeping() as pool:
        list(SingleTrials(pool, {"tls": tls}, {"mine": own}).run([prepared(tmp_path / "trial")]))
    ((order, _),) = pool.kept
    with pytest.raises(UserError, match=f"server mine {said}; other machines do not have it") as refused:
        order.portable()
    assert refused.value.remedy
    assert "run the study on this machine alone" in refused.value.remedy


def test_a_folder_travels_as_an_archive(tmp_path: Path) -> None:
    (tmp_path / "a/b ü").mkdir(parents=True)
    (tmp_path / "a/b ü/file").write_bytes(bytes(range(256)) * 1000)
    (tmp_path / "a/empty").touch()
    packed = io.BytesIO()
    pack(tmp_path / "a", packed)
    packed.seek(0)
    unpack(packed, tmp_path / "there")
    assert folder_digest(tmp_path / "there") == folder_digest(tmp_path / "a")
    (tmp_path / "there/empty").rename(tmp_path / "there/other")
    assert folder_digest(tmp_path / "there") != folder_digest(tmp_path / "a")


def evil(name: str, **fields: Any) -> bytes:
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            member = tarfile.TarInfo(name)
            for field, value in fields.items():
                setattr(member, field, value)
            archive.addfile(member)
        return file.getvalue()


@pytest.mark.parametrize(
    "archive",
    [
        evil("../out"),
        evil("a/../../out"),
        evil("link", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        evil("link", type=tarfile.SYMTYPE, linkname="../out"),
        evil("hard", type=tarfile.LNKTYPE, linkname="../out"),
        evil("pipe", type=tarfile.FIFOTYPE),
        evil("disk", type=tarfile.BLKTYPE, devmajor=8),
        b"no archive",
    ],
)
def test_an_archive_that_reaches_outside_is_refused(tmp_path: Path, archive: bytes) -> None:
    with pytest.raises(tarfile.TarError):
        unpack(io.BytesIO(archive), tmp_path / "there")
    assert not (tmp_path / "out").exists()


def test_an_absolute_name_in_an_archive_stays_within_the_folder(tmp_path: Path) -> None:
    unpack(io.BytesIO(evil("/etc/h123-was-here")), tmp_path / "there")
    assert (tmp_path / "there/etc/h123-was-here").is_file()
    assert not Path("/etc/h123-was-here").exists()


def test_a_server_that_is_a_program_of_a_subject_travels(tmp_path: Path, tls: Path) -> None:
    own = {"command": "x", "subject": "go", "folder": "/", "host": "localhost", "protocols": ["h2"]}
    with Keeping() as pool:
        server = OwnServer.model_validate(own)
        list(SingleTrials(pool, {"tls": tls}, {"mine": server}).run([prepared(tmp_path / "trial")]))
    ((order, _),) = pool.kept
    assert BlockOrder.read(order.portable()).servers["mine"].subject == "go"

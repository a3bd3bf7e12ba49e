"""Subjects made of Debian's packages: what their manifests must say, and the settings that their launchers write."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from catalogue.pages import steps
from h123.base.paths import project_root
from h123.catalogue import Subject, catalogue

SUBJECTS = project_root() / "subjects"
PAGE = project_root() / "docs/debian.md"
OF_DEBIAN = sorted(
    (subject for subject in catalogue().values() if "../debian" in subject.install.sources), key=lambda one: one.name
)
PROTOCOLS = ("h1", "h2", "h3")
SHOW = '#!/bin/sh\nfor last; do :; done\ncat "$last"\n'
"""In the place of `run PROGRAM ... CONFIGURATION`."""


@pytest.mark.parametrize("subject", OF_DEBIAN, ids=lambda one: one.name)
def test_all_packages_are_accounted_for(subject: Subject) -> None:
    assert "packages.tsv" in subject.parts_note


@pytest.mark.parametrize("subject", OF_DEBIAN, ids=lambda one: one.name)
def test_a_suite_that_moves_on_is_warned_of(subject: Subject) -> None:
    fetched = (subject.workshop / "install.sh").read_text()
    moving = "fetch sid" in fetched or "-backports" in fetched
    assert ("h123 cannot install this subject any more" in subject.note) == moving


def _configurations(tmp_path: Path, name: str, *rest: str, protocols: Sequence[str] = PROTOCOLS) -> list[str]:
    """What the launcher of a subject, installed without its packages, writes for each protocol."""
    for folder in {"nginx", "haproxy", name}:
        shutil.copytree(SUBJECTS / folder, tmp_path / folder)
    prefix = tmp_path / "prefix"
    prefix.mkdir()
    (prefix / "run").write_text(SHOW)
    (prefix / "run").chmod(0o755)
    (tmp_path / "debian").mkdir()
    (tmp_path / "debian/fetch").touch()
    subprocess.run(["sh", "install.sh", prefix], cwd=tmp_path / name, check=True)
    pem = tmp_path / "pem"
    pem.touch()
    words = [[prefix / "serve", protocol, "10.1.0.2", "4443", pem, pem, *rest] for protocol in protocols]
    return [subprocess.run(one, check=True, capture_output=True, text=True).stdout for one in words]


@pytest.mark.parametrize("name", ["nginx", "nginx-sid"])
def test_nginx_has_the_windows_of_others(tmp_path: Path, name: str) -> None:
    announced = 'h3=":4443"; ma=86400'
    share = ["X25519MLKEM768"] if name == "nginx-sid" else []
    for written in _configurations(tmp_path, name, "/files", "127.0.0.1:1", "1.3", announced, *share):
        assert f"ssl_ecdh_curve {share[0] if share else 'X25519'}:P-256;" in written
        assert f"add_header Alt-Svc '{announced}';" in written
        assert "http2_body_preread_size 6m;" in written
        assert ("http3_stream_buffer_size 6m;" in written) == (name == "nginx-sid")
        assert ("rcvbuf=7500000 sndbuf=7500000" in written) == ("quic reuseport" in written)


WIDE = {
    "haproxy": ["quic.frontend.conn-tx-buffers.limit 960"],
    "haproxy-sid": [
        "h2.fe.rxbuf 15m",
        "quic.frontend.default-max-window-size 15m",
        "quic.frontend.max-data-size 15m",
        "quic.frontend.stream-data-ratio 40",
    ],
}


@pytest.mark.parametrize("version", ["1.2", "1.3"])
@pytest.mark.parametrize("name", list(WIDE))
def test_haproxy_has_the_windows_of_others_one_key_exchange_and_one_version_of_tls(
    tmp_path: Path, name: str, version: str
) -> None:
    for written in _configurations(tmp_path, name, "127.0.0.1:1", "cubic", version):
        settings = {line.strip() for line in written.splitlines()}
        wide = ["h2.fe.initial-window-size 6291456", *WIDE[name]]
        assert settings >= {f"tune.{setting}" for setting in wide}
        assert "curves X25519:P-256" in written
        assert f"ssl-min-ver TLSv{version} ssl-max-ver TLSv{version}" in written


def test_the_page_quotes_what_is_there() -> None:
    quoted = steps(PAGE.read_text())
    assert {step.name for step in quoted} == {
        f"subjects/lighttpd/{name}" for name in ("install.sh", "subject.toml", "serve", "lighttpd.conf")
    }
    for step in quoted:
        assert step.body in (project_root() / step.name).read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="Apache's launcher changes its user")
def test_apache_has_the_windows_of_others_and_one_protocol(tmp_path: Path) -> None:
    written = _configurations(tmp_path, "apache", "/files", "127.0.0.1:1", protocols=("h1", "h2"))
    for one, offered, spoken in zip(written, ("http/1.1", "h2"), ("HTTP/1.1", "HTTP/2.0"), strict=True):
        assert {f"Protocols {offered}", "H2WindowSize 6291456"} <= set(one.splitlines())
        assert f"!= '{spoken}'" in one
        assert "Curves X25519:P-256" in one

"""The campaign's certificate is one that strict clients accept."""

import datetime as dt
import os
import socket
import ssl
import threading
from pathlib import Path

import pytest

from h123 import durable
from h123.trial import certificate
from h123.trial.certificate import HOST_NAME, campaign_certificate


def test_a_strict_client_accepts_it(tmp_path: Path) -> None:
    files = campaign_certificate(tmp_path, ["127.0.0.1"])
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(files.cert, files.key)
    client = ssl.create_default_context(cafile=str(files.ca))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    ours, theirs = socket.socketpair()
    threading.Thread(target=lambda: server.wrap_socket(ours, server_side=True).close(), daemon=True).start()
    with client.wrap_socket(theirs, server_hostname=HOST_NAME) as connection:
        assert connection.version() == "TLSv1.3"


def test_the_key_is_private_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes, sync = dict[str, int](), durable.sync

    def look(path: Path) -> None:
        modes.setdefault(path.name, path.stat().st_mode & 0o777)
        sync(path)

    monkeypatch.setattr(durable, "sync", look)
    before = os.umask(0)
    try:
        campaign_certificate(tmp_path, ["10.1.0.2"])
    finally:
        os.umask(before)
    assert (modes["key.pem.tmp"], modes["cert.pem.tmp"]) == (0o600, 0o666)


def test_it_is_made_once_and_the_key_is_private(tmp_path: Path) -> None:
    first = campaign_certificate(tmp_path, ["10.1.0.2"])
    before = first.cert.read_bytes()
    assert campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes() == before
    assert first.key.stat().st_mode & 0o077 == 0


def test_one_that_a_crash_left_empty_or_that_has_run_out_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = campaign_certificate(tmp_path, ["10.1.0.2"])
    first.cert.write_text("")
    assert campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes()
    monkeypatch.setattr(certificate, "_LIFETIME", dt.timedelta(hours=23))
    first.cert.unlink()
    short = campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes()
    assert campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes() != short

"""Secrets that are given to `h123 compare`: for their owner alone, and in nothing that is shown or handed on."""

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.conftest import Tool
from cli.test_compare import FEW, URL, own, script
from h123.base.terminal.redaction import hidden, hidden_in, holds_secrets

__all__ = ["own"]
SECRETS = ("s3cret-header", "s3cret-variable", "s3cret-query")
PRIVATE = {"campaign.json", "study.yaml", "journal.jsonl"}


@pytest.mark.heavy
def test_a_campaign_keeps_its_secrets(h123: Tool, own: Path) -> None:
    header, variable, query = SECRETS
    options = ("--header", f"Authorization: Bearer {header}", "--env", f"TOKEN={variable}", "--save", "mine.yaml")
    server = script(own, "server", "h2", "h3")
    done = h123.succeed("compare", "--server", server, "--url", f"{URL}?token={query}", *FEW, *options, "--out", "c")
    assert not any(secret in done.stdout + done.stderr for secret in SECRETS)
    c = h123.folder / "c"
    for form in ("csv", "json", "scorecard"):
        h123.succeed("export", "c", "--format", form, "--out", f"exported-{form}")
    h123("gate", "c", "--fail-if", "latency h3/h2 > 100")
    assert stat.S_IMODE(c.stat().st_mode) == 0o700
    for path in (*h123.folder.glob("c/*"), *h123.folder.glob("exported-*/*"), h123.folder / "mine.yaml"):
        if not path.is_file():
            continue
        told = [secret for secret in SECRETS if secret.encode() in path.read_bytes()]
        private = stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert private or not told, path
        assert told or path.name not in PRIVATE


def test_what_errors_do_not_repeat(h123: Tool) -> None:
    for arguments, said in (
        (["--url", "https://me:s3cret@localhost:8443/"], "***@localhost:8443"),
        (["--url", "https://me:s3cret@localhost:8443/", "--url", "https://me:s3cret@localhost:8443/"], "***@localhost"),
        (["--url", "http://localhost:8443/?api_key=s3cret"], "api_key=***"),
        (["--url", URL, "--header", "Authorization Bearer s3cret"], "a header has no colon"),
        (["--url", URL, "--header", "Authorization: s3cret\t\u00e9"], "'Authorization'"),
        (["--url", URL, "--env", "s3cret"], "not written as NAME=VALUE"),
    ):
        refusal = h123.refusal("compare", "--server", "true", *arguments)
        assert "s3cret" not in refusal, arguments
        assert said in refusal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:p@h:1/x?a=1", "https://***@h:1/x?a=1"),
        ("/x?a=1&access_token=abc&b=2", "/x?a=1&access_token=***&b=2"),
        ("GET /x?X-Amz-Signature=abc 20 kB", "GET /x?X-Amz-Signature=*** 20 kB"),
        ("/api/orders", "/api/orders"),
        ("mail me@here", "mail me@here"),
    ],
)
def test_addresses(text: str, shown: str) -> None:
    assert hidden(text) == shown
    assert hidden(shown) == shown


@given(st.text("abcdefgh0123456789", min_size=6), st.sampled_from(["authorization", "cookie", "x-api-key", "x-mine"]))
def test_no_value_of_a_header_or_variable_is_left(value: str, name: str) -> None:
    value = f"<{value}>"
    mix = [{"path": f"/?token={value[1:-1]}", "headers": [{"name": name, "value": value}]}]
    study = {
        "servers": {"mine": {"command": "./x", "environment": {"TOKEN": value}}},
        "settings": {"headers": [{"name": name, "value": value}, {"name": "accept", "value": "text/html"}]},
        "factors": {"f": {"a": {"mix": mix}}},
    }
    shown = json.dumps(hidden_in(study))
    assert value not in shown
    assert f"token={value[1:-1]}" not in shown
    assert "text/html" in shown
    assert "TOKEN" in shown
    assert holds_secrets(study)
    assert not holds_secrets(hidden_in({"headers": [{"name": "accept", "value": value}], "environment": {}}))

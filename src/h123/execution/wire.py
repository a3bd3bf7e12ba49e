"""Defines the messages between a campaign and its machines, which are JSON documents, and packs folders to send."""

import hashlib
import tarfile
from pathlib import Path
from typing import IO

from pydantic import ConfigDict

from h123.documents.shapes import STRICT, Document, Shape

CLOSED = ConfigDict(**{**STRICT, "extra": "forbid"})
"""A configuration that refuses unknown fields, because both ends run the same version of h123."""


class MessagePart(Shape):
    """A part of a message."""

    model_config = CLOSED


class Message(Document):
    """A document whose `h123` key names its format. The document contains no path of the sending machine."""

    model_config = ConfigDict(**{**CLOSED, "frozen": True})


def pack(folder: Path, file: IO[bytes]) -> None:
    """Write a folder's content as one archive."""
    with tarfile.open(fileobj=file, mode="w|") as archive:
        archive.add(folder, ".")


def unpack(file: IO[bytes], folder: Path) -> None:
    """Write an archive's content into a new folder. The archive is untrusted: nothing is written outside the folder, no
    link leads out of it, and devices are refused. Raises `tarfile.TarError` if the archive is damaged."""
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=file, mode="r|") as archive:
        archive.extractall(folder, filter="data")


def folder_digest(folder: Path) -> str:
    """Return the digest of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()

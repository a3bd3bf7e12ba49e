"""Makes the certificate that every server of a campaign presents: ECDSA P-256, signed by a CA made for the campaign. If
a study requests a size, an intermediate CA signs the certificate, and the two certificates together have that size.

Everything, including the private keys, derives from the campaign's seed, so that campaigns with the same seed send the
same bytes. The seed is public, so the keys are not secret, and such a certificate protects nothing. It is for the lab's
own network namespaces; do not trust it anywhere else.

The cryptography library is imported only when needed, because most commands make no certificate.
"""

import datetime as dt
import hashlib
import ipaddress
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from h123.base.files.durable import write_atomically
from h123.base.roots import mounted

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

HOST_NAME = "h123.test"
"""The server name in all trials. `.test` is reserved (RFC 6761), so no one owns the name."""

_SINCE = dt.datetime(2024, 12, 31, tzinfo=dt.UTC)
_UNTIL = dt.datetime(2049, 12, 31, tzinfo=dt.UTC)
"""The expiry date, the same in every certificate. Later dates have a different form (RFC 5280, section 4.1.2.5)."""
_MARGIN = dt.timedelta(days=1)
"""A tolerance for clocks that differ."""
APART = f"*.{HOST_NAME}"
"""The wildcard name of a page's other hosts. With one name per host, the certificate and thus the handshake would grow
with the number of hosts, unlike a real site's certificate."""
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the P-256 group (SEC 2, section 2.4.2)."""
_FILLER = "1.3.6.1.4.1.32473.1"
"""An extension that no program knows, with an OID for examples (RFC 5612). It pads a certificate to the requested
size."""


@dataclass(frozen=True)
class Certificate:
    """The files (PEM) of a campaign's certificate."""

    ca: Path
    cert: Path
    """The certificate file, with the server's own certificate first."""
    key: Path
    below: str = ""
    """The folder of the files, below the root `tls` of trials. Empty for the root itself."""

    @property
    def folder(self) -> Path:
        return self.ca.parent

    def mounted(self, file: Path) -> str:
        """Return the path at which a lab sees one of the files."""
        return mounted("tls", *filter(None, [self.below]), file.name)

    def bytes(self) -> int:
        """Return the number of certificate bytes that a server sends."""
        from cryptography import x509

        return sum(map(_size, x509.load_pem_x509_certificates(self.cert.read_bytes())))

    def holds_unix_ns(self) -> int:
        """Return a time at which the certificate is valid, in ns since 1970. It depends only on the certificate."""
        since = _read(self.cert).not_valid_before_utc
        return round((since + _MARGIN).timestamp()) * 10**9


def campaign_certificate(
    folder: Path, addresses: list[str], size: int | None = None, *, apart: bool = False, seed: int = 0
) -> Certificate:
    """Return the campaign's certificate in `folder`, valid for HOST_NAME and the servers' `addresses`.

    With `size`, it is a chain of two certificates with that many bytes in total, and it has a separate CA. With
    `apart`, it is also valid for a page's other hosts. The same `seed` always gives the same certificate.

    It is created on first use, and again if it has expired or a crash has left the file empty.
    """
    below = "-".join([*(["chain", str(size)] if size else []), *(["hosts"] if apart else [])])
    place = folder / below
    files = Certificate(ca=place / "ca.pem", cert=place / "cert.pem", key=place / "key.pem", below=below)
    if not _usable(files):
        place.mkdir(parents=True, exist_ok=True)
        _make(files, _names(addresses, apart=apart), size, _Source(f"{seed} {below}"))
    return files


@dataclass(frozen=True)
class _Source:
    """A deterministic source of keys and numbers. The same text always gives the same bytes for the same use."""

    text: str

    def take(self, use: str, count: int) -> bytes:
        return hashlib.shake_256(f"h123 certificate {self.text} {use}".encode()).digest(count)

    def key(self, use: str) -> "ec.EllipticCurvePrivateKey":
        from cryptography.hazmat.primitives.asymmetric import ec

        # 16 more bytes than the group's order has make all values equally likely (FIPS 186-5, A.2.1).
        return ec.derive_private_key(int.from_bytes(self.take(use, 48)) % (_P256_ORDER - 1) + 1, ec.SECP256R1())


def _names(addresses: list[str], *, apart: bool) -> "list[x509.GeneralName]":
    """Return the names for which the certificate is valid."""
    from cryptography import x509

    hosts = [x509.DNSName(name) for name in (HOST_NAME, *([APART] if apart else []))]
    return [*hosts, *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses)]


def _usable(files: Certificate) -> bool:
    try:
        leaf = _read(files.cert)
    except (FileNotFoundError, ValueError):
        return False
    return dt.datetime.now(dt.UTC) < leaf.not_valid_after_utc - _MARGIN


def _read(file: Path) -> "x509.Certificate":
    from cryptography import x509

    return x509.load_pem_x509_certificate(file.read_bytes())


def _make(files: Certificate, names: "list[x509.GeneralName]", size: int | None, source: _Source) -> None:
    from cryptography.hazmat.primitives import serialization

    leaf_key = source.key("server")
    issuer = _Issuer("h123 campaign CA", source.key("authority"), source)
    ca = issuer.sign_authority(issuer, 0 if size is None else 1)
    if size is None:
        chain = [issuer.sign_leaf(leaf_key, names)]
    else:
        between = _Issuer("h123 campaign intermediate CA", source.key("intermediate"), source)
        chain = _of_size(size, between.sign_leaf, leaf_key, names, issuer.sign_authority(between, 0))
    pem = serialization.Encoding.PEM
    private = leaf_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_atomically(files.ca, ca.public_bytes(pem).decode())
    write_atomically(files.key, private.decode(), mode=0o600)
    # This file is written last: its presence shows that all three are complete.
    write_atomically(files.cert, "".join(each.public_bytes(pem).decode() for each in chain))


def _of_size(
    size: int,
    sign_leaf: "Callable[[ec.EllipticCurvePrivateKey, list[x509.GeneralName], int, int], x509.Certificate]",
    key: "ec.EllipticCurvePrivateKey",
    names: "list[x509.GeneralName]",
    issuer: "x509.Certificate",
) -> "list[x509.Certificate]":
    """Return the padded leaf and its issuer, which have exactly `size` bytes together. Signatures vary in length, so
    several are tried until one fits."""
    filler = size - _size(issuer) - _size(sign_leaf(key, names, 0, 0))
    for attempt in itertools.count():
        leaf = sign_leaf(key, names, filler, attempt)
        beyond = _size(leaf) + _size(issuer) - size
        if not beyond:
            break
        filler -= beyond
    return [leaf, issuer]


def _size(certificate: "x509.Certificate") -> int:
    from cryptography.hazmat.primitives.serialization import Encoding

    return len(certificate.public_bytes(Encoding.DER))


@dataclass(frozen=True)
class _Issuer:
    name: str
    key: "ec.EllipticCurvePrivateKey"
    source: _Source

    def sign_authority(self, whose: "_Issuer", path_length: int) -> "x509.Certificate":
        """Sign a CA's certificate. The CA may be this issuer itself."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes

        return (
            self._builder(whose.name, whose.key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=path_length), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(self.key, hashes.SHA256(), ecdsa_deterministic=True)
        )

    def sign_leaf(
        self, key: "ec.EllipticCurvePrivateKey", names: "list[x509.GeneralName]", filler: int = 0, attempt: int = 0
    ) -> "x509.Certificate":
        """Sign a server's certificate, with an extension of `filler` bytes. Each `attempt` gives a different
        signature."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.x509.oid import ExtendedKeyUsageOID

        builder = (
            self._builder(HOST_NAME, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        )
        if filler > 0:
            content = self.source.take(f"filler {attempt}", filler)
            more = x509.UnrecognizedExtension(x509.ObjectIdentifier(_FILLER), content)
            builder = builder.add_extension(more, critical=False)
        return builder.sign(self.key, hashes.SHA256(), ecdsa_deterministic=True)

    def _builder(self, subject: str, key: "ec.EllipticCurvePrivateKey") -> "x509.CertificateBuilder":
        from cryptography import x509
        from cryptography.x509.oid import NameOID

        subject_name, issuer_name = (
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in (subject, self.name)
        )
        return (
            x509.CertificateBuilder()
            .subject_name(subject_name)
            .issuer_name(issuer_name)
            .public_key(key.public_key())
            .serial_number(_serial_number(self.source.take(f"number of {subject}", 20)))
            .not_valid_before(_SINCE)
            .not_valid_after(_UNTIL)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )


def _serial_number(drawn: bytes) -> int:
    """Return a positive serial number of constant length, at most 20 bytes (RFC 5280, section 4.1.2.2)."""
    return int.from_bytes(drawn) >> 2 | 1 << 157


def _usage(*, signs_certificates: bool) -> "x509.KeyUsage":
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )

"""The certificate that every server of a campaign presents: ECDSA P-256, signed by a CA made for the campaign.

What makes it is imported by what needs it: most commands make none.
"""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from h123.durable import write_atomically

if TYPE_CHECKING:
    from cryptography import x509

HOST_NAME = "h123.test"
"""Server name of all trials: `.test` is reserved (RFC 6761), so it can never be somebody's."""

_LIFETIME = dt.timedelta(days=365)
_MARGIN = dt.timedelta(days=1)
"""For clocks that differ."""


@dataclass(frozen=True)
class Certificate:
    """PEM files of one campaign."""

    ca: Path
    cert: Path
    key: Path

    @property
    def folder(self) -> Path:
        """That holds them."""
        return self.ca.parent

    def bytes(self) -> int:
        """That a server sends of it."""
        from cryptography.hazmat.primitives.serialization import Encoding

        return len(_read(self.cert).public_bytes(Encoding.DER))

    def made_unix_ns(self) -> int:
        """When it was made, ns since 1970, to the second."""
        since = _read(self.cert).not_valid_before_utc
        return round((since + _MARGIN).timestamp()) * 10**9


def campaign_certificate(folder: Path, addresses: list[str]) -> Certificate:
    """The campaign's certificate in `folder`, valid for HOST_NAME and the servers' `addresses`.

    Made at first use, and anew when it runs out or a crash has left it empty.
    """
    files = Certificate(ca=folder / "ca.pem", cert=folder / "cert.pem", key=folder / "key.pem")
    if not _usable(files):
        folder.mkdir(parents=True, exist_ok=True)
        _make(files, addresses)
    return files


def _usable(files: Certificate) -> bool:
    try:
        leaf = _read(files.cert)
    except (FileNotFoundError, ValueError):
        return False
    return dt.datetime.now(dt.UTC) < leaf.not_valid_after_utc - _MARGIN


def _read(file: Path) -> "x509.Certificate":
    from cryptography import x509

    return x509.load_pem_x509_certificate(file.read_bytes())


def _make(files: Certificate, addresses: list[str]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    now = dt.datetime.now(dt.UTC)
    ca_key, leaf_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "h123 campaign CA")])

    def builder(subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(ca_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _MARGIN)
            .not_valid_after(now + _LIFETIME)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        )

    ca = (
        builder(ca_name, ca_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    names: list[x509.GeneralName] = [x509.DNSName(HOST_NAME)]
    names += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
    leaf = (
        builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST_NAME)]), leaf_key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = leaf_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_atomically(files.ca, ca.public_bytes(pem).decode())
    write_atomically(files.key, private.decode(), mode=0o600)
    write_atomically(files.cert, leaf.public_bytes(pem).decode())  # last: it says that all three are whole


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

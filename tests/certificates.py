"""Certificates for tests: signed by themselves, for this machine."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def written(folder: Path, ends: datetime | None = None) -> dict[str, Path]:
    """A certificate for 127.0.0.1 and localhost and its key, as files, by the names that a `Place` has for them."""
    ends = ends or datetime.now(UTC) + timedelta(days=30)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(ends - timedelta(days=400))
    certificate = builder.not_valid_after(ends).add_extension(names, critical=False).sign(key, hashes.SHA256())
    paths = {"tls_certificate": folder / "cert.pem", "tls_key": folder / "key.pem"}
    paths["tls_certificate"].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    paths["tls_key"].write_bytes(key.private_bytes(serialization.Encoding.PEM, *private))
    paths["tls_key"].chmod(0o600)
    return paths

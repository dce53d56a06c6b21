"""Blind RSA signatures as RFC 9474 defines them: SHA-384, MGF1 with SHA-384, and a salt of 48 bytes (RSABSSA-SHA384-PSS).

The signer sees `blinded`, which is uniform and independent of the message whatever the signer knows, and therefore cannot
recognize the message or its signature later. The result is an ordinary RSA-PSS signature.
"""

import hashlib
import secrets
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from deniable.errors import InvalidParameter, InvalidReport
from deniable.plugins import optional

EXPONENT = 65537
BITS = 2048  # of the keys that we make
SALT_BYTES = 48
_HASH = hashes.SHA384()
_PSS = padding.PSS(padding.MGF1(hashes.SHA384()), SALT_BYTES)
_BAD_KEY = "The issuer's key is not an RSA key of 2,048 bits with the exponent 65,537. Tell the people who run the survey."


@dataclass(frozen=True)
class PublicKey:
    """The key that signatures are checked with, as DER (SubjectPublicKeyInfo)."""

    der: bytes

    @cached_property
    def _key(self) -> rsa.RSAPublicKey:
        try:
            key = serialization.load_der_public_key(self.der)
        except ValueError:
            raise InvalidParameter(_BAD_KEY) from None
        if not isinstance(key, rsa.RSAPublicKey):
            raise InvalidParameter(_BAD_KEY)
        return key

    @cached_property
    def n(self) -> int:
        """The modulus."""
        numbers = self._key.public_numbers()
        if numbers.e != EXPONENT or numbers.n.bit_length() < BITS or not numbers.n & 1:
            raise InvalidParameter(_BAD_KEY)
        return numbers.n

    @property
    def size(self) -> int:
        """How many bytes a signature has."""
        return (self.n.bit_length() + 7) // 8

    @cached_property
    def id(self) -> str:
        """What names the key in a survey: the SHA-256 of its DER, in hexadecimal."""
        return hashlib.sha256(self.der).hexdigest()

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether this is a signature of the message, by the RSA-PSS of `cryptography`."""
        try:
            self._key.verify(signature, message, _PSS, _HASH)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class Blinded:
    """What the signer gets, and the secret inverse that turns its answer into a signature."""

    message: bytes
    inverse: int

    def __repr__(self) -> str:  # the inverse would undo the blinding
        return "Blinded(...)"


def blind(key: PublicKey, message: bytes, salt: bytes | None = None, inverse: int | None = None) -> Blinded:
    """Blind a message (RFC 9474, 4.2). Salt and inverse are secure random numbers, except for test vectors."""
    n = key.n
    encoded = int.from_bytes(_encoded(message, n.bit_length() - 1, salt or secrets.token_bytes(SALT_BYTES)), "big")
    if gcd(encoded, n) != 1:
        raise InvalidParameter(_BAD_KEY)
    if inverse is None:
        factor = _invertible(n)
        inverse = pow(factor, -1, n)
    else:
        factor = pow(inverse, -1, n)
    return Blinded((encoded * pow(factor, EXPONENT, n) % n).to_bytes(key.size, "big"), inverse)


def finalize(key: PublicKey, message: bytes, blind_signature: bytes, inverse: int) -> bytes:
    """The signature of the message (RFC 9474, 4.4); refuses what does not verify."""
    if len(blind_signature) != key.size:
        raise InvalidReport("The blind signature has the wrong length. Nothing was signed; try again.")
    signature = (int.from_bytes(blind_signature, "big") * inverse % key.n).to_bytes(key.size, "big")
    if not key.verifies(message, signature):
        raise InvalidReport("The blind signature is not valid under the key of the survey. Nothing was signed; try again.")
    return signature


@dataclass(frozen=True)
class PrivateKey:
    """The key of the issuer, as DER (PKCS 8). It signs what it cannot read, and must sign nothing else."""

    der: bytes

    def __repr__(self) -> str:
        return "PrivateKey(...)"

    @classmethod
    def fresh(cls) -> "PrivateKey":
        """A new key of 2,048 bits."""
        key = rsa.generate_private_key(EXPONENT, BITS)
        none = serialization.NoEncryption()
        return cls(key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, none))

    @cached_property
    def _key(self) -> rsa.RSAPrivateKey:
        key = serialization.load_der_private_key(self.der, None)
        assert isinstance(key, rsa.RSAPrivateKey)
        return key

    @cached_property
    def public(self) -> PublicKey:
        """The key that others check with."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return PublicKey(self._key.public_key().public_bytes(serialization.Encoding.DER, form))

    @cached_property
    def _crt(self) -> tuple[Any, ...]:
        """The numbers of the Chinese remainder theorem, as numbers of GMP: n, p, q, d mod p-1, d mod q-1, 1/q mod p."""
        mpz = optional("gmpy2", "Signing tokens for invitations", "collector").mpz
        numbers = self._key.private_numbers()
        own = numbers.public_numbers.n, numbers.p, numbers.q, numbers.dmp1, numbers.dmq1, numbers.iqmp
        return tuple(mpz(number) for number in own)

    def prepare(self) -> None:
        """Read and check the key now: it takes a fifth of a second, and whoever is the first to need it would wait."""
        _ = self._crt, self.public.size

    def blind_sign(self, blinded: bytes) -> bytes:
        """The blind signature (RFC 9474, 4.3); refuses numbers that no honest device sends.

        What is raised to the secret power is hidden by a fresh random factor, and GMP's `mpz_powm_sec` takes the same steps
        for every exponent of a length, so that neither time nor memory access depend on the key. A result that does not
        verify, as after a fault of the hardware, would disclose a prime factor and is not returned.
        """
        gmpy2 = optional("gmpy2", "Signing tokens for invitations", "collector")
        n, p, q, at_p, at_q, q_inverse = self._crt
        message = int.from_bytes(blinded, "big")
        if len(blinded) != self.public.size or not 1 < message < n - 1:
            raise InvalidReport("The blinded message must be a number from 2 to n - 2, in as many bytes as the key has.")
        factor = gmpy2.mpz(_invertible(int(n)))
        hidden = message * gmpy2.powmod(factor, EXPONENT, n) % n
        mod_p, mod_q = gmpy2.powmod_sec(hidden % p, at_p, p), gmpy2.powmod_sec(hidden % q, at_q, q)
        power = mod_q + q * ((mod_p - mod_q) * q_inverse % p)
        if gmpy2.powmod(power, EXPONENT, n) != hidden:
            raise RuntimeError("A signature was computed wrongly. It is not disclosed, because it could reveal the key.")
        return int(power * gmpy2.invert(factor, n) % n).to_bytes(self.public.size, "big")


def _invertible(n: int) -> int:
    """A secure uniform number that has an inverse."""
    while True:
        number = 1 + secrets.randbelow(n - 1)
        if gcd(number, n) == 1:
            return number


def _encoded(message: bytes, bits: int, salt: bytes) -> bytes:
    """EMSA-PSS (RFC 8017, 9.1.1)."""
    size = (bits + 7) // 8
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(size - len(salt) - len(digest) - 2) + b"\x01" + salt
    mask = _mgf1(digest, len(block))
    masked = bytearray(a ^ b for a, b in zip(block, mask, strict=True))
    masked[0] &= 0xFF >> (8 * size - bits)
    return bytes(masked) + digest + b"\xbc"


def _mgf1(seed: bytes, size: int) -> bytes:
    """MGF1 with SHA-384 (RFC 8017, B.2.1)."""
    blocks = (hashlib.sha384(seed + place.to_bytes(4, "big")).digest() for place in range(-(-size // SALT_BYTES)))
    return b"".join(blocks)[:size]

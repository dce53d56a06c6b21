"""Blind signatures: the RFC's vectors, an independent RSA-PSS, and what hostile devices and issuers send."""

import hashlib
import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from deniable.errors import InvalidParameter, InvalidReport
from deniable.invitations.blind_rsa import PrivateKey, PublicKey, blind, finalize
from tests import ROOT

pytestmark = pytest.mark.needs("gmpy2")
VECTORS = json.loads((ROOT / "vectors" / "blind_rsa.json").read_text())
KEY = PrivateKey.fresh()


def vector_key() -> PrivateKey:
    n, p, e = int(VECTORS["n"], 16), int(VECTORS["p"], 16), VECTORS["e"]
    q = n // p
    assert p * q == n
    d = pow(e, -1, (p - 1) * (q - 1))
    numbers = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), rsa.RSAPublicNumbers(e, n))
    form = serialization.PrivateFormat.PKCS8
    return PrivateKey(numbers.private_key().private_bytes(serialization.Encoding.DER, form, serialization.NoEncryption()))


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["variant"])
def test_it_gives_what_the_rfc_gives(case: dict[str, str]) -> None:
    key, message = vector_key(), bytes.fromhex(case["prefix"] + VECTORS["msg"])
    blinded = blind(key.public, message, bytes.fromhex(VECTORS["salt"]), int(VECTORS["inv"], 16))
    assert blinded.message.hex().startswith(case["blinded"])
    signed = key.blind_sign(blinded.message)
    assert signed.hex().startswith(case.get("blind_signature", ""))
    signature = finalize(key.public, message, signed, blinded.inverse)  # which `cryptography` verifies
    assert signature.hex().startswith(case.get("signature", ""))


def test_the_signature_is_an_ordinary_one_of_this_message_only() -> None:
    blinded = blind(KEY.public, b"message")
    signature = finalize(KEY.public, b"message", KEY.blind_sign(blinded.message), blinded.inverse)
    assert KEY.public.verifies(b"message", signature)
    assert not KEY.public.verifies(b"massage", signature)
    assert not PrivateKey.fresh().public.verifies(b"message", signature)
    assert not KEY.public.verifies(b"message", signature[:-1])


def test_every_signature_fits_every_blinded_message() -> None:
    """Blindness, exactly: any token could have come from any exchange, since a factor exists that connects the two."""
    n, key = KEY.public.n, KEY.public
    seen = [blind(key, b"exchange %d" % place).message for place in range(3)]
    for place in range(3):
        mine = blind(key, b"token %d" % place)
        signature = finalize(key, b"token %d" % place, KEY.blind_sign(mine.message), mine.inverse)
        encoded = pow(int.from_bytes(signature, "big"), 65537, n)
        for exchange in seen:  # factor^e = exchange / encoded, and taking e-th roots is what the key does
            ratio = int.from_bytes(exchange, "big") * pow(encoded, -1, n) % n
            factor = int.from_bytes(KEY.blind_sign(ratio.to_bytes(key.size, "big")), "big")
            assert (encoded * pow(factor, 65537, n) % n).to_bytes(key.size, "big") == exchange


def test_two_blindings_of_one_message_differ() -> None:
    assert blind(KEY.public, b"same").message != blind(KEY.public, b"same").message


@pytest.mark.parametrize("number", ["0", "1", "n - 1", "n", "n + 5", "2 ** 2048 - 1"])
def test_numbers_that_no_device_sends_are_not_signed(number: str) -> None:
    with pytest.raises(InvalidReport, match="from 2 to n - 2"):
        KEY.blind_sign(eval(number, {"n": KEY.public.n}).to_bytes(256, "big"))


@pytest.mark.parametrize("size", [0, 1, 255, 257, 4096])
def test_other_lengths_are_not_signed(size: int) -> None:
    with pytest.raises(InvalidReport, match="as many bytes"):
        KEY.blind_sign(b"\x01" * size)


def test_an_issuer_who_signs_something_else_is_found_out() -> None:
    blinded = blind(KEY.public, b"message")
    for wrong in (PrivateKey.fresh().blind_sign(b"\x00" + blinded.message[1:]), bytes(256), b"\x02" * 255):
        with pytest.raises(InvalidReport, match="Nothing was signed"):
            finalize(KEY.public, b"message", wrong, blinded.inverse)


def test_a_fault_of_the_hardware_discloses_nothing() -> None:
    damaged = PrivateKey(KEY.der)
    n, p, q, at_p, at_q, inverse = damaged._crt
    damaged.__dict__["_crt"] = (n, p, q, at_p + 2, at_q, inverse)
    with pytest.raises(RuntimeError, match="could reveal the key"):
        damaged.blind_sign(blind(KEY.public, b"message").message)


def test_other_keys_are_refused() -> None:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    for made in (
        rsa.generate_private_key(65537, 1024),
        rsa.generate_private_key(3, 2048),
        ec.generate_private_key(ec.SECP256R1()),
    ):
        other = PublicKey(made.public_key().public_bytes(serialization.Encoding.DER, form))
        with pytest.raises(InvalidParameter, match="2,048 bits"):
            blind(other, b"message")
    with pytest.raises(InvalidParameter, match="2,048 bits"):
        blind(PublicKey(b"nonsense"), b"message")


def test_nothing_secret_is_shown() -> None:
    assert repr(KEY) == "PrivateKey(...)"
    assert repr(blind(KEY.public, b"message")) == "Blinded(...)"
    assert KEY.public.id == hashlib.sha256(KEY.public.der).hexdigest()

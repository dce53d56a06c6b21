"""What a relay cannot read: HPKE beside the RFC's vector, one length for all, and files that are damaged."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import deniable as dn
from deniable.device import Device
from deniable.mixing import Opener, Terms, make_terms, mixed_losses
from deniable.mixing.sealing import AROUND, TICKET_BYTES, ticket_of
from tests import ROOT
from tests.mixing import SURVEY, survey_in, survey_of

KEM, SUITE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"  # X25519 with HKDF-SHA256, HKDF-SHA256, AES-128-GCM


VECTORS = json.loads((ROOT / "vectors" / "mix.json").read_text())
WINDOW = '[survey]\nwindow = "day"\nopens = 2026-01-01T00:00:00Z'


def extract(suite: bytes, salt: bytes, label: bytes, given: bytes) -> bytes:
    code = hmac.HMAC(salt or bytes(32), hashes.SHA256())
    code.update(b"HPKE-v1" + suite + label + given)
    return code.finalize()


def expand(suite: bytes, secret: bytes, label: bytes, info: bytes, length: int) -> bytes:
    code = hmac.HMAC(secret, hashes.SHA256())
    code.update(length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info + b"\x01")
    return code.finalize()[:length]


def scheduled(agreed: bytes, context: bytes, info: bytes) -> tuple[AESGCM, bytes]:
    """The cipher and the first nonce of RFC 9180, base mode, step by step; `context` is enc and the public key."""
    secret = expand(KEM, extract(KEM, b"", b"eae_prk", agreed), b"shared_secret", context, 32)
    schedule = b"\x00" + extract(SUITE, b"", b"psk_id_hash", b"") + extract(SUITE, b"", b"info_hash", info)
    base = extract(SUITE, secret, b"secret", b"")
    return AESGCM(expand(SUITE, base, b"key", schedule, 16)), expand(SUITE, base, b"base_nonce", schedule, 12)


def by_hand(sealed: bytes, private: bytes, info: bytes, associated: bytes = b"") -> bytes:
    """What was sealed for the holder of the private key."""
    key, shared = X25519PrivateKey.from_private_bytes(private), sealed[:32]
    agreed = key.exchange(X25519PublicKey.from_public_bytes(shared))
    cipher, nonce = scheduled(agreed, shared + key.public_key().public_bytes_raw(), info)
    return cipher.decrypt(nonce, sealed[32:], associated)


def sealed_by_hand(plain: bytes, public: bytes, ephemeral: bytes, info: bytes, associated: bytes = b"") -> bytes:
    """What is sealed with this ephemeral key, which must never be used twice outside of tests."""
    own = X25519PrivateKey.from_private_bytes(ephemeral)
    shared = own.public_key().public_bytes_raw()
    cipher, nonce = scheduled(own.exchange(X25519PublicKey.from_public_bytes(public)), shared + public, info)
    return shared + cipher.encrypt(nonce, plain, associated)


def test_the_vector_of_the_rfc() -> None:
    """RFC 9180, A.1.1, sequence number 0; the JavaScript client seals the same bytes from the same file."""
    given = {name: bytes.fromhex(text) for name, text in VECTORS["rfc"].items()}
    assert given["info"] == b"Ode on a Grecian Urn" and given["plain"] == b"Beauty is truth, truth beauty"
    assert by_hand(given["sealed"], given["private"], given["info"], given["associated"]) == given["plain"]
    made = sealed_by_hand(given["plain"], given["public"], given["ephemeral"], given["info"], given["associated"])
    assert made == given["sealed"]


def test_the_message_that_every_client_seals() -> None:
    """With the ephemeral key of the file, another language makes these bytes; the collector reads them."""
    given = VECTORS["message"]
    terms, message = Terms(**given["terms"]), bytes.fromhex(given["message"])
    opener = Opener(terms.survey, given["private"], terms.size)
    assert opener.key == terms.key and terms.fingerprint == given["fingerprint"]
    assert message[8:24].hex() == terms.survey
    filled = (len(message).to_bytes(4, "little") + message).ljust(terms.size, b"\0")
    info = b"deniable mix 1 " + bytes.fromhex(terms.survey)
    made = sealed_by_hand(filled, bytes.fromhex(terms.key), bytes.fromhex(given["ephemeral"]), info)
    assert ticket_of(message) + made == bytes.fromhex(given["sealed"])
    assert list(opener.messages(made)) == [message]


def test_a_sealed_message_is_what_the_rfc_says() -> None:
    survey = survey_of(SURVEY)
    terms, opener = make_terms(survey, "https://mix.example", 10, 256)
    message = survey.randomize({"commute": "bus"})
    given = terms.seal(message)
    plain = by_hand(given[TICKET_BYTES:], bytes.fromhex(opener.private), b"deniable mix 1 " + survey.fingerprint_bytes)
    assert plain == (len(message).to_bytes(4, "little") + message).ljust(256, b"\0")
    assert list(opener.messages(given[TICKET_BYTES:])) == [message]
    assert given[:TICKET_BYTES] == ticket_of(message) != ticket_of(survey.randomize({"commute": "bus"}))


def test_all_sealed_messages_look_alike() -> None:
    survey = survey_of(SURVEY)
    terms, opener = make_terms(survey, "https://mix.example", 10, 256)
    sealed = [terms.seal(message) for message in survey.randomize_all({"commute": ["bus", "car", "bike"]}, 3)]
    assert {len(each) for each in sealed} == {TICKET_BYTES + 256 + AROUND}
    again = terms.seal(survey.randomize({"commute": "bus"}))
    assert len({*sealed, again}) == 4
    with pytest.raises(dn.InvalidReport, match="longer than the terms"):
        terms.seal(bytes(253))
    body = b"".join(each[TICKET_BYTES:] for each in sealed)
    spoiled = bytearray(body)
    spoiled[terms.length + 40] ^= 1
    assert [each is None for each in opener.messages(bytes(spoiled))] == [False, True, False]
    other = make_terms(survey, "https://mix.example", 10, 256)[1]
    assert list(other.messages(body)) == [None, None, None]


def test_files(tmp_path: Path) -> None:
    survey = survey_of(SURVEY)
    terms, opener = make_terms(survey, "https://mix.example", 10, 256)
    terms.save(tmp_path / "terms")
    (tmp_path / "key").write_text(opener.text)
    assert Terms.load(tmp_path / "terms") == terms and Opener.load(tmp_path / "key") == opener
    assert opener.private not in repr(opener) and opener.private not in (tmp_path / "terms").read_text()
    with pytest.raises(dn.InvalidParameter, match="not written by"):
        Terms.load(tmp_path / "key")
    with pytest.raises(dn.InvalidParameter, match="cannot be read"):
        Opener.load(tmp_path / "nothing")
    data = json.loads((tmp_path / "terms").read_text())
    for change in ({"people": 1}, {"key": "ab"}, {"relay": "mix.example"}, {"size": 3}):
        (tmp_path / "bad").write_text(json.dumps({**data, **change}))
        with pytest.raises(dn.InvalidParameter):
            Terms.load(tmp_path / "bad")
    with pytest.raises(dn.InvalidParameter, match="another survey"):
        terms.check(survey_of(SURVEY.replace("commute", "travel")))
    with pytest.raises(dn.InvalidParameter, match="window, rounds or invitations"):
        make_terms(survey_of(SURVEY.replace("[survey]", WINDOW)), "https://mix.example", 10, 256)


def test_a_device_keeps_what_the_relay_has_not_stored(tmp_path: Path) -> None:
    from deniable.mixing import mix_sender

    survey = survey_in(tmp_path)
    terms, _ = make_terms(survey, "http://127.0.0.1:9", 10, 256)
    outcome = Device(survey, tmp_path / "ledger", mix_sender(terms, timeout=1.0), attempts=1).submit({"commute": "bus"})
    assert outcome.state == "kept"


def test_both_losses() -> None:
    one = mixed_losses(survey_of(SURVEY), 1_000, 1e-6)
    exact = dn.shuffled(survey_of(SURVEY).questions[0].mechanism, 1_000, 1e-6)
    assert one.mixed == exact and one.together.epsilon() == pytest.approx(1.0)
    assert "only if the relay does not tell the collector" in str(one) and "together: epsilon 1" in str(one)
    second = '\n[[question]]\nid = "pet"\nkind = "category"\nask = "?"\nchoices = ["a", "b"]\n'
    two = mixed_losses(survey_of(SURVEY + second), 1_000, 1e-6)
    assert two.mixed.proof == "odds alone" and exact.epsilon < two.mixed.epsilon < 1 and two.together.odds is not None
    assert two.together.epsilon() == pytest.approx(1.0)

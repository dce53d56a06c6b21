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
from tests.mixing import SURVEY, survey_in, survey_of

KEM, SUITE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"  # X25519 with HKDF-SHA256, HKDF-SHA256, AES-128-GCM


WINDOW = '[survey]\nwindow = "day"\nopens = 2026-01-01T00:00:00Z'


def extract(suite: bytes, salt: bytes, label: bytes, given: bytes) -> bytes:
    code = hmac.HMAC(salt or bytes(32), hashes.SHA256())
    code.update(b"HPKE-v1" + suite + label + given)
    return code.finalize()


def expand(suite: bytes, secret: bytes, label: bytes, info: bytes, length: int) -> bytes:
    code = hmac.HMAC(secret, hashes.SHA256())
    code.update(length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info + b"\x01")
    return code.finalize()[:length]


def by_hand(sealed: bytes, private: bytes, info: bytes, associated: bytes = b"") -> bytes:
    """RFC 9180, base mode, step by step."""
    key, shared = X25519PrivateKey.from_private_bytes(private), sealed[:32]
    agreed = key.exchange(X25519PublicKey.from_public_bytes(shared))
    context = shared + key.public_key().public_bytes_raw()
    secret = expand(KEM, extract(KEM, b"", b"eae_prk", agreed), b"shared_secret", context, 32)
    schedule = b"\x00" + extract(SUITE, b"", b"psk_id_hash", b"") + extract(SUITE, b"", b"info_hash", info)
    base = extract(SUITE, secret, b"secret", b"")
    nonce = expand(SUITE, base, b"base_nonce", schedule, 12)
    return AESGCM(expand(SUITE, base, b"key", schedule, 16)).decrypt(nonce, sealed[32:], associated)


def test_the_vector_of_the_rfc() -> None:
    """RFC 9180, A.1.1, sequence number 0."""
    found = by_hand(
        bytes.fromhex(
            "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
            "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
        ),
        bytes.fromhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"),
        b"Ode on a Grecian Urn",
        b"Count-0",
    )
    assert found == b"Beauty is truth, truth beauty"


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

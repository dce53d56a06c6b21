"""One person, one report: exchanges and tokens in both kinds of store."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import deniable as dn
from deniable.collector import Collector, Store, open_store, opened, results
from deniable.collector.invited import (
    EXCHANGED,
    REVOKED,
    UNUSED,
    check_keys,
    code_hash,
    count_invitations,
    invitation_id,
    make_invitations,
    make_keys,
    prepare_keys,
    revoke_invitations,
    rotate_key,
)
from deniable.collector.lifecycle import delete, turn
from deniable.collector.stages import Stage
from deniable.device import Ledger
from deniable.device.invitation import Exchange, code_of
from deniable.device.sending import Reply
from deniable.errors import InvalidParameter, InvalidReport
from deniable.invitations.blind_rsa import PrivateKey, PublicKey
from deniable.invitations.terms import Invitations
from deniable.survey.message import with_token
from tests.collector.one_backup import read_backup, write_backup
from tests.invitations.invited import Issued, invited
from tests.surveys import ONE, OPENS, survey
from tests.waits import together

pytestmark = pytest.mark.needs("starlette", "gmpy2")
DAILY = ONE.replace("minimum_reports", 'opens = 2026-01-01T00:00:00Z\nwindow = "day"\nlate = 1\nminimum_reports').replace(
    'id = "one"', 'id = "daily"'
)


@pytest.fixture
def store(new_store: Callable[[], str]) -> Iterator[Store]:
    with opened(new_store()) as found:
        yield found


@pytest.fixture
def issued(store: Store) -> Issued:
    return Issued(invited(store), store)


def codes(issued: Issued, people: int) -> list[str]:
    return make_invitations(issued.collector.store, issued.collector.survey, people)


def counted(issued: Issued) -> int:
    return results(issued.collector.survey, issued.collector.number, issued.collector.store).people


def test_a_token_counts_once(issued: Issued) -> None:
    mine, other = (issued.token(code) for code in codes(issued, 2))
    report = issued.report(mine)
    assert issued.take(report) == ["counted"]
    assert issued.take(report) == ["duplicate"]  # the same message again
    assert issued.take(issued.report(mine)) == ["spent-token"]
    assert issued.take(with_token(report[: -4 - len(mine)] + report[-4:], other)) == ["duplicate"]  # the other token is kept
    assert issued.take(issued.report(other)) == ["counted"]
    assert counted(issued) == 2


def test_of_many_with_one_token_in_one_body_one_counts(issued: Issued) -> None:
    (token,) = (issued.token(code) for code in codes(issued, 1))
    reports = [issued.report(token) for _ in range(5)]
    assert issued.take(*reports, reports[0], reports[1]) == ["counted", *["spent-token"] * 4, "duplicate", "spent-token"]
    assert issued.take(*reports) == ["duplicate", *["spent-token"] * 4]
    assert counted(issued) == 1


def test_a_signature_is_verified_once(issued: Issued, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has one token must not keep the collector busy by sending it again and again."""
    calls, verifies = list[int](), PublicKey.verifies

    def counting(key: PublicKey, message: bytes, signature: bytes) -> bool:
        calls.append(1)
        return verifies(key, message, signature)

    monkeypatch.setattr(PublicKey, "verifies", counting)
    (token,) = (issued.token(code) for code in codes(issued, 1))
    calls.clear()
    messages = [message for _ in range(50) for message in issued.collector.survey.read(issued.report(token))]
    assert issued.collector.screened(messages) == [None] * 50
    assert len(issued.collector.take(messages)) == 50 and counted(issued) == 1
    assert len(calls) == 1
    wrong = issued.report(token[:-1] + bytes([token[-1] ^ 1]))
    for _ in range(2):
        assert issued.take(wrong) == ["bad-token"]
    assert len(calls) == 2


def test_who_is_not_invited_is_not_counted(issued: Issued, store: Store) -> None:
    (token,) = (issued.token(code) for code in codes(issued, 1))
    assert issued.take(issued.report()) == ["not-invited"]
    for place in (0, 1, 40, 200):  # another key, another prefix, another signature
        wrong = bytearray(token)
        wrong[place] ^= 1
        assert issued.take(issued.report(bytes(wrong))) == ["bad-token"]
    assert issued.take(issued.report(token[:-1]), issued.report(b"x" * 1000)) == ["bad-token", "bad-token"]
    many = issued.collector.survey.batch({"town": ["Nice", "Metz"]}, 2)
    assert issued.take(with_token(many, token)) == ["no-batches"]
    other = Issued(invited(store, ONE.replace('id = "one"', 'id = "two"')), store)
    assert other.take(other.report(token)) == ["bad-token"]  # a token is for one survey
    open_to_all = Collector(survey(ONE.replace('id = "one"', 'id = "three"')), store)
    found = open_to_all.take(open_to_all.survey.read(with_token(open_to_all.survey.randomize({"town": "Nice"}), token)))
    assert [verdict.reason for verdict in found if not isinstance(verdict, dn.collector.Counted)] == ["damaged"]
    assert counted(issued) == 0
    assert issued.take(issued.report(token)) == ["counted"]


def test_a_token_does_not_count_again_in_a_later_period(store: Store) -> None:
    now, day = [float(OPENS)], 86_400
    issued = Issued(invited(store, DAILY), store, clock=lambda: now[0])
    (token,) = (issued.token(code) for code in codes(issued, 1))
    assert issued.take(issued.report(token, now[0])) == ["counted"]
    for _ in range(5):
        now[0] += day
        assert issued.take(issued.report(token, now[0])) == ["spent-token"]
        while issued.collector.tidy(100):
            pass
    assert counted(issued) == 1


def test_a_lost_answer_costs_nothing(issued: Issued) -> None:
    (code,) = codes(issued, 1)
    ledger = Ledger()
    for _ in range(3):
        issued.lose = 1
        found = issued.device(code, ledger).exchange()
        assert isinstance(found, Reply) and found.again
    assert issued.device(None, ledger).exchange() == 0.0  # the ledger has the code: a reload needs no link
    assert len(set(issued.bodies)) == 1  # the same request each time
    assert code not in str(ledger._file.read())  # and forgets it
    assert issued.take(issued.report(issued.device(None, ledger)._invited.kept().token)) == ["counted"]  # type: ignore[union-attr]


def test_an_invitation_is_exchanged_once(issued: Issued) -> None:
    (code,) = codes(issued, 1)
    issued.token(code)
    found = issued.device(code).exchange()
    assert isinstance(found, Reply) and found.reason == "exchanged" and not found.again
    found = issued.device("nobody").exchange()
    assert isinstance(found, Reply) and found.reason == "no-invitation"


def test_two_programs_with_one_ledger_make_one_token(issued: Issued, tmp_path: Path) -> None:
    (code,) = codes(issued, 1)
    first, second = (issued.device(code, Ledger(tmp_path / "ledger")) for _ in range(2))
    assert first._invited is not None and second._invited is not None
    begun = first._invited._begun(), second._invited._begun()
    assert begun[0] == begun[1]
    assert first.exchange() == second.exchange() == 0.0
    assert first._invited.right() == second._invited.right()


def test_invitations_are_counted_and_revoked(issued: Issued) -> None:
    some, store, number = codes(issued, 5), issued.collector.store, issued.collector.number
    issued.token(some[0])
    assert revoke_invitations(store, number, [invitation_id(code) for code in some[:2]] + ["unknown"]) == 1
    with store.view() as view:
        assert count_invitations(view, number) == {UNUSED: 3, EXCHANGED: 1, REVOKED: 1}
    found = issued.device(some[1]).exchange()
    assert isinstance(found, Reply) and found.reason == "no-invitation"
    assert revoke_invitations(store, number, None) == 3
    assert len(codes(issued, 2)) == 2  # more can be made


def test_only_hashes_are_stored_and_nothing_connects_them(issued: Issued) -> None:
    some = codes(issued, 3)
    tokens = [issued.token(code) for code in some]
    issued.take(*(issued.report(token) for token in tokens))
    with issued.collector.store.view() as view:
        rows = view.run("SELECT hash, state, blinded FROM invitations")
        spent = view.run("SELECT * FROM spent")
    assert {bytes(row[0]) for row in rows} == {code_hash(code) for code in some}
    assert {len(row) for row in spent} == {2} and len(spent) == 3  # the survey and a nonce: no time, no id, no invitation
    stored = {bytes(row[2]) for row in rows} | {bytes(row[1]) for row in spent}
    assert len(stored) == 6
    sent = [json.loads(body) for body in issued.bodies]
    for token in tokens:  # nothing of an exchange appears in a report
        assert not any(each["blinded"][i : i + 32] in token.hex() for each in sent for i in range(0, 512, 32))


def test_keys_rotate(issued: Issued) -> None:
    store, asked = issued.collector.store, issued.collector.survey
    early, late, pending = codes(issued, 3)
    old = issued.token(early)
    ledger = Ledger()
    issued.lose = 1
    issued.device(pending, ledger).exchange()  # recorded under the first key, but the answer is lost
    begun = issued.device(late, second := Ledger())._invited._begun()  # type: ignore[union-attr]  # blinded for the first key
    rotate_key(store, asked, revoke=False)
    assert begun and issued.device(late, second).exchange() == 0.0
    new = issued.device(late, second)._invited.kept().token  # type: ignore[union-attr]
    assert (old[0], new[0]) == (0, 1)
    assert issued.device(pending, ledger).exchange() == 0.0  # a retired key signs again what it has signed
    assert issued.take(issued.report(old), issued.report(new)) == ["counted", "counted"]
    with pytest.raises(InvalidParameter, match="no key in reserve"):
        rotate_key(store, asked, revoke=False)


def test_a_collector_that_is_ready_reads_no_key_for_an_exchange(issued: Issued, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = codes(issued, 2)
    prepare_keys(issued.collector.store, issued.collector.survey)
    with monkeypatch.context() as broken:
        broken.setattr("deniable.invitations.blind_rsa.serialization.load_der_private_key", None)
        assert issued.take(issued.report(issued.token(mine))) == ["counted"]
        rotate_key(issued.collector.store, issued.collector.survey, revoke=False)  # the key in reserve is ready too
        assert issued.take(issued.report(issued.token(other))) == ["counted"]


def test_tokens_of_a_revoked_key_do_not_count(issued: Issued) -> None:
    early, late = codes(issued, 2)
    old = issued.token(early)
    rotate_key(issued.collector.store, issued.collector.survey, revoke=True)
    report = issued.report(old)
    assert issued.take(report, report) == ["bad-token", "bad-token"]
    assert issued.take(issued.report(issued.token(late))) == ["counted"]
    assert counted(issued) == 1


def test_a_key_that_the_survey_does_not_name_is_not_used(issued: Issued) -> None:
    (code,) = codes(issued, 1)
    tag = PrivateKey.fresh().public

    def ask(path: str, body: bytes | None) -> tuple[Reply, dict[str, object]]:
        assert body is None, "the invitation left the device"
        fingerprint = issued.collector.survey.fingerprint
        return Reply(200), {"survey": fingerprint, "current": 0, "keys": [tag.der.hex()]}

    for answer in ({}, {"current": -1}, {"current": 7}, {"keys": None}, {"current": None}, {"keys": ["zz"]}):
        asking = lambda path, body, answer=answer: (Reply(200), {**ask(path, body)[1], **answer})  # noqa: E731
        exchange = Exchange(issued.collector.survey, Ledger(), asking, code)
        with pytest.raises(InvalidReport, match="recognize you"):
            exchange.right()


def test_an_issuer_that_signs_wrongly_gets_no_token_accepted(issued: Issued) -> None:
    (code,) = codes(issued, 1)

    def ask(path: str, body: bytes | None) -> tuple[Reply, dict[str, object]]:
        reply, answer = issued.ask(path, body)
        return reply, answer if body is None else {**answer, "signature": "00" * 256}

    ledger = Ledger()
    exchange = Exchange(issued.collector.survey, ledger, ask, code)
    with pytest.raises(InvalidReport, match="Nothing was signed"):
        exchange.right()
    assert issued.device(None, ledger).exchange() == 0.0  # an honest answer later is enough


def test_the_report_waits_after_the_exchange(store: Store) -> None:
    issued = Issued(invited(store, delay=1000), store)
    waits = []
    for code in codes(issued, 20):
        wait = issued.device(code).exchange()
        assert isinstance(wait, float)
        waits.append(wait)
    # Uniform from 0 to 1000 s: all 20 below 500 or all above have a chance of 2e-6 each; that they are equal has none.
    assert len(set(waits)) == 20 and max(waits) <= 1000
    device = issued.device(codes(issued, 1)[0])
    device._send = lambda body: pytest.fail("sent too early")
    device._invited._clock = lambda: 4e9  # type: ignore[union-attr]  # then the time to send is far ahead
    outcome = device.submit({"town": "Nice"})
    assert outcome.state == "kept" and "cannot be matched with the exchange" in outcome.reason


def test_a_hostile_crowd_is_counted_once_each(issued: Issued) -> None:
    """Every code and every token is used by several threads at once, on two collectors."""
    some = codes(issued, 6)
    with opened(issued.collector.store.address) as again:
        other = Issued(issued.collector.survey, again)
        tokens, verdicts = list[bytes](), Counter[str]()

        def exchange(side: Issued, code: str) -> None:
            found = side.device(code)._invited.right()  # type: ignore[union-attr]
            if not isinstance(found, Reply):
                tokens.append(found.token)

        def spend(side: Issued, token: bytes) -> None:
            verdicts.update(side.take(*(side.report(token) for _ in range(3))))

        sides = (issued, other) * 2
        together(*(partial(exchange, side, code) for code in some for side in sides))
        together(*(partial(spend, side, token) for token in list(tokens) for side in sides))
    assert len(tokens) == 6
    assert verdicts == {"counted": 6, "spent-token": 6 * 12 - 6}
    assert counted(issued) == 6


def test_a_backup_has_the_keys_the_invitations_and_what_is_spent(
    issued: Issued, new_store: Callable[[], str], tmp_path: Path
) -> None:
    spent, unspent, unused = codes(issued, 3)
    old, new = issued.token(spent), issued.token(unspent)
    report = issued.report(old)
    assert issued.take(report) == ["counted"]
    rotate_key(issued.collector.store, issued.collector.survey, revoke=False)
    file = tmp_path / "survey.backup"
    write_backup(issued.collector.survey, issued.collector.store, file)
    assert file.stat().st_mode & 0o777 == 0o600
    with opened(new_store()) as other:
        assert read_backup(file, other).fingerprint == issued.collector.survey.fingerprint
        moved = Issued(issued.collector.survey, other)
        assert moved.take(report) == ["duplicate"]
        assert moved.take(moved.report(old)) == ["spent-token"]
        assert moved.take(moved.report(new), moved.report(moved.token(unused))) == ["counted", "counted"]
        found = moved.device(spent).exchange()
        assert isinstance(found, Reply) and found.reason == "exchanged"


def test_a_survey_that_has_ended_forgets_all_of_it(issued: Issued) -> None:
    store, asked, number = issued.collector.store, issued.collector.survey, issued.collector.number
    code, late = codes(issued, 2)
    token = issued.token(code)
    issued.take(issued.report(token))
    turn(store, asked, Stage.CLOSED)
    assert isinstance(found := issued.device(late).exchange(), Reply) and found.reason == "closed"
    turn(store, asked, Stage.ARCHIVED)
    assert counted(issued) == 1  # results stay
    Collector(asked, store)  # and can be read
    with store.view() as view:
        assert not any(view.run(f"SELECT * FROM {table}") for table in ("issuers", "invitations", "spent"))
    assert issued.take(issued.report(token)) == ["closed"]
    delete(store, asked)
    with pytest.raises(InvalidParameter, match="not in this database"):
        check_keys(store, asked, store.register(asked)[0])
    assert number == 1


def test_keys_belong_to_the_survey(store: Store) -> None:
    asked = invited(store)
    assert asked.fingerprint != survey(ONE).fingerprint
    assert dn.Survey.from_json(asked.to_json()).fingerprint == asked.fingerprint
    assert make_keys(store, survey(ONE)) == asked.invitations.keys  # type: ignore[union-attr]  # asked again, the same
    assert '"invitations"' not in survey(ONE).to_json()
    store.register(asked)
    with pytest.raises(InvalidParameter, match="already been served"):
        make_keys(store, replace(survey(ONE)))
    with pytest.raises(dn.SurveyMismatch):
        store.register(survey(ONE))
    with pytest.raises(InvalidParameter, match="open to everybody"):
        make_invitations(store, survey(ONE), 1)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("keys = []", "keys must be"),
        ('keys = ["x"]', "keys must be"),
        (f'keys = ["{"a" * 64}", "{"a" * 64}"]', "different"),
        (f'keys = ["{"a" * 64}"]\ndelay = -1', "delay must be"),
        (f'keys = ["{"a" * 64}"]\ndelay = 1.5', "delay must be"),
        (f'keys = ["{"a" * 64}"]\nmore = 1', "has the keys"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(table: str, problem: str) -> None:
    with pytest.raises(dn.InvalidSurvey, match=f"line .*{problem}"):
        survey(f"{ONE}\n[invitations]\n{table}\n")


def test_the_code_of_a_link() -> None:
    assert code_of("https://x.example/s/#invitation=abc_-1") == code_of(" abc_-1 ") == "abc_-1"
    for wrong in ("", "https://x.example/#", "https://x.example/#token=abc", "ä", "x" * 101):
        with pytest.raises(InvalidParameter, match="not an invitation"):
            code_of(wrong)


def test_a_device_without_an_invitation_says_so(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store.db"))
    issued = Issued(invited(store), store)
    with pytest.raises(InvalidParameter, match="for invited people"):
        issued.device(None).exchange()
    assert Invitations.from_spec(issued.collector.survey.invitations.spec()) == issued.collector.survey.invitations  # type: ignore[union-attr]
    store.close()

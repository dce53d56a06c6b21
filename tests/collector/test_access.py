"""Tokens of a survey: named, listed, expiring, revoked one at a time, rotated without a gap; and limits on reports."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.collector import Collector, opened
from deniable.collector.access import (
    Gate,
    RateLimit,
    Senders,
    gates_of,
    new_token,
    revoke_role,
    revoke_token,
    rotate_token,
)
from deniable.collector.app import App
from deniable.collector.serve import application
from deniable.collector.service import Limits
from deniable.collector.tokens import Role, hash_of
from tests.collector.test_app import BATCH, get, made, post, refused, report, run
from tests.surveys import COMMUTE, ONE, survey
from tests.waits import finished

pytestmark = pytest.mark.needs("starlette")
NewStore = Callable[[], str]


def bearer(token: str) -> bytes:
    return f"Bearer {token}".encode()


def test_a_token_opens_its_role(tmp_path: Path) -> None:
    for app in made(tmp_path, ONE):
        store = app.collector.store
        submit, read, batch = (new_token(store, "one", role) for role in ("submit", "results", "batch"))
        with store.view() as view:
            assert {token.hash for token in view.tokens("one")} == {hash_of(submit), hash_of(read), hash_of(batch)}
        locked = application(app.collector.survey, store)
        body = report(app)
        for headers in ({}, {"authorization": "Bearer x"}, {"authorization": submit}, {"authorization": f"Bearer {read}"}):
            answer = post(locked, body, headers=headers)
            refused(answer, 401, "no-token")
            assert answer.headers["www-authenticate"] == "Bearer"
        for token in (submit, batch):
            assert post(locked, body, headers={"authorization": f"Bearer {token}"}).status == 200
        for path in ("/v1/results", "/v1/tallies", "/metrics"):
            refused(get(locked, path), 401, "no-token")
            refused(get(locked, path, authorization=f"Bearer {submit}"), 401, "no-token")
            assert get(locked, path, authorization=f"bearer {read}").status == 200
        for path in ("/v1/survey", "/health/live", "/health/ready", "/openapi.json"):
            assert get(locked, path).status == 200


def test_a_token_belongs_to_one_survey(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        token = new_token(store, "one", "results")
        Collector(survey(ONE), store)
        Collector(survey(COMMUTE), store)
        assert gates_of(store, "one")["results"].opens(bearer(token))
        other = gates_of(store, "commute-2026")["results"]
        assert not other and not other.opens(bearer(token))


def test_one_token_is_revoked_and_the_others_stay(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        app, relay = new_token(store, "one", "submit", "app"), new_token(store, "one", "submit", "relay")
        with pytest.raises(dn.InvalidParameter, match="already exists"):
            new_token(store, "one", "submit", "app")
        assert revoke_token(store, "one", "app").hash == hash_of(app)
        gate = gates_of(store, "one")["submit"]
        assert not gate.opens(bearer(app)) and gate.opens(bearer(relay))
        with pytest.raises(dn.InvalidParameter, match="No valid token"):
            revoke_token(store, "one", "app")
        assert revoke_token(store, "one", hash_of(relay).hex()[:8]).name == "relay"
        with store.view() as view:
            found = view.tokens("one")
        assert [(token.name, token.status(time.time())) for token in found] == [("app", "revoked"), ("relay", "revoked")]


def test_names_are_free_again_and_given_where_none_is(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        for _ in range(2):
            new_token(store, "one", "submit")
        revoke_token(store, "one", "submit-1")
        new_token(store, "one", "submit")
        with store.view() as view:
            found = sorted((token.name, token.status(0)) for token in view.tokens("one"))
        assert found == [("submit-1", "revoked"), ("submit-1", "valid"), ("submit-2", "valid")]


def test_what_was_closed_stays_closed_when_the_last_token_is_gone(new_store: NewStore) -> None:
    address = new_store()
    for ending in ("revoked", "expired", "all of the role"):
        name = f"survey {ending}"
        with opened(address) as store:
            assert not gates_of(store, name)["submit"]
            expires = int(time.time()) - 1 if ending == "expired" else None
            token = new_token(store, name, "submit", "only", expires)
            if ending == "revoked":
                revoke_token(store, name, "only")
            if ending == "all of the role":
                assert revoke_role(store, name, "submit") == 1
        with opened(address) as store:  # after a restart too
            gate = gates_of(store, name)["submit"]
            assert gate and not gate.opens(bearer(token))


def test_a_token_expires(new_store: NewStore) -> None:
    now = time.time()
    with opened(new_store()) as store:
        token = new_token(store, "one", "results", expires=int(now) + 100)
        gate = gates_of(store, "one", clock=lambda: now)["results"]
        assert gate.opens(bearer(token))
        now += 200  # without any look at the store
        assert gate and not gate.opens(bearer(token))


def test_a_token_is_rotated_without_a_gap(new_store: NewStore) -> None:
    now = time.time()
    with opened(new_store()) as store:
        first = new_token(store, "one", "submit", "app")
        second, old = rotate_token(store, "one", "app", overlap=3600)
        assert old.hash == hash_of(first)
        gate = gates_of(store, "one", clock=lambda: now)["submit"]
        assert gate.opens(bearer(first)) and gate.opens(bearer(second))
        now += 3700
        assert not gate.opens(bearer(first)) and gate.opens(bearer(second))


def test_new_and_revoked_tokens_count_without_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.work.RENEWED", 0.01)
    for app in made(tmp_path, ONE):
        store = app.collector.store
        first = new_token(store, "one", "results")
        locked = application(app.collector.survey, store)

        async def until(reached: Callable[[], bool]) -> None:
            async with asyncio.timeout(30):
                while not reached():
                    await asyncio.sleep(0.01)

        async def scenario(locked: App = locked, first: str = first) -> None:
            rest: Any = locked._rest
            store = locked.collector.store
            async with rest.router.lifespan_context(rest):
                assert not locked.submit_gate and locked.read_gate.opens(bearer(first))
                roles: tuple[Role, ...] = ("submit", "results", "batch")
                submit, second, batch = [await asyncio.to_thread(new_token, store, "one", role) for role in roles]
                gates = {submit: locked.submit_gate, second: locked.read_gate, batch: locked.batch_gate}
                await until(lambda: all(gate.opens(bearer(token)) for token, gate in gates.items()))
                assert locked.submit_gate and locked.read_gate.opens(bearer(first))
                for role in roles:
                    await asyncio.to_thread(revoke_role, store, "one", role)
                await until(lambda: not any(gate.opens(bearer(token)) for token, gate in gates.items()))
                assert locked.submit_gate and locked.read_gate  # nothing opens by itself

        finished(scenario())


# Limits count reports


def test_a_rate_counts_reports() -> None:
    now = 0.0
    limit = RateLimit(2, lambda: now, most=3)
    assert [limit.allows(b"a") for _ in range(5)] == [True] * 4 + [False]
    assert limit.allows(b"b", 4) and not limit.allows(b"b", 1) and not limit.allows(b"c", 5)
    now = 0.5
    assert [limit.allows(b"a") for _ in range(2)] == [True, False]
    for name in (b"c", b"d", b"e", b"f"):
        limit.allows(name)
    assert limit.allows(b"a")  # forgotten, not remembered for ever


def test_an_address_has_a_rate_whatever_the_requests_hold(tmp_path: Path) -> None:
    for app in made(tmp_path, ONE, replace(Limits(), rate=5.0)):
        assert app.address_rate is not None and app.token_rate is None
        app.address_rate = RateLimit(5.0, lambda: 0.0)  # time stands still
        refused(post(app, b"".join(report(app) for _ in range(11))), 413, "too-large")  # more than it may ever send at once
        assert post(app, b"".join(report(app) for _ in range(7))).status == 200
        refused(post(app, b"".join(report(app) for _ in range(4))), 429, "too-often")
        assert [post(app, report(app)).status for _ in range(4)] == [200, 200, 200, 429]
        assert post(app, report(app), headers=BATCH).status == 200  # a token has a limit of its own


def test_a_token_has_a_rate(tmp_path: Path) -> None:
    for app in made(tmp_path, ONE, replace(Limits(), token_rate=50.0)):
        assert app.token_rate is not None and app.address_rate is None
        app.token_rate, asked = RateLimit(50.0, lambda: 0.0), app.collector.survey
        refused(post(app, asked.batch({"town": ["Nice"] * 101}, 101), headers=BATCH), 413, "too-large")
        assert post(app, asked.batch({"town": ["Nice"] * 60}, 60), headers=BATCH).status == 200
        refused(post(app, asked.batch({"town": ["Nice"] * 41}, 41), headers=BATCH), 429, "too-often")
        assert post(app, report(app)).status == 200


def test_requests_at_once_are_charged_one_by_one(tmp_path: Path) -> None:
    for app in made(tmp_path, ONE):
        app.address_rate = RateLimit(5.0, lambda: 0.0)
        request = [("POST", "/v1/reports", report(app), {"content-type": "application/octet-stream"}) for _ in range(30)]
        assert sum(answer.status == 200 for answer in run(app, *request)) == 10


def test_senders_are_names_that_say_nothing() -> None:
    one, other = Senders(), Senders()
    assert one.by_address("192.0.2.1") == one.by_address("192.0.2.1") == one.by_address("::ffff:192.0.2.1")
    assert one.by_address("192.0.2.1") not in (one.by_address("192.0.2.2"), other.by_address("192.0.2.1"))
    assert one.by_address("2001:db8::1") == one.by_address("2001:db8::ffff") != one.by_address("2001:db8:0:1::1")
    assert b"192" not in one.by_address("192.0.2.1")


def test_a_gate_that_is_always_open_to_some() -> None:
    gate = Gate([hash_of("one")])
    assert gate and gate.opens(b"bearer one") and not gate.opens(b"one") and not gate.opens(None)
    assert gate.renew([]).opens(b"Bearer one")

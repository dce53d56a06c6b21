"""Several surveys in one server: own paths, tokens and results, one store and one writer."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.collector import Collector, Store, open_store, results
from deniable.collector.access import new_token, revoke_token
from deniable.collector.app import App
from deniable.collector.serve import application
from deniable.collector.service import Limits, Shared
from deniable.collector.site import Site
from deniable.collector.work import working_beside
from deniable.survey.message import MEDIA_TYPE
from tests.collector.test_app import Answer, call, refused, working
from tests.surveys import COMMUTE, ONE, several, survey

pytestmark = pytest.mark.needs("starlette")
ANSWERS: dict[str, Any] = {"one": {"town": "Nice"}, "commute-2026": {"mode": "bus", "minutes": 3}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    place = open_store(str(tmp_path / "store.db"))
    yield place
    place.close()


def site_of(store: Store, *texts: str, prefix: str = "", limits: Limits | None = None) -> Site:
    """A site whose results anyone may read."""
    site = Site(store, Shared(limits), prefix=prefix)
    for text in texts:
        site.add(application(survey(text), store, open_results=True, shared=site.shared))
    return site


def asked(site: Site, *requests: tuple[Any, ...]) -> list[Answer]:
    async def all_of_them() -> list[Answer]:
        async with working(site.shared):
            return list(await asyncio.gather(*(call(site, *request) for request in requests)))

    return asyncio.run(all_of_them())


def posted(app: App, path: str | None = None, body: bytes | None = None) -> tuple[Any, ...]:
    one = app.collector.survey
    report = dn.Device(one).answer(ANSWERS[one.id]) if body is None else body
    return ("POST", f"/s/{one.id}/v1/reports" if path is None else path, report, {"content-type": MEDIA_TYPE})


def people(app: App) -> int:
    return results(app.collector.survey, app.collector.number, app.collector.store).people


def test_each_survey_has_its_own_path_and_results(store: Store) -> None:
    site = site_of(store, ONE, COMMUTE)
    one, commute = site.apps
    answers = asked(site, *[posted(one)] * 3, *[posted(commute)] * 2, posted(one), posted(commute, "/s/one/v1/reports"))
    assert [answer.status for answer in answers[:-1]] == [200] * 6
    refused(answers[-1], 409, "other-survey")
    assert (people(one), people(commute)) == (2, 1)  # a report that comes again is counted once
    for app in site.apps:
        name = app.collector.survey.id
        (found, page, spec) = asked(site, *(("GET", f"/s/{name}{path}") for path in ("/v1/results", "/", "/v1/survey")))
        assert found.data()["survey"] == name and found.data()["people"] == people(app)
        assert page.headers["content-type"].startswith("text/html") and spec.data()["survey"]["id"] == name
    lost, root = asked(site, ("GET", "/s/two/v1/results"), ("POST", "/v1/reports", b"", {}))
    refused(lost, 404, "not-found")
    refused(root, 404, "not-found")


def test_one_survey_is_at_the_root_too(store: Store) -> None:
    site = Site(store, Shared())
    site.add(application(survey(ONE), store, open_results=True, shared=site.shared), first=True)
    (one,) = site.apps
    answers = asked(site, posted(one), posted(one, "/v1/reports"), ("GET", "/"), ("GET", "/s/one/"))
    assert [answer.status for answer in answers] == [200] * 4 and people(one) == 2
    assert answers[2].body == answers[3].body


@pytest.mark.parametrize("taken_off", [True, False])
def test_a_proxy_may_put_a_path_before_everything(taken_off: bool, store: Store) -> None:
    site = site_of(store, ONE, prefix="/asked/here/")
    (one,) = site.apps
    before = "" if taken_off else "/asked/here"
    answers = asked(site, posted(one, f"{before}/s/one/v1/reports"), ("GET", f"{before}/"), ("GET", f"{before}/s/one"))
    assert [answer.status for answer in answers] == [200, 200, 308] and people(one) == 1
    assert answers[2].headers["location"] == "one/"  # relative, so that it leads to the right place behind any proxy
    refused(asked(site, ("GET", "/asked/herewith/"))[0], 404, "not-found")


def test_a_token_opens_one_survey(store: Store) -> None:
    for text in (ONE, COMMUTE):
        store.register(survey(text))
    tokens = {name: new_token(store, name, "results", "first") for name in ANSWERS}
    site = Site(store, Shared())
    for text in (ONE, COMMUTE):
        site.add(application(survey(text), store, shared=site.shared))

    def status(name: str, token: str) -> int:
        return asked(site, ("GET", f"/s/{name}/v1/results", b"", {"authorization": f"Bearer {token}"}))[0].status

    assert [status(name, tokens[other]) for name in ANSWERS for other in ANSWERS] == [200, 401, 401, 200]
    revoke_token(store, "one", "first")

    async def look() -> None:
        async with working_beside(lambda: site.apps):
            while status_now("one") == 200:
                await asyncio.sleep(0.05)

    def status_now(name: str) -> int:
        return 200 if site.apps[0].read_gate.opens(f"Bearer {tokens[name]}".encode()) else 401

    asyncio.run(asyncio.wait_for(look(), 30))
    assert (status("one", tokens["one"]), status("commute-2026", tokens["commute-2026"])) == (401, 200)
    assert status("one", "") == 401  # the last one revoked opens nothing


def test_a_survey_in_trouble_does_not_stop_the_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    site = site_of(store, ONE, COMMUTE)
    one, commute = site.apps

    def broken(messages: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(one.collector, "group", broken)
    monkeypatch.setattr(one.collector, "take", broken)
    answers = asked(site, *(request for _ in range(5) for request in (posted(one), posted(commute))))
    assert {answer.status for answer in answers[::2]} == {503} and {answer.status for answer in answers[1::2]} == {200}
    assert (people(one), people(commute)) == (0, 5)


def test_surveys_are_counted_in_one_transaction(store: Store) -> None:
    texts = [several(3, 4, identity=f"survey-{place}") for place in range(6)]
    site, commits = site_of(store, *texts), list[int]()
    change = store.change

    def counted() -> Any:
        commits.append(1)
        return change()

    store.change = counted  # type: ignore[method-assign]
    bodies = {app: dn.Device(app.collector.survey).answer({"q0": 1, "q1": 2}) for app in site.apps}

    async def together() -> list[Answer]:
        loop = asyncio.get_running_loop()
        sent = [asyncio.ensure_future(call(site, *posted(app, body=body))) for app, body in bodies.items()]
        site.shared.writer._loop = loop  # the queue fills before the writer begins
        await asyncio.sleep(0.05)
        commits.clear()
        async with working(site.shared):
            return list(await asyncio.gather(*sent))

    answers = asyncio.run(together())
    assert {answer.status for answer in answers} == {200} and [people(app) for app in site.apps] == [1] * 6
    tidied = len(site.apps)  # each survey is tidied once, in a transaction of its own
    assert len(commits) <= 1 + tidied


def test_a_survey_is_taken_away(store: Store) -> None:
    site = site_of(store, ONE, COMMUTE)
    one, commute = site.apps
    asked(site, posted(one))
    site.remove("one")
    answers = asked(site, posted(one), posted(commute))
    refused(answers[0], 404, "not-found")
    assert answers[1].status == 200 and people(one) == 1  # what is stored stays
    assert Collector(survey(ONE), store).number == one.collector.number


def test_the_index_lists_what_is_listed_and_escapes_it(store: Store) -> None:
    title = '<script>alert("x")</script> & more'
    text = ONE.replace("[survey]", f"[survey]\ntitle = '{title}'")
    site = site_of(store, text, COMMUTE)
    (empty,) = asked(site, ("GET", "/"))
    assert b"No survey is listed here" in empty.body and b"s/one/" not in empty.body
    site.apps[0].listed = True
    (page,) = asked(site, ("GET", "/"))
    assert page.status == 200 and b'href="s/one/"' in page.body and b"commute" not in page.body
    assert b"<script>" not in page.body and b"&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; more" in page.body
    assert "default-src 'none'" in page.headers["content-security-policy"]
    live, ready, style = asked(site, *(("GET", path) for path in ("/health/live", "/health/ready", "/pages/style.css")))
    assert (live.status, ready.status, style.status) == (200, 200, 200)


def test_rates_of_surveys_do_not_mix(store: Store) -> None:
    site = site_of(store, ONE, COMMUTE, limits=Limits(rate=0.5))
    one, commute = site.apps
    answers = asked(site, posted(one), posted(commute))
    assert [answer.status for answer in answers] == [200, 200]
    refused(asked(site, posted(one))[0], 429, "too-often")

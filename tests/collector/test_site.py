"""Several surveys in one server: own paths, tokens and results, one store and one writer."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

import deniable as dn
from deniable.collector import Collector, Store, lifecycle, open_store, results
from deniable.collector.access import new_token, revoke_token
from deniable.collector.app import App
from deniable.collector.folder import Folder
from deniable.collector.serve import application
from deniable.collector.service import Limits, Shared
from deniable.collector.site import Site
from deniable.collector.stages import Stage
from deniable.collector.tokens import SERVER
from deniable.collector.work import look, working_beside
from deniable.survey.message import MEDIA_TYPE
from tests.collector.test_app import Answer, call, refused, working
from tests.surveys import COMMUTE, ONE, several, survey
from tests.waits import finished

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

    return finished(all_of_them())


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


def test_what_fails_once_is_done_again(store: Store) -> None:
    """A database that is away for a moment, or a bug, must not end what is done for as long as the server runs."""
    troubles: list[Exception] = [dn.Unavailable("The database cannot be read."), ValueError("a bug")]
    done = threading.Event()

    def job() -> None:
        if troubles:
            raise troubles.pop()
        done.set()

    async def work() -> bool:
        async with working_beside(list, (0.001, job)):
            return await asyncio.to_thread(done.wait, 30)

    assert finished(work())


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

    async def look_on() -> None:
        async with working_beside(lambda: site.apps):
            while status_now("one") == 200:
                await asyncio.sleep(0.05)

    def status_now(name: str) -> int:
        return 200 if site.apps[0].read_gate.opens(f"Bearer {tokens[name]}".encode()) else 401

    finished(look_on())
    assert [status(name, tokens[other]) for name in ANSWERS for other in ANSWERS] == [401, 401, 401, 200]
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

    answers = finished(together())
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
    lifecycle.show(store, survey(text), True)
    look(site.apps)
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


# A folder of files


def served_folder(folder: Path, store: Store) -> tuple[Site, Folder]:
    site = Site(store, Shared())
    made = Folder(folder, site, lambda one, file: application(one, store, open_results=True, shared=site.shared))
    made.look()
    return site, made


def ids(site: Site) -> list[str]:
    return sorted(app.collector.survey.id for app in site.apps)


def test_new_files_are_served_and_bad_ones_stop_nobody(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "surveys"
    folder.mkdir()
    (folder / "a.toml").write_text(ONE)
    (folder / "bad.toml").write_text("[survey]\nid = 3")
    (folder / "copy.toml").write_text(ONE)
    (folder / "notes.txt").write_text("not a survey")
    with caplog.at_level("INFO"):
        site, files = served_folder(folder, store)
        assert ids(site) == ["one"] and {path.name for path in files.refused} == {"bad.toml", "copy.toml"}
        assert "already" in files.refused[folder / "copy.toml"]
        assert "event=survey-refused file=bad.toml" in caplog.text and "event=added survey=one" in caplog.text
        (folder / "b.toml").write_text(several(3, identity="second"))
        (folder / "bad.toml").write_text(several(4, identity="third"))  # it was corrected
        files.look()
        assert ids(site) == ["one", "second", "third"] and set(files.refused) == {folder / "copy.toml"}
        (folder / "b.toml").unlink()
        files.look()
        assert "second" in ids(site)  # an editor may be replacing the file
        files.look()
        assert ids(site) == ["one", "third"] and "event=removed survey=second" in caplog.text
    refused(asked(site, ("GET", "/s/second/"))[0], 404, "not-found")


def test_a_changed_file_is_refused_unless_it_is_a_draft(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "surveys"
    folder.mkdir()
    store.register(survey(several(3, identity="draft")), draft=True)
    (folder / "draft.toml").write_text(several(3, identity="draft"))
    (folder / "one.toml").write_text(ONE)
    site, files = served_folder(folder, store)
    first = {app.collector.survey.id: app.collector.survey.fingerprint for app in site.apps}
    draft = next(app for app in site.apps if app.collector.survey.id == "draft")
    body = dn.Device(draft.collector.survey).answer({"q0": 1})
    refused(asked(site, posted(draft, body=body))[0], 425, "draft")
    (folder / "draft.toml").write_text(several(4, identity="draft"))
    (folder / "one.toml").write_text(ONE.replace("Metz", "Nancy"))
    files.look()
    now = {app.collector.survey.id: app.collector.survey.fingerprint for app in site.apps}
    assert now["one"] == first["one"] and now["draft"] != first["draft"]
    assert "give the new one its own id" in files.refused[folder / "one.toml"]
    draft = next(app for app in site.apps if app.collector.survey.id == "draft")
    lifecycle.turn(store, draft.collector.survey, Stage.OPEN)
    body = dn.Device(draft.collector.survey).answer({"q0": 1})
    assert asked(site, posted(draft, body=body))[0].status == 200
    with pytest.raises(dn.InvalidParameter, match="is open and cannot become draft"):
        lifecycle.turn(store, draft.collector.survey, Stage.DRAFT)


def test_an_unchanged_file_is_not_planned_again(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "surveys"
    folder.mkdir()
    (folder / "one.toml").write_text(ONE)
    first, _ = served_folder(folder, store)
    monkeypatch.setattr(dn.Survey, "load", lambda path: pytest.fail("planned again"))
    again, _ = served_folder(folder, store)
    assert [app.collector.survey.fingerprint for app in again.apps] == [first.apps[0].collector.survey.fingerprint]


def test_the_status_shows_a_corrected_title_and_the_survey_stays(store: Store) -> None:
    wrong, right = (ONE.replace("[survey]", f'[survey]\ntitle = "{title}"') for title in ("Twons", "Towns"))
    site = site_of(store, wrong)
    (one,) = site.apps
    (before,) = asked(site, ("GET", "/s/one/v1/survey"))
    lifecycle.correct_title(store, survey(right))
    lifecycle.close(store, one.collector.survey)
    look(site.apps)
    status, after = asked(site, ("GET", "/s/one/v1/status"), ("GET", "/s/one/v1/survey"))
    assert status.data() == {
        "survey": "one", "fingerprint": one.collector.survey.fingerprint, "title": "Towns", "stage": "closed",
        "needs_token": False, "results": "open",
    }  # fmt: skip
    assert after.body == before.body  # the device's proof and fingerprint are of these bytes


def test_stages_follow_each_other(store: Store) -> None:
    one = survey(ONE)
    store.register(one, draft=True)
    for stage in (Stage.CLOSED, Stage.ARCHIVED):
        with pytest.raises(dn.InvalidParameter, match="is draft and cannot become"):
            lifecycle.turn(store, one, stage)
    steps = [Stage.OPEN, Stage.CLOSED, Stage.OPEN, Stage.ARCHIVED, Stage.ARCHIVED]
    assert [lifecycle.turn(store, one, stage) for stage in steps] == [Stage.DRAFT, *steps[:4]]
    for stage in (Stage.OPEN, Stage.CLOSED, Stage.DRAFT):
        with pytest.raises(dn.InvalidParameter, match="ids of its reports are deleted"):
            lifecycle.turn(store, one, stage)


def test_the_metrics_of_all_surveys_are_at_the_root(store: Store) -> None:
    """With a token of the server all of them, with one of a survey that survey's, without any nothing."""
    site = Site(store, Shared())
    own = {name: new_token(store, name, "results") for name in ("one", "commute-2026")}
    for text in (ONE, COMMUTE):
        site.add(application(survey(text), store, shared=site.shared))
    server = new_token(store, SERVER, "results")
    finished(_renewed(site))

    def seen(token: str | None) -> set[str]:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        (answer,) = asked(site, ("GET", "/metrics", b"", headers))
        if answer.status != 200:
            refused(answer, 401, "no-token")
            return set()
        families = list(text_string_to_metric_families(answer.body.decode()))
        assert len({family.name for family in families}) == len(families), "each is described once"
        return {sample.labels["survey"] for family in families for sample in family.samples}

    assert seen(server) == {"one", "commute-2026"}
    assert seen(own["one"]) == {"one"} and seen(own["commute-2026"]) == {"commute-2026"}
    assert seen(None) == seen("wrong") == set()
    (answer,) = asked(site, ("GET", "/s/one/v1/results", b"", {"authorization": f"Bearer {server}"}))
    refused(answer, 401, "no-token")  # it opens nothing else
    revoke_token(store, SERVER, "results-1")
    finished(_renewed(site))
    assert seen(server) == set()


async def _renewed(site: Site) -> None:
    for _, job in site.jobs:
        job()


def test_the_server_describes_itself_without_naming_surveys(store: Store) -> None:
    site = site_of(store, ONE, COMMUTE)
    (answer,) = asked(site, ("GET", "/openapi.json"))
    described = answer.data()
    assert described["openapi"] == "3.1.0" and "commute" not in answer.body.decode()
    places = {"survey": "one", "name": "style.css"}
    for path, about in described["paths"].items():
        (found,) = asked(site, ("GET", path.format(**places)))
        assert str(found.status) in about["get"]["responses"], path
        assert found.status == 200 or path.startswith("/health"), path


def test_a_survey_may_have_limits_of_its_own(store: Store) -> None:
    site = site_of(store, ONE, COMMUTE, limits=Limits(rate=100.0, body=1 << 20))
    one, other = site.apps
    assert one.address_rate is other.address_rate is site.shared.address_rate
    lifecycle.limit(store, one.collector.survey, {"rate": 1.0, "body": 200, "people": 2})
    look(site.apps)
    assert (one.limits.rate, one.limits.body, one.limits.people) == (1.0, 200, 2)
    assert other.limits == site.shared.limits and other.address_rate is site.shared.address_rate
    bodies = [dn.Device(one.collector.survey).answer(ANSWERS["one"]) for _ in range(6)]
    refused(asked(site, posted(one, body=b"".join(bodies)))[0], 413, "too-large")
    found = [asked(site, posted(one, body=body))[0].status for body in bodies[:4]]
    assert found[:2] == [200, 200] and 429 in found[2:]
    assert [asked(site, posted(other))[0].status for _ in range(4)] == [200] * 4
    lifecycle.limit(store, one.collector.survey, {"body": 1 << 30, "rate": 0})
    look(site.apps)
    assert one.limits.body == 1 << 20 and one.address_rate is None and one.limits.people == 1000
    lifecycle.limit(store, one.collector.survey, None)
    look(site.apps)
    assert one.limits == site.shared.limits and one.address_rate is site.shared.address_rate

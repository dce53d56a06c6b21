"""The JavaScript client in a real browser: the same bytes as in Python, and a ledger that survives what browsers do."""

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import deniable as dn
from deniable.survey.law_document import law_json
from tests import ROOT
from tests.browsers import PATIENCE, settled

pytestmark = pytest.mark.needs("playwright", "chromium")
SURVEYS: list[dict[str, Any]] = json.loads((ROOT / "vectors" / "surveys.json").read_text())
for each in SURVEYS:
    each["law"] = law_json(dn.Survey.from_json(each["survey"]))
COMMUTE = next(each for each in SURVEYS if each["name"] == "commute")

ANSWER = """async ({ survey, law, answers }) => {
  const { Device, Survey, openLedger } = await import("/packages/deniable/src/deniable/collector/web/deniable.js");
  const ledger = await openLedger();
  const device = new Device(Survey.parse(survey, { law }), { ledger });
  let error = null;
  try { await device.answer(answers); } catch (caught) { error = caught.name; }
  const message = Array.from(await device.message()).join();
  return { kind: ledger.kind, lasting: ledger.lasting, error, message };
}"""
AGREE = """async (vectors) => {
  const { Survey } = await import("/js/src/index.js");
  const { SeededCoins } = await import("/js/src/seeded.js");
  const { hex, unhex } = await import("/js/src/bytes.js");
  return vectors.filter(({ survey, law, fingerprint, seed, answers, now, id, message }) => {
    const read = Survey.parse(survey, { law }), coins = new SeededCoins(seed), part = read.drawPart(coins);
    return hex(read.randomize(answers, { coins, part, now, id: unhex(id) })) !== message || read.fingerprint !== fingerprint;
  }).map(({ name }) => name);
}"""
BLOCKED = """for (const name of NAMES) {
  Object.defineProperty(globalThis, name, { get() { throw new DOMException("blocked", "SecurityError"); } });
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(ROOT))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/js/"
        server.shutdown()


def opened(browser: Any, address: str, *blocked: str) -> Any:
    context = browser.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    if blocked:
        page.add_init_script(BLOCKED.replace("NAMES", json.dumps(blocked)))
    page.goto(address)
    return page


def test_all_surveys_agree_to_the_byte(browser: Any, address: str) -> None:
    assert settled(opened(browser, address), AGREE, SURVEYS) == []


def test_a_reload_and_other_tabs_find_the_same_report(browser: Any, address: str) -> None:
    page = opened(browser, address)
    first = settled(page, ANSWER, COMMUTE)
    assert (first["kind"], first["lasting"], first["error"]) == ("indexeddb", True, None)
    page.reload()
    tab = page.context.new_page()
    tab.goto(address)
    for again in (page, tab):
        assert settled(again, ANSWER, COMMUTE) == first | {"error": "BudgetSpent"}


@pytest.mark.parametrize("blocked", [(), ("indexedDB",)], ids=["indexeddb", "localstorage"])
def test_tabs_that_answer_at_once_make_one_report(browser: Any, address: str, blocked: tuple[str, ...]) -> None:
    page = opened(browser, address, *blocked)
    both = f"async (vector) => Promise.all([1, 2, 3].map(() => ({ANSWER})(vector)))"
    found = settled(page, both, COMMUTE)
    assert sorted(str(each["error"]) for each in found) == ["BudgetSpent", "BudgetSpent", "None"]
    assert len({each["message"] for each in found}) == 1


def test_blocked_storage_is_said(browser: Any, address: str) -> None:
    page = opened(browser, address, "indexedDB", "localStorage")
    assert settled(page, ANSWER, COMMUTE)["lasting"] is False

"""How long an exchange and a report take in Chromium: `python -m tests.invitations.browser_times`."""

import json
import tempfile
from pathlib import Path

from deniable.collector import opened
from deniable.collector.invited import make_invitations, make_keys, prepare_keys
from deniable.survey.reading import parse_toml
from research.experiments.invitations import TEXT
from tests.browsers import chromium, site

SCRIPT = """async ([base, code]) => {
  const { Device, Survey, openLedger } = await import(`${base}/pages/deniable.js`);
  const { Invitation, withToken } = await import(`${base}/pages/invitation.js`);
  const survey = await Survey.fetch(base);
  const ledger = await openLedger();
  const device = new Device(survey, { ledger });
  await device.answer({ town: "Nice" });
  const start = performance.now();
  const { token } = await new Invitation(survey, ledger).right(base, code);
  const between = performance.now();
  const { state } = await device.send(base, { seal: (message) => withToken(message, token) });
  return { exchange: between - start, report: performance.now() - between, state };
}"""


def browser_times(visits: int = 15) -> list[dict[str, float]]:
    """Milliseconds of exchange and report in Chromium, each in a browser profile of its own; the survey's delay is 0."""
    found = []
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        with opened(str(folder / "store.db")) as store:
            listed = json.dumps(make_keys(store, parse_toml(TEXT, "survey")))
        with site(f"{TEXT}\n[invitations]\nkeys = {listed}\ndelay = 0\n", folder) as running:
            collector = running.app.collector
            prepare_keys(collector.store, collector.survey)  # as `deniable serve` does before it is ready
            for code in make_invitations(collector.store, collector.survey, visits):
                context = browser.new_context(base_url=running.url)
                page = context.new_page()
                page.goto("/results")
                made = page.evaluate(SCRIPT, [running.url, code])
                assert made.pop("state") == "sent", made
                found.append(made)
                context.close()
    return found


def main() -> None:
    """Print the median and the slowest."""
    times = sorted(browser_times(), key=lambda each: each["exchange"] + each["report"])
    for name, place in (("median", len(times) // 2), ("slowest", -1)):
        print(f"{name} in Chromium: " + ", ".join(f"{what} {value:.0f} ms" for what, value in times[place].items()))


if __name__ == "__main__":
    main()

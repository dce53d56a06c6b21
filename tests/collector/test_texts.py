"""The texts of the pages: complete in every language, with the same gaps, chosen by people, and none beside the table."""

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import texts, verdicts
from deniable.collector.glance import sentence
from deniable.collector.static import all_files, page_in
from deniable.collector.trends import spending
from deniable.core import Estimate
from tests import ROOT
from tests.collector.test_app import get, made
from tests.surveys import ONE, survey

pytestmark = pytest.mark.needs("starlette")

WEB = ROOT / "packages/deniable/src/deniable/collector/web"
BUILT = {
    "deniable",
    "reports",
    "estimate",
    "invitation",
    "strings",
    "repeated",
    "friends",
    "mix",
}  # of js/: what it says is recognized
PAGES = {"answer": "/", "results": "/results", "try": "/try"}
GAP = re.compile(r"\{(\w+)(?:\|([^{}]*))?\}")
FAMILIAR = {
    "de": "du|dich|dir|deine?[rmn]?",
    "fr": "tu|te|toi|ton|ta|tes",
    "es": "tú|te|ti|tus?",
}  # pages say Sie, vous, usted
ROWS = {part: texts.table(part) for part in texts.PARTS}


def sources() -> dict[str, str]:
    """The scripts of the pages, without comments."""
    found = {path.stem: path.read_text() for path in WEB.glob("*.js") if path.stem not in BUILT}
    return {name: re.sub(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", "", text, flags=re.DOTALL) for name, text in found.items()}


def modules_of(page: str) -> set[str]:
    """The scripts that a page loads, now or later."""
    known, found, new = sources(), set[str](), {page}
    while new:
        found |= new
        text = "".join(known.get(name, "") for name in new)
        new = {name for name in re.findall(r'(?:from |import\()"\./(\w+)\.js"', text) if name in known} - found
    return found


def test_every_text_is_there_in_every_language_with_the_same_gaps() -> None:
    for part, rows in ROWS.items():
        for name, row in rows.items():
            assert list(row) == list(texts.LANGUAGES), (part, name)
            gaps = {language: sorted(match[1] for match in GAP.finditer(text)) for language, text in row.items()}
            assert all(found == gaps["en"] for found in gaps.values()), (part, name, gaps)
            for language, text in row.items():
                assert text.strip() == text != "" and "  " not in text, (part, name, language)
                for match in GAP.finditer(text):
                    forms = [] if match[2] is None else [form.partition(":")[0] for form in match[2].split("|")]
                    assert forms in ([], ["one", "other"]), (part, name, language)
            if len(row["en"]) > 25:
                assert len(set(row.values())) == len(row), (part, name)  # none was forgotten


def test_signs_stand_as_the_language_wants_them() -> None:
    for rows in ROWS.values():
        for name, row in rows.items():
            assert not re.search(r" [:;!?»%]|« ", row["fr"]), name  # a space that does not break
            assert not re.search(r"(?<=[^.0-9]) %", row["de"] + row["es"]), name
            for language, familiar in FAMILIAR.items():
                assert not re.search(rf"\b({familiar})\b", row[language], re.IGNORECASE), (name, language)


@pytest.mark.parametrize("page", PAGES)
def test_scripts_name_texts_that_their_page_has(page: str) -> None:
    rows = ROWS["shared"] | ROWS[page] | (ROWS["people"] | ROWS["mix"] if page == "answer" else {})  # which it fetches
    for module in modules_of(page):
        if module in ("questions", "chart") and page != "answer":
            continue  # controls are not shown there; what charts say is in the shared part
        text = sources()[module]
        named = set(re.findall(r'phrase\("([\w-]+)"', text)) | {
            name
            for choice in re.findall(r"phrase\(([^,{]*?\? [^,{]*)", text)
            for name in re.findall(r'(?<=[?:] )"([\w-]+)"', choice)
        }
        assert named <= set(rows), (module, named - set(rows))


def test_no_text_is_left_over() -> None:
    code = "\n".join(sources().values())
    frames = "\n".join(path.read_text() for path in WEB.glob("*.html")) + (WEB.parent / "index.py").read_text()
    built = (ROOT / "js/src/reports.js").read_text()
    for part, rows in ROWS.items():
        for name, row in rows.items():
            if part == texts.FRAMES:
                assert f"{{{{{name}}}}}" in frames, name
            elif name.startswith(texts.REPORT):
                assert f'{name.removeprefix(texts.REPORT)}: "{row["en"]}",' in built, name  # as the client says it
            elif not name.startswith(texts.HEARD):
                start = name.partition("_")[0] + "_"
                assert f'"{name}"' in code or f"`{start}${{" in code, name


class Visible(HTMLParser):
    """What people see of a page, or hear."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attributes if name in ("aria-label", "title", "alt", "placeholder")]

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def test_no_text_is_written_into_the_html() -> None:
    for path in WEB.glob("*.html"):
        seen = Visible()
        seen.feed(path.read_text())
        words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\{\{\w+\}\}", "", " ".join(seen.found)))
        assert set(words) <= {"deniable"}, (path.name, words)


# What stands before a literal that nobody reads: an attribute, a selector, an error for whoever changes the pages.
UNREAD = re.compile(
    r'(class: [^,}]*|(\b(id|for|name|role|kind|draw|measure|d|viewBox)|"[a-z]+-[a-z]+"): |card\((phrase\([^)]*\)|title), '
    r"|new (Error|RegExp)\(|(closest|querySelector(All)?|request|matches|matchMedia)\()$"
)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`')
NAMES = {
    "share at most", "lower quartile", "upper quartile", "mean value", "another survey", "deniable token",
    "unary, symmetric", "unary, optimized", "hashing, binary", "hashing, optimized", "Authorization", "SecurityError",
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "(no answer)", "Enter",
}  # fmt: skip


def test_no_text_is_written_into_the_scripts() -> None:
    for module, text in sources().items():
        if module in ("worker", "embed"):
            continue  # they show nothing
        for match in LITERAL.finditer(text):
            literal = re.sub(r"\$\{[^}]*\}", "", match[1] or match[2] or "")
            before = text[max(0, match.start() - 120) : match.start()]
            if literal in NAMES or literal.startswith(("deniable ", "Bearer", "./", "/v1")) or UNREAD.search(before):
                continue
            assert not re.search(r"[A-Za-z]{2,} [a-z]{2,}|^[A-Z][a-z]{2,}", literal), (module, literal)


# What the library says in English


def recognized(page: str, language: str, said: list[str], folder: Path) -> list[str | None]:
    """What a page makes of these sentences."""
    script = folder / "hear.mjs"
    script.write_text(
        f"""import {{ listener }} from {json.dumps((WEB / "wording.js").as_uri())};
        const {{ texts, heard }} = {texts.spoken(page, language)};
        console.log(JSON.stringify({json.dumps(said)}.map(listener(heard, {json.dumps(language)}, texts.range))));"""
    )
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found: list[str | None] = json.loads(done.stdout)
    return found


def estimates() -> list[Estimate]:
    def shares(*values: float, error: float = 0.01) -> Estimate:
        names = ["yes, always", "no", "a or b", "never", "seldom", "often"][: len(values)]
        return Estimate(names, np.array(values), np.full(len(values), error**2), 1000)

    close = shares(0.2, 0.19, 0.2, 0.21, 0.19, 0.01)
    mean = Estimate([""], np.array([1234.5]), np.array([4.0]), 1000, measure="mean")
    return [shares(0.7, 0.3), shares(0.5, 0.49, 0.01), shares(0.9, 0.05, 0.05), shares(0.98, 0.01, 0.01), close,
            shares(0.4, 0.3, error=1.0), mean]  # fmt: skip


AGAIN = """
[survey]
id = "again"
epsilon = 2.0
opens = 2026-11-02T00:00:00Z
window = "day"
{limit}
[[question]]
id = "mode"
ask = "How did you travel?"
kind = "category"
choices = ["walk", "bus"]
repeat = "{way}"
{more}
"""


@pytest.mark.needs("node")
def test_what_the_collector_says_is_recognized(tmp_path: Path) -> None:
    repeated = [
        survey(AGAIN.format(way="permanent", limit="lifetime_epsilon = 4.0", more="")),
        survey(AGAIN.format(way="windows", limit="", more="span = 4")),
        survey(AGAIN.format(way="windows", limit="closes = 2026-12-02T00:00:00Z", more="span = 4")),
    ]
    said = [sentence(each, 0.95) for each in estimates()]
    said += [str(spending(each)["words"]) for each in repeated] + [each.unit for each in repeated] + [survey(ONE).unit]
    ordered = survey(
        """[survey]
id = "sizes"
epsilon = 4.0
[[question]]
id = "size"
ask = "Which size?"
kind = "number"
low = 0
high = 120
target = "distribution"
quantiles = [0.9]
"""
    )
    (question,) = ordered.questions
    truth = question.how.pretend(question.mechanism.domain, np.random.default_rng(1), 3000)
    found = question.how.estimate(question.mechanism, question.mechanism.tally(question.mechanism.perturb(truth)))
    said += question.how.words(found, 0.95)
    for language in ("de", "fr", "es"):
        heard = recognized("results", language, said, tmp_path)
        assert all(heard), [text for text, there in zip(said, heard, strict=True) if not there]
    german = recognized("results", "de", [said[0], "Most people are in: 46.5 to 47, 8 to 8.5 (3.5 %)."], tmp_path)
    assert german[0] == (
        "Die häufigste Antwort ist yes, always, mit 70,0\xa0% (68,0 bis 72,0). Beide Anteile heben sich vom Rauschen ab."
    )
    assert german[1] == "Die meisten Personen sind in: 46,5 bis 47, 8 bis 8,5 (3,5 %)."
    assert recognized("results", "de", ["Something else.", "12.50"], tmp_path) == [None, "12,50"]


@pytest.mark.needs("node")
def test_refusals_that_people_may_meet_are_recognized(tmp_path: Path) -> None:
    names = "NO_INVITATION EXCHANGED SPENT BAD_TOKEN CLOSED TOO_LATE TOO_EARLY DRAFT TOO_OFTEN BUSY CLOCK AWAY STARTING"
    met = [getattr(verdicts, name) for name in names.split()]
    assert all(recognized("answer", "fr", [each.detail for each in met], tmp_path))
    client = "\n".join(path.read_text() for path in (ROOT / "js/src").glob("*.js"))
    server = "\n".join(path.read_text() for path in WEB.parent.glob("*.py"))
    for name, row in ROWS["answer"].items():
        if name.startswith(texts.HEARD):  # still said so somewhere
            parts = [part for part in GAP.split(row["en"])[::3] if len(part) > 3]
            assert all(part in client or part in re.sub(r'"\s+"', "", server) for part in parts), name


# Which language


def test_the_language_is_chosen_by_the_address_the_survey_and_the_browser(tmp_path: Path) -> None:
    for app in made(tmp_path, ONE):
        plain = get(app, "/")
        assert b'<html lang="en" dir="ltr">' in plain.body and plain.headers["vary"] == "accept-encoding, accept-language"
        german = get(app, "/", **{"accept-language": "de-AT,de;q=0.9,en;q=0.8"})
        assert b'<html lang="de"' in german.body and german.headers["etag"] != plain.headers["etag"]
        assert b'href="try"' in german.body and b"<title>Umfrage</title>" in german.body
        asked = get(app, "/results?lang=fr", **{"accept-language": "de"})
        assert b'<html lang="fr"' in asked.body and b'href="try?lang=fr"' in asked.body
        for path in ("/?lang=xx", "/?lang=", "/?lang=de%3Cscript%3E"):
            assert get(app, path).body == plain.body
        again = get(app, "/", **{"accept-language": "de", "if-none-match": german.headers["etag"]})
        assert again.status == 304
    (tmp_path / "spanish").mkdir()
    for app in made(tmp_path / "spanish", ONE.replace("[survey]", '[survey]\nlanguage = "es"')):
        assert b'<html lang="es"' in get(app, "/", **{"accept-language": "de"}).body
        assert b'<html lang="de"' in get(app, "/?lang=de").body


def test_a_survey_may_say_its_language() -> None:
    plain, written = survey(ONE), survey(ONE.replace("[survey]", '[survey]\nlanguage = "pt-BR"'))
    assert plain.language is None and "language" not in plain.to_json()
    assert written.language == "pt-BR" and dn.Survey.from_json(written.to_json()).fingerprint == written.fingerprint
    with pytest.raises(dn.InvalidSurvey, match="language must be the code"):
        survey(ONE.replace("[survey]", '[survey]\nlanguage = "Deutsch!"'))


def test_pages_are_whole_in_every_language() -> None:
    assert {*PAGES.values()} <= {*all_files()}
    for language in texts.LANGUAGES:
        for page, address in PAGES.items():
            text = page_in(address, language, kept=False).plain.decode()
            assert "{{" not in text and f'hreflang="{language}" aria-current="true"' in text
            assert len(page_in(address, language, kept=False).small) < 8000, (page, language)

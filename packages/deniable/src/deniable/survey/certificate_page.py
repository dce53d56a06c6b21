"""A certificate as a page: for people, with the data in it for `deniable verify`. It loads nothing from elsewhere."""

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from deniable.survey.law import MessageLaw

_STYLE = """
body { font: 16px/1.5 Georgia, serif; color: #1a1a1a; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #ddd; }
th { font-weight: normal; color: #555; white-space: nowrap; }
code, pre { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; } pre { white-space: pre-wrap; }
li { margin: .6rem 0; } .verdict { font-size: 1.15rem; border-left: 4px solid #1b6e3c; padding-left: .8rem; }
.verdict.no { border-color: #a11; }
@media print { body { margin: 0 auto; } }
"""


def page(record: Mapping[str, Any], law: MessageLaw) -> str:
    """The page of a certificate."""
    unbounded = record["epsilon"] is None
    spent = "more than any bound" if unbounded else f"at most epsilon {record['epsilon']:.9g}"
    verdict = (
        f"This survey keeps its promise: one person who answers it discloses {spent}."
        if record["holds"]
        else f"This survey does not keep its promise: one person who answers it may disclose {spent}, "
        f"and the budget is epsilon {record['budget']:.9g}."
    )
    kind = "verdict" if record["holds"] else "verdict no"
    facts = [
        ("Survey", f"{record['asked']['survey'].get('title') or record['survey']} ({record['survey']})"),
        ("Fingerprint of the survey", record["fingerprint"]),
        ("Fingerprint of the law", record["law"]),
        ("Loss of one person, at most", "unbounded" if unbounded else f"epsilon {record['epsilon']:.12g}"),
        ("Budget", f"epsilon {record['budget']:.12g}"),
        ("Unit", record["unit"]),
        ("Proof", record["proof"]),
        ("Date", record["date"]),
        ("Made with", f"deniable {record['release']}"),
    ]
    questions = [_question(name, each) for name, each in record["questions"].items()]
    laws = [f"<pre>{escape(str(piece.program))}</pre>" for piece in law.programs]
    data = json.dumps(record).replace("<", "\\u003c")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>Privacy certificate: {escape(str(record['survey']))}</title>\n<style>{_STYLE}</style>",
            "<h1>Privacy certificate of a survey</h1>",
            f'<p class="{kind}">{escape(verdict)}</p>',
            f"<table>{''.join(_row(name, value) for name, value in facts)}</table>",
            "<h2>What it means</h2>",
            f"<pre>{escape(record['statement'])}</pre>",
            "<h2>The proof, step by step</h2>",
            f"<ol>{''.join(f'<li>{escape(step)}</li>' for step in record['steps'])}</ol>",
            "<h2>The questions</h2>",
            f"<table>{_head(('Question', 'Loss', 'Proof', 'Law'))}{''.join(questions)}</table>",
            "<h2>The law of the reports</h2>",
            "<p>This is the whole program that turns answers into reports, in the order in which it runs. The certificate's "
            "data below holds the same program in the form that devices run.</p>",
            *laws,
            "<h2>How to check this certificate</h2>",
            "<p>Install deniable and run <code>deniable verify</code> on this file. The program is read from it and proved "
            "again, and every figure is compared. The certificate is not signed: compare the fingerprint above with that "
            "of the survey that people answer, which every message carries. Date and release cannot be proved.</p>",
            f'<script type="application/json" id="certificate">{data}</script>',
            "</html>\n",
        ]
    )


def _row(name: str, value: object) -> str:
    return f'<tr><th scope="row">{escape(name)}</th><td>{escape(str(value))}</td></tr>'


def _head(names: Iterable[str]) -> str:
    cells = [f'<th scope="col">{name}</th>' for name in names]
    return f"<tr>{''.join(cells)}</tr>"


def _question(name: str, each: Mapping[str, Any]) -> str:
    loss = "unbounded" if each["epsilon"] is None else f"epsilon {each['epsilon']:.9g}"
    proof = each["proof"] + (f", by {', '.join(each['rules'])}" if each["rules"] else "")
    cells = (name, loss, proof, each["law"] or "no program")
    return f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"

"""`deniable certify --claims`: the privacy loss that papers claim, compared with the exact loss."""

import json
import math

import click

from deniable.cli import options
from deniable.privacy.claims import Checked, checked_claims


@click.command("claims", short_help="What papers claim, compared with the exact loss.")
@click.option("--claims", is_flag=True, hidden=True, expose_value=False)
@options.json_flag
def claims_mode(as_json: bool) -> None:
    """Compare the privacy loss that papers claim with the exact loss.

    Mechanisms are certified as they were published. The exact epsilon is shown beside the one that the paper states, with
    the smallest case in which they differ.

    \b
    deniable certify --claims
    """
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("certifying mechanisms as published"):
        checked = checked_claims()
    if as_json:
        for each in checked:
            click.echo(json.dumps(_record(each)))
        return
    table = panel.table(["mechanism", "claim"], ["claimed", "true"], [""])
    styles = {"false": "bold red", "loose": "yellow", "holds": "green"}
    for each in checked:
        claim = each.claim
        table.add_row(
            claim.name,
            f"{claim.paper}, {claim.size}",
            f"{claim.claimed:.4g}",
            f"{each.true:.4g}",
            each.verdict,
            style=styles[each.verdict],
        )
    console = panel.console()
    console.print(table)
    console.print("Smallest counterexamples, epsilon for one answer:", markup=False)
    for each in checked:
        console.print(f"  {each.claim.name}: {each.example}", markup=False)


def _record(each: Checked) -> dict[str, object]:
    """The claim as plain data; an unbounded epsilon is null."""
    claim, shown = each.claim, each.counterexample
    return {
        "name": claim.name,
        "paper": claim.paper,
        "size": claim.size,
        "claimed": claim.claimed,
        "true": _finite(each.true),
        "verdict": each.verdict,
        "proof": each.found.proof,
        "counterexample": {
            "size": each.smallest_size,
            "claimed": each.smallest_claimed,
            "true": _finite(shown.epsilon),
            "worst_pair": list(shown.worst_pair),
            "worst_report": shown.worst_report,
            "mechanism": None if shown.mechanism is None else shown.mechanism.spec(),
        },
    }


def _finite(epsilon: float) -> float | None:
    return epsilon if math.isfinite(epsilon) else None

"""`deniable verify`: check a certificate of a survey that somebody handed on."""

import json
from pathlib import Path

import click

from deniable.cli import options
from deniable.errors import InvalidParameter
from deniable.survey.verification import verify as verified


@click.command(short_help="Check the certificate of a survey again.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@options.json_flag
@click.pass_context
def verify(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Check the certificate in FILE, which deniable certify wrote with --json or --html.

    The command reads the programs in the certificate, proves them again, and checks them and every figure against the
    survey in it. A certificate is not signed: compare its fingerprint with that of the survey that people answer.

    \b
    deniable verify certificate.json
    deniable verify certificate.html

    Exit code: 0 if the certificate is right and the survey keeps its promise, 1 if not, 2 if FILE is not a certificate.
    """
    from deniable.cli import panel

    try:
        text = file.read_text(encoding="utf-8")
    except ValueError as error:
        raise InvalidParameter(f"The file {str(file)!r} is not UTF-8 text, so it is not a certificate.") from error
    with panel.waiting("proving the law again"):
        found = verified(text)
    record = found.record
    holds = found.genuine and bool(record["holds"])
    if as_json:
        about = {name: record.get(name) for name in ("survey", "fingerprint", "law", "epsilon", "budget", "date", "release")}
        click.echo(json.dumps({"genuine": found.genuine, "holds": holds, "fault": found.fault or None, **about}))
    else:
        for line in found.checked:
            click.echo(line)
        if not found.genuine:
            click.echo(f"This certificate is not valid. {found.fault}")
        else:
            click.echo(f"survey        {record['survey']} {record['fingerprint']}")
            click.echo(f"law           {record['law']}")
            spent = "unbounded" if record["epsilon"] is None else f"{record['epsilon']:.12g}"
            click.echo(f"one person    epsilon {spent} of {record['budget']:.12g} ({record['proof']})")
            click.echo(f"made          {record['date']}, release {record['release']}")
            click.echo(
                f"certificate   {'valid, and the promise holds' if holds else 'valid, but the promise DOES NOT HOLD'}"
            )
    if not holds:
        ctx.exit(1)

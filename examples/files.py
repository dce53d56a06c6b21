"""Reports in files: packed to the bit or as Parquet, read back, and refused whole when a byte is wrong."""

import tempfile
from pathlib import Path

import deniable as dn

mechanism = dn.DirectResponse(dn.Categories(["never", "sometimes", "often"]), epsilon=1.5)
reports = mechanism.perturb(["never"] * 60_000 + ["sometimes"] * 30_000 + ["often"] * 10_000)

with tempfile.TemporaryDirectory() as folder:
    packed, columns = Path(folder) / "reports.dnbl", Path(folder) / "reports.parquet"
    dn.write_reports(packed, mechanism, reports)
    dn.write_reports(columns, mechanism, reports)  # needs the extra "parquet"
    for file in (packed, columns):
        again = dn.read_reports(file, mechanism)
        assert mechanism.tally(again) == mechanism.tally(reports)
        print(f"{file.name}: {file.stat().st_size:,} bytes for {len(again):,} reports, read back the same")

    # The mechanism itself is a line of JSON; whoever has it can read the reports and check its promise.
    description = mechanism.to_json()
    assert dn.mechanism_from_json(description) == mechanism
    print(description)

    # One flipped bit anywhere, and the file is refused rather than counted.
    damaged = bytearray(packed.read_bytes())
    damaged[1000] ^= 1
    packed.write_bytes(damaged)
    try:
        dn.read_reports(packed, mechanism)
    except dn.InvalidReport as refusal:
        print(f"refused: {refusal}")

    # An Arrow table, for engines and notebooks that speak it.
    table = dn.to_arrow(mechanism, reports)
    assert len(dn.from_arrow(mechanism, table)) == table.num_rows
    print(f"Arrow columns: {', '.join(table.column_names)}")

"""Many files of reports: counted by several processes, damaged files skipped by name, and a run that resumes."""

import tempfile
from pathlib import Path

import deniable as dn

mechanism = dn.BlockDesign(dn.Categories(range(50)), epsilon=1.0)

with tempfile.TemporaryDirectory() as name:
    folder, manifest = Path(name) / "reports", Path(name) / "manifest.json"
    folder.mkdir()
    for hour in range(6):
        reports = mechanism.perturb([person % 7 for person in range(20_000)])
        dn.write_reports(folder / f"hour-{hour}.parquet", mechanism, reports)

    # Processes here; a Dask client or a Spark session as third argument gives the same tally to the integer.
    tally = dn.aggregate(mechanism, folder / "*.parquet", workers=2, manifest=manifest)
    print(f"{tally.n:,} reports from {len(tally.manifest.files)} files")

    # An hour later: what is in the manifest is not counted again. One file was cut off on its way.
    dn.write_reports(folder / "hour-6.parquet", mechanism, mechanism.perturb([1] * 20_000))
    whole = (folder / "hour-6.parquet").read_bytes()
    (folder / "hour-7.parquet").write_bytes(whole[: len(whole) // 2])
    tally = dn.aggregate(mechanism, folder, manifest=manifest, damaged="skip")
    print(f"{tally.n:,} reports; left out: {[Path(each.file).name for each in tally.manifest.left_out]}")

    low, high = mechanism.estimate(tally).interval(0.95)
    print(f"share of answer 1: {100 * low[1]:.1f} to {100 * high[1]:.1f} %")

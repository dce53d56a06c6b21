"""Reports on disk: whole or refused, never half-written."""

from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.examples import EXAMPLES
from tests.test_laws import answers

SUFFIXES = [pytest.param(".reports"), pytest.param(".parquet", marks=pytest.mark.needs("pyarrow"))]
by_suffix = pytest.mark.parametrize("suffix", SUFFIXES)
MECHANISM = EXAMPLES["subset"]
OTHER = EXAMPLES["direct"]


@pytest.fixture
def reports() -> dn.Reports:
    return MECHANISM.perturb(answers(MECHANISM, 1000), dn.SeededCoins(4))


@by_suffix
@pytest.mark.parametrize("name", EXAMPLES)
def test_reports_come_back_from_a_file(tmp_path: Path, name: str, suffix: str) -> None:
    mechanism = EXAMPLES[name]
    written = mechanism.perturb(answers(mechanism, 77), dn.SeededCoins(4))
    dn.write_reports(tmp_path / f"batch{suffix}", mechanism, written)
    read = dn.read_reports(tmp_path / f"batch{suffix}", mechanism)
    assert mechanism.tally(read) == mechanism.tally(written)
    assert read.pack() == written.pack()


@by_suffix
def test_files_of_another_mechanism_are_refused(tmp_path: Path, suffix: str, reports: dn.Reports) -> None:
    path = tmp_path / f"batch{suffix}"
    dn.write_reports(path, MECHANISM, reports)
    with pytest.raises(dn.SurveyMismatch, match=OTHER.fingerprint[:8]):
        dn.read_reports(path, OTHER)
    with pytest.raises(dn.SurveyMismatch):
        dn.write_reports(tmp_path / f"other{suffix}", OTHER, reports)
    assert not (tmp_path / f"other{suffix}").exists()


@by_suffix
def test_damage_anywhere_is_noticed(tmp_path: Path, suffix: str, reports: dn.Reports) -> None:
    path, copy = tmp_path / f"batch{suffix}", tmp_path / f"copy{suffix}"
    dn.write_reports(path, MECHANISM, reports)
    data = path.read_bytes()
    refused = (dn.InvalidReport, dn.SurveyMismatch)
    for broken in (data[: len(data) // 2], data[:-1], data[:10], b"", data + b"\0" if suffix == ".reports" else b"PAR1"):
        copy.write_bytes(broken)
        with pytest.raises(refused):
            dn.read_reports(copy, MECHANISM)
    changed = 0
    for place in range(0, len(data), 7):
        copy.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        try:
            read = dn.read_reports(copy, MECHANISM)
        except refused:
            changed += 1
        else:  # a Parquet file has bytes that carry nothing, such as the writer's name
            assert suffix == ".parquet"
            assert read.pack() == reports.pack()
    assert changed == len(range(0, len(data), 7)) or suffix == ".parquet"


def test_message_of_a_future_format_is_refused(reports: dn.Reports) -> None:
    message = bytearray(MECHANISM.pack(reports))
    message[4] = 2
    with pytest.raises(dn.InvalidReport, match="format 2"):
        MECHANISM.unpack(bytes(message))


@by_suffix
def test_nothing_is_half_written(tmp_path: Path, suffix: str, reports: dn.Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"batch{suffix}"
    dn.write_reports(path, MECHANISM, reports)
    before = path.read_bytes()
    with pytest.raises(dn.InvalidParameter, match="exists already"):
        dn.write_reports(path, MECHANISM, reports)

    def full_disk(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        dn.write_reports(path, MECHANISM, reports[:5], overwrite=True)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    monkeypatch.undo()
    dn.write_reports(path, MECHANISM, reports[:5], overwrite=True)
    assert len(dn.read_reports(path, MECHANISM)) == 5


def test_places_that_do_not_exist(tmp_path: Path, reports: dn.Reports) -> None:
    with pytest.raises(dn.InvalidReport, match="no file"):
        dn.read_reports(tmp_path / "none", MECHANISM)
    with pytest.raises(dn.InvalidParameter, match="folder"):
        dn.write_reports(tmp_path / "none" / "batch", MECHANISM, reports)
    with pytest.raises(dn.EmptyBatch):
        dn.write_reports(tmp_path / "batch", MECHANISM, reports[:0])


@pytest.mark.needs("pyarrow")
def test_arrow_tables_are_checked(reports: dn.Reports) -> None:
    import pyarrow as pa

    table = dn.to_arrow(MECHANISM, reports)
    assert dn.from_arrow(MECHANISM, pa.concat_tables([table.slice(900), table.slice(0, 900)])).columns["cells"].shape == (
        1000,
        1,
    )
    about = table.schema.metadata
    for wrong, error in [
        (table.replace_schema_metadata(None), dn.InvalidReport),
        (table.replace_schema_metadata({**about, b"fingerprint": b"\xff"}), dn.SurveyMismatch),
        (table.rename_columns(["bits"]).replace_schema_metadata(about), dn.InvalidReport),
        (pa.table({"cells": pa.array([1, 2])}).replace_schema_metadata(about), dn.InvalidReport),
        (pa.table({"cells": pa.array([None, b"\3"], pa.binary(1))}).replace_schema_metadata(about), dn.InvalidReport),
        (pa.table({"cells": pa.array([b"\7"], pa.binary(1))}).replace_schema_metadata(about), dn.InvalidReport),
    ]:
        with pytest.raises(error):
            dn.from_arrow(MECHANISM, wrong)


def test_packing_is_tight_for_every_width() -> None:
    for size in (2, 3, 5, 8, 9, 16, 17, 100, 257, 70_000):
        mechanism = dn.DirectResponse(dn.Categories(range(size)), 1.0)
        reports = mechanism.perturb(np.arange(9000) % size, dn.SeededCoins(size))
        assert len(reports.pack()) == -(-9000 * (size - 1).bit_length() // 8)
        assert mechanism.tally(mechanism.unpack(mechanism.pack(reports))) == mechanism.tally(reports)

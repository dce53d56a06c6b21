"""Reports on disk: whole or refused, never half-written."""

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.files import read_batches, write_batches
from deniable.files.answers import read_answers
from deniable.files.reports import MOST_BYTES, MOST_REPORTS, batch_size
from tests.examples import EXAMPLES
from tests.families import answers

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


def batches_of(reports: dn.Reports, *sizes: int) -> list[dn.Reports]:
    edges = np.cumsum([0, *sizes]).tolist()
    assert edges[-1] == len(reports)
    return [reports[start:stop] for start, stop in itertools.pairwise(edges)]


class TestBatches:
    @by_suffix
    @pytest.mark.parametrize("name", EXAMPLES)
    def test_come_back_as_one(self, tmp_path: Path, name: str, suffix: str) -> None:
        mechanism, path = EXAMPLES[name], tmp_path / f"batch{suffix}"
        reports = mechanism.perturb(answers(mechanism, 77), dn.SeededCoins(4))
        written = write_batches(path, mechanism, iter([*batches_of(reports, 1, 0, 13, 63), reports[:0]]))
        assert written == 77
        read = list(read_batches(path, mechanism))
        assert dn.concatenate(read).pack() == dn.read_reports(path, mechanism).pack() == reports.pack()
        assert sum(len(batch) for batch in read) == 77
        tally = sum((mechanism.tally(batch) for batch in read[1:]), mechanism.tally(read[0]))
        assert tally == mechanism.tally(reports)

    def test_a_packed_file_is_its_messages(self, tmp_path: Path, reports: dn.Reports) -> None:
        path = tmp_path / "batch"
        parts = batches_of(reports, 300, 700)
        write_batches(path, MECHANISM, parts)
        assert path.read_bytes() == b"".join(MECHANISM.pack(part) for part in parts)
        assert [len(batch) for batch in read_batches(path, MECHANISM)] == [300, 700]

    @by_suffix
    def test_large_batches_are_split(
        self, tmp_path: Path, suffix: str, reports: dn.Reports, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("deniable.files.reports.MOST_REPORTS", 400)
        path = tmp_path / f"batch{suffix}"
        dn.write_reports(path, MECHANISM, reports)
        assert [len(batch) for batch in read_batches(path, MECHANISM)] == [400, 400, 200]
        assert dn.read_reports(path, MECHANISM).pack() == reports.pack()

    def test_batches_are_smaller_where_reports_are_wide(self) -> None:
        assert batch_size(dn.DirectResponse(dn.Categories(range(2)), 1.0)) == MOST_REPORTS
        wide = dn.Unary(dn.Categories(range(1 << 20)), 1.0)
        assert batch_size(wide) * wide.layout.bits == 8 * MOST_BYTES

    def test_reports_are_handed_out_before_the_rest_is_read(self, tmp_path: Path, reports: dn.Reports) -> None:
        path = tmp_path / "batch"
        first, second = batches_of(reports, 300, 700)
        data = MECHANISM.pack(first) + MECHANISM.pack(second)
        stranger = OTHER.pack(OTHER.perturb([0], dn.SeededCoins(1)))
        for broken, error, says in [
            (data[:-1], dn.InvalidReport, "ends inside a batch"),
            (data[: len(MECHANISM.pack(first)) + 5], dn.InvalidReport, "ends inside a batch"),
            (data[:-30] + b"\0" + data[-29:], dn.InvalidReport, "checksum"),
            (MECHANISM.pack(first) + stranger, dn.SurveyMismatch, f"{OTHER.fingerprint[:8]}, not by"),
            (MECHANISM.pack(first) + b"more than a header of something else", dn.InvalidReport, "DNBL"),
            (MECHANISM.pack(first) + b"DNBL\2\0\0\0" + data[8:], dn.InvalidReport, "format 2"),
        ]:
            path.write_bytes(broken)
            batches = read_batches(path, MECHANISM)
            assert next(batches).pack() == first.pack()
            with pytest.raises(error, match=says):
                next(batches)
            assert list(batches) == []  # and nothing after it
            with pytest.raises(error, match=says):
                dn.read_reports(path, MECHANISM)

    def test_a_count_that_the_file_cannot_hold(self, tmp_path: Path, reports: dn.Reports) -> None:
        path = tmp_path / "batch"
        message = MECHANISM.pack(reports)
        path.write_bytes(message[:24] + (1 << 60).to_bytes(8, "little") + message[32:])
        with pytest.raises(dn.InvalidReport, match="ends inside a batch"):
            dn.read_reports(path, MECHANISM)

    @pytest.mark.needs("pyarrow")
    def test_damage_in_a_later_row_group(self, tmp_path: Path, reports: dn.Reports) -> None:
        import pyarrow.parquet as pq

        path = tmp_path / "batch.parquet"
        write_batches(path, MECHANISM, batches_of(reports, 500, 500))
        assert pq.ParquetFile(path).num_row_groups == 2
        page = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
        data = bytearray(path.read_bytes())
        data[page + 60] ^= 1
        path.write_bytes(data)
        read = []
        with pytest.raises(dn.InvalidReport, match="not a Parquet file"):
            for batch in read_batches(path, MECHANISM):
                read.append(batch)
        assert sum(map(len, read)) <= 500

    @pytest.mark.needs("pyarrow")
    def test_a_parquet_file_is_not_kept_in_memory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import pyarrow as pa

        monkeypatch.setattr("deniable.files.reports.MOST_REPORTS", 256)
        mechanism, path = dn.Unary(dn.Categories(range(1 << 13)), 1.0), tmp_path / "batch.parquet"
        dn.write_reports(path, mechanism, mechanism.perturb(np.arange(1 << 13), dn.SeededCoins(1)))
        before, most = pa.total_allocated_bytes(), 0
        for _ in read_batches(path, mechanism):
            most = max(most, pa.total_allocated_bytes() - before)
        assert path.stat().st_size > 6_000_000
        assert 0 < most < 3_000_000

    @by_suffix
    def test_a_failure_while_writing_leaves_nothing(self, tmp_path: Path, suffix: str, reports: dn.Reports) -> None:
        def failing() -> Iterator[dn.Reports]:
            yield reports
            raise RuntimeError("the device is gone")

        path = tmp_path / f"batch{suffix}"
        with pytest.raises(RuntimeError, match="device"):
            write_batches(path, MECHANISM, failing())
        with pytest.raises(dn.SurveyMismatch):
            write_batches(path, MECHANISM, [reports, OTHER.perturb([0], dn.SeededCoins(1))])
        with pytest.raises(dn.EmptyBatch):
            write_batches(path, MECHANISM, [])
        with pytest.raises(dn.EmptyBatch):
            write_batches(path, MECHANISM, [reports[:0]])
        assert list(tmp_path.iterdir()) == []

    def test_batches_are_written_as_they_are_made(self, tmp_path: Path, reports: dn.Reports) -> None:
        sizes, batch = [], dn.concatenate([reports] * 100)  # more than the buffer of a file

        def watched() -> Iterator[dn.Reports]:
            for _ in range(3):
                (temporary,) = tmp_path.iterdir()
                sizes.append(temporary.stat().st_size)
                yield batch

        write_batches(tmp_path / "batch", MECHANISM, watched())
        assert sizes[0] == 0 and sizes[1] > 50_000 and sizes[2] > 100_000

    def test_files_without_reports(self, tmp_path: Path, reports: dn.Reports) -> None:
        path = tmp_path / "batch"
        path.write_bytes(b"")
        with pytest.raises(dn.InvalidReport, match="is empty"):
            dn.read_reports(path, MECHANISM)
        path.write_bytes(MECHANISM.pack(reports[:0]))
        assert len(dn.read_reports(path, MECHANISM)) == 0
        with pytest.raises(dn.InvalidReport, match="no file"):
            read_batches(tmp_path / "none", MECHANISM)  # at once, not at the first batch

    @pytest.mark.needs("pyarrow")
    def test_a_table_without_rows(self, tmp_path: Path, reports: dn.Reports) -> None:
        import pyarrow.parquet as pq

        path = tmp_path / "batch.parquet"
        pq.write_table(dn.to_arrow(MECHANISM, reports[:0]), path)
        assert list(read_batches(path, MECHANISM)) == []
        with pytest.raises(dn.EmptyBatch, match="no reports in the file"):
            dn.read_reports(path, MECHANISM)
        with pytest.raises(dn.SurveyMismatch):  # also where there is nothing to count
            list(read_batches(path, OTHER))

    def test_a_folder_where_nothing_can_be_written(
        self, tmp_path: Path, reports: dn.Reports, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("tempfile.mkstemp", refused)
        with pytest.raises(dn.InvalidParameter, match="Permission denied"):
            dn.write_reports(tmp_path / "batch", MECHANISM, reports)


@pytest.mark.needs("pyarrow")
def test_answers_in_json_lines_and_compressed(tmp_path: Path) -> None:
    import pyarrow as pa

    rows, domain = ["yes", "no", "no"], dn.Categories(["yes", "no"])
    lines = "".join(json.dumps({"id": place, "smokes": row}) + "\n" for place, row in enumerate(rows))
    table = "smokes\n" + "\n".join(rows) + "\n"
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "a.csv.zst").write_bytes(pa.compress(table.encode(), codec="zstd", asbytes=True))
    for name in ("a.jsonl", "a.jsonl.gz", "a.csv.zst"):
        (batch,) = read_answers(tmp_path / name, "smokes", domain, 10)
        assert list(batch.answers) == rows, name


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"smokes": "no"}\n[1]\n', "Line 2 of .* is not a JSON object"),
        ("a.jsonl", b'{"smokes": "secret"}\n{"other": "secret"}\n', "other names than the first line"),
        ("a.jsonl", b'{"id": 1}\n', "has no column 'smokes'"),
        ("a.csv.zst", b"nonsense" * 10, "not a zstd file"),
    ],
)
def test_damaged_tables_are_refused_without_a_value(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(dn.InvalidParameter, match=said) as refused:
        list(read_answers(tmp_path / name, "smokes", dn.Categories(["yes", "no"]), 10))
    assert "secret" not in str(refused.value)

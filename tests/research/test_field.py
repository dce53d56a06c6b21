"""The table across the field: the page quotes it, and its rows can be made anew."""

from pathlib import Path

from research.experiments.field import RESULT, tasks

PAGE = Path(__file__).parents[2] / "docs" / "choosing.md"


def test_the_page_quotes_the_table() -> None:
    assert RESULT.read_text(encoding="utf-8").strip() in PAGE.read_text(encoding="utf-8")


def test_every_row_is_that_of_a_plan_with_a_bound() -> None:
    """Of few collections the names, the bound and the distance to it are the same; errors are measured."""
    written = [line.split(" | ") for line in RESULT.read_text(encoding="utf-8").splitlines()[4:]]
    every = tasks()
    assert [f"| {task.name}" for task in every] == [cells[0] for cells in written]
    for task, cells in zip(every, written, strict=True):
        made = task.ranking
        assert made.bound is not None
        assert [cells[2], cells[7]] == [made.best.name, f"{made.bound:.4g}"]
        assert cells[8] == f"{100 * ((made.best.error / made.bound) ** made.power - 1):.1f} % |"

"""The table across the field: the page quotes it, and its rows can be made anew."""

from research.experiments.field import PAGE, RESULT, tasks
from research.experiments.field_pages import every, pages


def test_the_page_quotes_the_table() -> None:
    assert RESULT.read_text(encoding="utf-8").strip() in PAGE.read_text(encoding="utf-8")


def test_every_row_is_that_of_a_plan_with_a_bound() -> None:
    """Of few collections the names, the bound and the distance to it are the same; errors are measured."""
    first = RESULT.read_text(encoding="utf-8").split("\n\n")[1]
    written = [line.split(" | ") for line in first.splitlines()[2:]]
    every = tasks()
    assert [f"| {task.name}" for task in every] == [cells[0] for cells in written]
    for task, cells in zip(every, written, strict=True):
        made = task.ranking
        assert made.bound is not None
        assert [cells[2], cells[7]] == [made.best.name, f"{made.bound:.4g}"]
        assert cells[8] == f"{100 * ((made.best.error / made.bound) ** made.power - 1):.1f} % |"


def test_the_rows_of_other_commands_are_what_these_wrote() -> None:
    assert "\n".join(pages()) in RESULT.read_text(encoding="utf-8")
    assert all(page.leads() for page in every())

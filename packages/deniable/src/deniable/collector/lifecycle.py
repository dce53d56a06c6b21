"""The life of a survey beside its collectors: closed early, corrected in its title, deleted now or after a date."""

from deniable.collector.invited import drop_invitations
from deniable.collector.store import Stage, Store, same_contract
from deniable.errors import InvalidParameter, SurveyMismatch
from deniable.survey import Survey


def _number(store: Store, survey: Survey) -> int:
    with store.view() as view:
        known = view.survey(survey.id)
    if known is None:
        raise InvalidParameter(f"This database holds no data for the survey {survey.id!r}.")
    return known[0]


def close(store: Store, survey: Survey, final: bool = False) -> None:
    """Accept no more reports. `final` also gives up the ids, which collectors then drop; it cannot be opened again."""
    number = _number(store, survey)
    with store.change() as change:
        state = change.accepting(number, alone=True)
        if state is not None and state.stage is not Stage.ENDED:
            change.put_stage(number, Stage.ENDED if final else Stage.CLOSED)
        if final:
            drop_invitations(change, number, survey.id)
    while final and _forget(store, number):
        pass


def _forget(store: Store, number: int) -> int:
    with store.change() as change:
        return change.forget(number, 1 << 32, 10_000)


def reopen(store: Store, survey: Survey) -> None:
    """Accept reports again, if the ids of those that were counted are still known."""
    number = _number(store, survey)
    with store.change() as change:
        state = change.accepting(number, alone=True)
        if state is None or state.stage is Stage.ENDED:
            raise InvalidParameter("This survey was closed for good: the ids of its reports are gone. Start a new one.")
        change.put_stage(number, Stage.OPEN)


def correct_title(store: Store, survey: Survey) -> None:
    """Show the title that this survey has now; refused if anything else differs from what people answered."""
    number = _number(store, survey)
    with store.change() as change:
        change.alone()
        known = change.survey(survey.id)
        if known is None or not same_contract(Survey.from_json(known[1]), survey, survey.title):
            raise SurveyMismatch("More than the title has changed. Give the changed survey an id of its own.")
        change.put_title(number, survey.title)


def retain_until(store: Store, survey: Survey, when: int | None) -> None:
    """Delete everything about the survey after this time, or keep it (None)."""
    number = _number(store, survey)
    with store.change() as change:
        change.put_delete_after(number, when)


def delete(store: Store, survey: Survey) -> int:
    """Delete everything about the survey; how many people it had. A running collector accepts nothing more for it."""
    number = _number(store, survey)
    with store.change() as change:
        change.accepting(number, alone=True)
        people = sum(change.people(number).values())
        change.delete(number, survey.id)
    return people

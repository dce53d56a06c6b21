"""The life of a survey beside its collectors: draft, open, closed, archived, deleted; listed, and corrected in its title."""

import json
import logging
from collections.abc import Mapping

from deniable.collector.events import note
from deniable.collector.invited import drop_invitations
from deniable.collector.stages import Stage, State, same_contract
from deniable.collector.store import Change, Store
from deniable.errors import InvalidParameter, SurveyMismatch
from deniable.survey import Survey

# What a survey may become, and why not anything else.
NEXT: dict[Stage, frozenset[Stage]] = {
    Stage.DRAFT: frozenset({Stage.OPEN}),
    Stage.OPEN: frozenset({Stage.CLOSED, Stage.ARCHIVED}),
    Stage.CLOSED: frozenset({Stage.OPEN, Stage.ARCHIVED}),
    Stage.ARCHIVED: frozenset(),
}
REASONS = {
    Stage.DRAFT: "It is a draft that nobody has answered. Open it, or delete it.",
    Stage.OPEN: "People may have answered it. Close it, or give the changed survey its own id.",
    Stage.CLOSED: "People may have answered it. Open it again or archive it.",
    Stage.ARCHIVED: "It was closed for good: the ids of its reports are deleted. Start a new one.",
}


def _held(change: Change, survey: Survey) -> tuple[int, State]:
    """The number and the state of a survey, which nobody else changes or counts for until the transaction ends."""
    change.alone()
    known = change.survey(survey.id)
    state = None if known is None else change.accepting(known[0], alone=True)
    if known is None or state is None:
        raise InvalidParameter(f"This database holds no data for the survey {survey.id!r}.")
    return known[0], state


def turn(store: Store, survey: Survey, stage: Stage) -> Stage:
    """Bring a survey to this stage; the one it was in. An archived one also loses the ids of its reports, for good."""
    with store.change() as change:
        number, state = _held(change, survey)
        if stage is not state.stage and stage not in NEXT[state.stage]:
            raise InvalidParameter(f"This survey is {state.stage} and cannot become {stage}. {REASONS[state.stage]}")
        change.put_state(number, stage=int(stage))
        if stage is Stage.ARCHIVED:
            drop_invitations(change, number, survey.id)
    while stage is Stage.ARCHIVED and _forget(store, number):
        pass
    if stage is not state.stage:
        note(str(stage), survey=survey.id, before=state.stage)
    return state.stage


def _forget(store: Store, number: int) -> int:
    with store.change() as change:
        return change.forget(number, 1 << 32, 10_000)


def close(store: Store, survey: Survey, final: bool = False) -> None:
    """Accept no more reports. `final` also gives up the ids; then it cannot be opened again."""
    turn(store, survey, Stage.ARCHIVED if final else Stage.CLOSED)


def reopen(store: Store, survey: Survey) -> None:
    """Accept reports, of a draft for the first time, or again if the ids of those that were counted are still known."""
    turn(store, survey, Stage.OPEN)


def show(store: Store, survey: Survey, listed: bool) -> None:
    """Whether the index of a server lists the survey."""
    with store.change() as change:
        change.put_state(_held(change, survey)[0], listed=int(listed))
    note("listed" if listed else "unlisted", survey=survey.id)


def correct_title(store: Store, survey: Survey) -> None:
    """Show the title that this survey has now; refused if anything else differs from what people answered."""
    with store.change() as change:
        number, _ = _held(change, survey)
        known = change.survey(survey.id)
        if known is None or not same_contract(Survey.from_json(known[1]), survey, survey.title):
            raise SurveyMismatch("More than the title has changed. Give the changed survey its own id.")
        change.put_state(number, title=survey.title)
    note("title-corrected", survey=survey.id)


def retain_until(store: Store, survey: Survey, when: int | None) -> None:
    """Delete everything about the survey after this time, or keep it (None)."""
    with store.change() as change:
        change.put_state(_held(change, survey)[0], delete_after=when)
    note("retention-changed", survey=survey.id, until="for-ever" if when is None else when)


def limit(store: Store, survey: Survey, limits: Mapping[str, float] | None) -> None:
    """Give a survey limits of its own, or those of its server again (None)."""
    with store.change() as change:
        change.put_state(_held(change, survey)[0], limits=None if limits is None else json.dumps(limits))
    note("limits-changed", survey=survey.id, limits="those-of-the-server" if limits is None else json.dumps(limits))


def delete(store: Store, survey: Survey) -> int:
    """Delete everything about the survey; how many people it had. A running collector accepts nothing more for it."""
    with store.change() as change:
        number, _ = _held(change, survey)
        people = sum(change.people(number).values())
        change.delete(number, survey.id)
    note("deleted", logging.WARNING, survey=survey.id, people=people, cause="asked for with deniable manage delete")
    return people

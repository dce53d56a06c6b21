"""Which questions no browser can answer, so that a survey on a page is refused before anybody opens it."""

from deniable.errors import InvalidParameter
from deniable.survey.survey import Survey


def check_browsers(survey: Survey) -> None:
    """Refuse a survey with a question whose answers only the Python client can encode, such as one with `Seeded` reports.

    Where a domain has no codes of its own, as texts have none, browsers have its encoder; of mechanisms they have none.
    """
    for question in survey.questions:
        if question.mechanism.encodes and question.mechanism.domain.inputs is not None:
            raise InvalidParameter(
                f"Question {question.id!r} uses {question.mechanism.wire}, for which browsers have no encoder: nobody could "
                "answer it on a page. A served survey needs mechanisms whose law starts from the answer itself. Leave the "
                "line mechanism out to let the planner choose one, or name one with short reports that browsers "
                'support, such as mechanism = { mechanism = "hashing-1" }.'
            )

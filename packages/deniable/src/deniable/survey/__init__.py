"""The contract: what is asked, how it is randomized, what a person spends; from a file, and back to one."""

from deniable.survey.certificate import SurveyCertificate, certify_survey
from deniable.survey.message import Message
from deniable.survey.planning import QuestionPlan, SurveyPlan, plan_survey
from deniable.survey.question import Question
from deniable.survey.survey import Survey

__all__ = [
    "Message",
    "Question",
    "QuestionPlan",
    "Survey",
    "SurveyCertificate",
    "SurveyPlan",
    "certify_survey",
    "plan_survey",
]

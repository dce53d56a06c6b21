"""The interface as OpenAPI 3.1."""

from deniable.collector.fields import FORMATS, Data, hex_schema
from deniable.collector.issuing import LONGEST_CODE
from deniable.collector.playground import EDITION, EPSILON, PEOPLE, VALUES
from deniable.collector.static import MEDIA_TYPES
from deniable.collector.verdicts import REFUSALS
from deniable.invitations.token import SIGNATURE_BYTES, TOKEN_BYTES
from deniable.mechanisms.registry import candidates
from deniable.survey import Question, Survey
from deniable.survey.message import MEDIA_TYPE

FILES = tuple(media.split(";")[0] for media in MEDIA_TYPES.values())


def description(survey: Survey, submit: bool = False, read: bool = True) -> Data:
    """The interface of this collector; whether a token is needed to submit reports, and to read results."""
    token: list[Data] = [{"token": []}] if read else []
    return {
        "openapi": "3.1.0",
        "servers": [{"url": "."}],  # wherever this description is
        "info": {"title": f"Collector of the survey {survey.id}", "version": "1"},
        "paths": {
            "/": _get("The page to answer the survey", "text/html"),
            "/results": _get("The page with the results; it may ask for a token", "text/html"),
            "/try": _get("The playground", "text/html"),
            "/worker.js": _get("The service worker that keeps the answer page for use without a network", "text/javascript"),
            "/pages/{name}": _get("A file that the pages use", FILES, 404, parameters=[_in_path("name")]),
            "/v1/reports": {"post": {**_submit(survey), "security": [{"token": []}] if submit else []}},
            "/v1/survey": _get("The survey: questions, budget and mechanisms", "application/json"),
            "/v1/law": _get("The laws of the survey: the programs that devices prove and run", "application/json"),
            "/v1/mix": _get("The terms of mixing, if a relay mixes the reports", "application/json", 404),
            "/v1/promise": _get("The privacy loss of one person, and its certificate", "application/json"),
            "/v1/status": _get("The stage of the survey, and its title as corrected", "application/json"),
            "/v1/issuer": _get(
                "The public keys that tokens for invited people are signed with, and which of them signs now",
                "application/json",
                404, 503,
            ),
            "/v1/invitation": {"post": _exchange()},
            "/v1/try": _get(
                "A comparison of mechanisms for a made-up question or, with certify, the certificate of one of them",
                "application/json",
                422, 429,
                parameters=[
                    _query("values", {"type": "integer", "minimum": VALUES[0], "maximum": VALUES[1], "default": 8}),
                    _query("epsilon", {"type": "number", "minimum": EPSILON[0], "maximum": EPSILON[1], "default": 1}),
                    _query("people", {"type": "integer", "minimum": PEOPLE[0], "maximum": PEOPLE[1], "default": 10_000}),
                    _query("certify", {"type": "string", "enum": [*candidates("shares", EDITION)]}),
                ],
            ),
            "/v1/results": _get(
                "Estimates with confidence intervals",
                ("application/json", "text/csv", "application/vnd.apache.parquet"),
                401, 422, 429, 503,
                security=[] if survey.share_results else token,
                parameters=[
                    _query("format", {"type": "string", "enum": ["json", "csv", "parquet"], "default": "json"}),
                    _query("confidence", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.95}),
                    _query("fakes", {"type": "number", "minimum": 0, "exclusiveMaximum": 0.5}),
                    _query("history", {"type": "string", "enum": ["true", "false"], "default": "true"}),
                ],
            ),
            "/v1/tallies": _get(
                "The tallies behind the estimates; tallies before and after one report differ by that report",
                "application/json",
                401, 429, 503,
                security=token,
            ),
            "/v1/intake": _get(
                "Reports counted and refused since the start, by reason", "application/json", 401, security=token
            ),
            "/health/live": _get("Whether the process is running", "application/json"),
            "/health/ready": _get("Whether a report can be counted and stored now", "application/json", 503),
            "/metrics": _get("Counters for Prometheus", "text/plain", 401, security=token),
            "/openapi.json": _get("This description", "application/json"),
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Problem": _problem(), "Outcome": _outcome(), "Report": _report(survey)},
        },
    }  # fmt: skip


def site_description() -> Data:
    """What a server of several surveys has beside them. Which surveys it has is not said."""
    survey = [_in_path("survey")]
    return {
        "openapi": "3.1.0",
        "servers": [{"url": "."}],
        "info": {"title": "Server of several surveys", "version": "1"},
        "paths": {
            "/": _get("The index of the surveys that are listed", "text/html"),
            "/pages/{name}": _get("A file that the pages use", FILES, 404, parameters=[_in_path("name")]),
            "/s/{survey}/": _get("The page to answer the survey with this id", "text/html", 404, parameters=survey),
            "/s/{survey}/openapi.json": _get(
                "The description of this survey's interface, whose paths begin with /s/{survey}", "application/json", 404,
                parameters=survey,
            ),
            "/health/live": _get("Whether the process is running", "application/json"),
            "/health/ready": _get("Whether reports can be counted and stored now", "application/json", 503),
            "/metrics": _get("Counters of all surveys that the token opens", "text/plain", 401, security=[{"token": []}]),
            "/openapi.json": _get("This description", "application/json"),
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Problem": _problem()},
        },
    }  # fmt: skip


def _submit(survey: Survey) -> Data:
    report = {"$ref": "#/components/schemas/Report"}
    many = {"anyOf": [report, {"type": "array", "items": report, "minItems": 1}]}
    return {
        "summary": "Count reports, each once; the response comes when they are stored durably",
        "requestBody": {
            "required": True,
            "content": {
                MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}},
                "application/json": {"schema": many},
            },
        },
        "responses": {
            "200": _answer("application/json", {"$ref": "#/components/schemas/Outcome"}, "Counted, now or earlier"),
            **{str(status): _problem_answer(status) for status in sorted({refusal.status for refusal in REFUSALS} - {404})},
        },
    }


def _exchange() -> Data:
    fields = {
        "invitation": {"type": "string", "minLength": 1, "maxLength": LONGEST_CODE},
        "key": {"type": "integer", "minimum": 0, "maximum": 255},
        "blinded": hex_schema(SIGNATURE_BYTES),
    }
    body = {"type": "object", "required": list(fields), "properties": fields, "additionalProperties": False}
    signed = {"survey": hex_schema(16), "signature": hex_schema(SIGNATURE_BYTES)}
    answer = {"type": "object", "required": list(signed), "properties": signed}
    statuses = (400, 403, 404, 405, 408, 409, 410, 413, 429, 431, 503)
    return {
        "summary": "Exchange an invitation for a blind signature, once; the same request is answered again",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": _answer("application/json", answer, "The blind signature"),
            **{str(status): _problem_answer(status) for status in statuses},
        },
        "security": [],
    }


def _get(summary: str, media: str | tuple[str, ...], *statuses: int, **more: object) -> Data:
    refusals = {str(status): _problem_answer(status) for status in (*statuses, 405, 431)}
    return {"get": {"summary": summary, "responses": {"200": _answer(media, {}, summary), **refusals}, **more}}


def _query(name: str, schema: Data) -> Data:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _in_path(name: str) -> Data:
    return {"name": name, "in": "path", "required": True, "schema": _TEXT}


def _answer(media: str | tuple[str, ...], schema: Data, summary: str) -> Data:
    kinds = (media,) if isinstance(media, str) else media
    return {"description": summary, "content": {each: {"schema": schema} for each in kinds}}


def _problem_answer(status: int) -> Data:
    titles = " / ".join(refusal.title for refusal in REFUSALS if refusal.status == status)
    return _answer("application/problem+json", {"$ref": "#/components/schemas/Problem"}, titles)


def _problem() -> Data:
    reasons = [f"urn:deniable:problem:{refusal.reason}" for refusal in REFUSALS]
    fields = {"type": {"enum": reasons}, "title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT}
    return {"type": "object", "required": list(fields), "properties": fields}


def _outcome() -> Data:
    count = {"type": "integer", "minimum": 0}
    line = {"type": "object", "properties": {"message": count, "reason": _TEXT, "detail": _TEXT}}
    fields = {"counted": count, "duplicates": count, "refused": {"type": "array", "items": line}, "survey": hex_schema(16)}
    return {"type": "object", "required": list(fields), "properties": fields}


def _report(survey: Survey) -> Data:
    fields = {
        "survey": {"const": survey.fingerprint},
        "id": hex_schema(16),
        "period": {"type": "integer", "minimum": 0, "maximum": (1 << 32) - 1},
        "answers": {
            "type": "object",
            "properties": {question.id: _fields(question) for question in survey.questions},
            "additionalProperties": False,
            **({} if survey.budget == "sampled" else {"required": [question.id for question in survey.questions]}),
        },
    }
    required = ["survey", "id", "answers"]
    if survey.invitations is not None:
        fields["token"] = hex_schema(TOKEN_BYTES)
        required.append("token")
    return {
        "type": "object",
        "required": required,
        "properties": fields,
        "additionalProperties": False,
    }


def _fields(question: Question) -> Data:
    fields = {field.name: FORMATS[type(field)].schema(field) for field in question.mechanism.layout.fields}
    return {"type": "object", "required": list(fields), "properties": fields, "additionalProperties": False}


_TEXT: Data = {"type": "string"}

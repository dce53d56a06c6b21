"""The interface as its own description tells it: made-up requests to a real collector, whose answers must conform."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings

from deniable.survey.message import MEDIA_TYPE
from tests.servers import Served, served
from tests.surveys import SPARSE

pytestmark = pytest.mark.needs("schemathesis", "starlette", "uvicorn")

REQUESTS = settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("interface")
    file = folder / "survey.toml"
    file.write_text(SPARSE)
    with served(file, str(folder / "store.db")) as running:
        yield running


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_answers_are_as_described(mode: str, collector: Served) -> None:
    """Never a 500; status, media type and body as described; what is not described is refused."""
    import schemathesis
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as openapi

    schemathesis.serializer(MEDIA_TYPE)(lambda ctx, value: value if isinstance(value, bytes) else str(value).encode())
    schema = schemathesis.openapi.from_url(collector.url + "/openapi.json")
    operations: list[Any] = [cast(Any, result).ok() for result in schema.get_all_operations()]
    assert {"/v1/reports", "/v1/results"} <= {operation.path for operation in operations}
    for operation in operations:
        takes = operation.body or operation.query
        if mode == "negative" and not takes:
            continue  # nothing can be wrong with a request that takes nothing

        @REQUESTS
        @given(operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
        def every(case: Any) -> None:
            case.call_and_validate(
                checks=[
                    checks.not_a_server_error,
                    openapi.status_code_conformance,
                    openapi.content_type_conformance,
                    openapi.response_schema_conformance,
                    openapi.negative_data_rejection,
                ]
            )

        every()
    assert collector.get("/health/ready") == {"status": "ready"}

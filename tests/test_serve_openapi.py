"""The served OpenAPI document: valid by the official schema, complete, and true to the bundle and to what is answered."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import httpx
import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from conformance.oracle import Oracle
from conformance.serving.host import Host
from conformance.serving.http import application
from conformance.serving.openapi import document
from conformance.serving.statuses import STATUS, status_of
from conformance.wire import bundle
from conformance.wire.vocabulary import Flag
from tests.schema_samples import damaged, sample

CONTRACT = bundle.load()
FLAGS = ", ".join(map(CONTRACT.flag, Flag))


class Client:
    """Asks the application, without a network between."""

    def __init__(self) -> None:
        self._transport = httpx.ASGITransport(application(Host(Oracle(), CONTRACT), "t"))

    def get(self, path: str) -> httpx.Response:
        return asyncio.run(self._ask("GET", path))

    def post(self, path: str, **request: Any) -> httpx.Response:
        return asyncio.run(self._ask("POST", path, **request))

    async def _ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        async with httpx.AsyncClient(transport=self._transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, **request)


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


@pytest.fixture(scope="module")
def described(client: Client) -> Any:
    answer = client.get("/openapi.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    return answer.json()


def operations(described: Any) -> dict[str, Any]:
    return {path.removeprefix("/"): item["post"] for path, item in described["paths"].items()}


def validator(described: Any, pointer: str) -> jsonschema.Draft202012Validator:
    registry: Registry[Any] = Registry().with_resource("urn:openapi", DRAFT202012.create_resource(described))
    schema = {"$ref": f"urn:openapi#{pointer}"}
    return jsonschema.Draft202012Validator(
        schema, registry=registry, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )


def test_it_is_valid_by_the_official_schema(described: Any) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(described).iter_errors()] == []


def test_a_broken_document_would_be_seen(described: Any) -> None:
    broken = {**described, "paths": {"/x": {"post": {"responses": {"200": {}}}}}}
    assert list(OpenAPIV31SpecValidator(broken).iter_errors())


def test_every_operation_has_its_path_and_every_code_its_status(described: Any) -> None:
    assert list(operations(described)) == list(CONTRACT.operations)
    assert len(described["paths"]) == 33
    told = {
        code: int(status)
        for status, response in described["components"]["responses"].items()
        for code in response["content"]["application/json"]["examples"]
    }
    assert told == {row.code: STATUS.get(symbol, 409) for symbol, row in CONTRACT.errors.items()}
    for operation in operations(described).values():
        assert set(operation["responses"]) == {"200", *map(str, told.values())}


@pytest.mark.parametrize("op", list(CONTRACT.operations))
def test_examples_are_valid_by_the_document_and_by_the_bundle(described: Any, op: str) -> None:
    operation = operations(described)[op]
    request = operation["requestBody"]["content"]["application/json"]["examples"]["plain"]["value"]
    answer = operation["responses"]["200"]["content"]["application/json"]["examples"]["plain"]["value"]
    path = f"/paths/~1{op}/post"
    assert CONTRACT.request(op).problems(request) == CONTRACT.response(op).problems(answer) == []
    validator(described, f"{path}/requestBody/content/application~1json/schema").validate(request)
    validator(described, f"{path}/responses/200/content/application~1json/schema").validate(answer)
    with pytest.raises(jsonschema.ValidationError):
        validator(described, f"{path}/responses/200/content/application~1json/schema").validate({"error": {}})


def test_examples_of_refusals_are_valid(described: Any) -> None:
    for status, response in described["components"]["responses"].items():
        body = response["content"]["application/json"]
        for code, example in body["examples"].items():
            assert str(status_of(CONTRACT, {"code": code})) == status
            validator(described, f"/components/responses/{status}/content/application~1json/schema").validate(example["value"])


def test_the_change_of_dialect_changes_no_verdict(described: Any) -> None:
    """What the bundle refuses, the components refuse, and nothing else: judged over damaged requests of every operation."""
    random, judged = Random(1), {True: 0, False: 0}
    for op in CONTRACT.operations:
        ours = CONTRACT.request(op)
        theirs = validator(described, f"/paths/~1{op}/post/requestBody/content/application~1json/schema")
        for _ in range(10):
            valid = sample(CONTRACT, CONTRACT.request_ref(op), random)
            for instance in (valid, damaged(valid, random)):
                verdict = ours.accepts(instance)
                judged[verdict] += 1
                assert theirs.is_valid(instance) or not verdict, instance
                assert verdict or not theirs.is_valid(instance), instance
    assert min(judged.values()) > 50, judged


def test_what_is_answered_is_what_the_document_says(client: Client, described: Any) -> None:
    principal = client.post("/control.principal", json={}, headers={"Authorization": "Bearer t"}).json()
    bearer = {"Authorization": f"Bearer {principal['credential']}", "Spoke-Capabilities": FLAGS}
    seen = set()
    for op in CONTRACT.operations:
        for headers, body in (({}, {}), (bearer, {"no": 1}), (bearer, {}), ({**bearer, "Spoke-Capabilities": ""}, {})):
            answer = client.post(f"/{op}", json=body, headers=headers)
            seen.add(answer.status_code)
            found = described["paths"][f"/{op}"]["post"]["responses"][str(answer.status_code)]
            pointer = found["$ref"].removeprefix("#") if "$ref" in found else f"/paths/~1{op}/post/responses/{answer.status_code}"
            validator(described, f"{pointer}/content/application~1json/schema").validate(answer.json())
    assert seen == {200, 400, 401, 403}


def test_it_names_the_bundle_and_is_the_same_each_time() -> None:
    first = document(CONTRACT)
    assert CONTRACT.digest in first["info"]["description"]
    assert first == document(CONTRACT)

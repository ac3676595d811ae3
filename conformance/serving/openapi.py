"""An OpenAPI 3.1 document of the HTTP transport, derived from a bundle: one path an operation, all refusals, real examples.

The bundle's schemas are draft-07. They become components without a change of meaning: OpenAPI's dialect knows every keyword that
they use, and beside a reference they have descriptions alone. Controls are no part of the protocol, and so not of the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import metadata
from itertools import count
from typing import Any

from conformance import scenes
from conformance.bench import Bench
from conformance.levers import hello
from conformance.oracle import Clock, Oracle
from conformance.serving.statuses import codes_by_status
from conformance.transport.in_process import InProcess
from conformance.transport.openers import START, STEP
from conformance.wire.bundle import Bundle, Operation
from conformance.wire.vocabulary import Flag

JSON = "application/json"
BEARER = "credential"
FLAGS_HEADER = "SpokeCapabilities"
INNER = "/definitions/"
IDENTITY = ("$id", "$schema", "definitions")
PHRASES: Mapping[int, str] = {
    400: "The request breaks its schema, or a value that it holds cannot be taken.",
    401: "No principal was admitted by the credential.",
    403: "The flag was not negotiated, or the caller lacks what the operation needs.",
    404: "There is no such operation, or nothing of that name that the caller may see.",
    409: "The request does not go with the present state.",
    413: "The request goes beyond a limit.",
    422: "The import is defective.",
    423: "The space is frozen, or what the request touches is fenced.",
    500: "The provider failed.",
}

Json = dict[str, Any]


def document(bundle: Bundle) -> Json:
    """Return the document as JSON."""
    names = _names(bundle)
    examples = dict(_examples(bundle))
    told = codes_by_status(bundle)
    refusals = {str(status): {"$ref": f"#/components/responses/{status}"} for status in told}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent memory",
            "version": metadata.version("memory-conformance"),
            "description": f"The memory family over HTTP. Schema bundle {bundle.digest}.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{BEARER: []}],
        "tags": [{"name": name} for name in dict.fromkeys(map(_family, bundle.operations.values()))],
        "paths": {
            f"/{operation.name}": {"post": _post(bundle, operation, names, refusals, examples.get(operation.name))}
            for operation in bundle.operations.values()
        },
        "components": {
            "securitySchemes": {BEARER: {"type": "http", "scheme": "bearer", "description": "Makes a principal."}},
            "parameters": {FLAGS_HEADER: _flags_header(bundle)},
            "responses": {
                str(status): _refusal(bundle, names, status, codes) for status, codes in codes_by_status(bundle).items()
            },
            "schemas": {name: _moved(bundle.schema(ref), ref, names) for ref, name in names.items()},
        },
    }


def _post(bundle: Bundle, operation: Operation, names: Mapping[str, str], refusals: Json, example: Json | None) -> Json:
    request, response = bundle.request_ref(operation.name), bundle.response_ref(operation.name)
    asked, answered = {"schema": _ref(names[request])}, {"schema": _success(bundle.schema(response), response, names)}
    if example is not None:
        asked["examples"], answered["examples"] = ({"plain": {"value": example[side]}} for side in ("request", "answer"))
    return {
        "operationId": operation.method,
        "summary": bundle.schema(request).get("description", operation.name),
        "description": f"Needs the flag {bundle.flag(operation.flag)}.",
        "tags": [_family(operation)],
        "parameters": [{"$ref": f"#/components/parameters/{FLAGS_HEADER}"}],
        "requestBody": {"required": True, "content": {JSON: asked}},
        "responses": {"200": {"description": "The operation's success body.", "content": {JSON: answered}}, **refusals},
    }


def _refusal(bundle: Bundle, names: Mapping[str, str], status: int, codes: list[str]) -> Json:
    envelope = names[bundle.model_ref("ErrorEnvelope")]
    error = {"allOf": [_ref(envelope), {"properties": {"code": {"enum": codes}}}]}
    extensions = _ref(names[bundle.model_ref("ExtensionMap")])
    schema = {
        "type": "object",
        "required": ["error"],
        "properties": {"error": error, "extensions": extensions},
        "additionalProperties": False,
    }
    shown = {code: {"value": {"error": {"code": code, "message": PHRASES[status], "extensions": {}}}} for code in codes}
    return {"description": PHRASES[status], "content": {JSON: {"schema": schema, "examples": shown}}}


def _flags_header(bundle: Bundle) -> Json:
    return {
        "name": "Spoke-Capabilities",
        "in": "header",
        "required": False,
        "description": "The flags that the session negotiated, with commas between them.",
        "schema": {"type": "string"},
        "example": ", ".join(map(bundle.flag, Flag)),
    }


def _family(operation: Operation) -> str:
    family, dot, _ = operation.stem.rpartition(".")
    return family if dot else operation.stem


# -- schemas as components


def _names(bundle: Bundle) -> dict[str, str]:
    """Name every document and every definition of the bundle: reference -> name of the component."""
    names: dict[str, str] = {}
    for identity, schema in bundle.documents.items():
        inner = [(f"{identity}#{INNER}{name}", name) for name in schema.get("definitions", {})]
        for ref, name in ((identity, schema.get("title", "Schema")), *inner):
            free = (f"{name}{number or ''}" for number in count())
            names[ref] = next(name for name in free if name not in names.values())
    return names


def _moved(schema: Any, base: str, names: Mapping[str, str]) -> Any:
    """Return a schema with its references pointing at components, without the identity of a file."""
    if isinstance(schema, list):
        return [_moved(inner, base, names) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    moved = {key: _moved(value, base, names) for key, value in schema.items() if key not in IDENTITY}
    if isinstance(ref := schema.get("$ref"), str):
        moved["$ref"] = _ref(names[ref if not ref.startswith("#") else base.partition("#")[0] + ref])["$ref"]
    return moved


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _success(schema: Mapping[str, Any], base: str, names: Mapping[str, str]) -> Any:
    """Return the success branch of a response's schema; the whole where it has none."""
    branches = [branch for branch in schema.get("oneOf", ()) if "error" not in branch.get("required", ())]
    return _moved(branches[0], base, names) if len(branches) == 1 else _ref(names[base])


# -- examples


def _examples(bundle: Bundle) -> Iterator[tuple[str, Json]]:
    """Walk a real request of each operation with its real answer, from the bundled provider on a clock of its own."""
    shim = InProcess(Oracle(bundle=bundle, clock=Clock(count(START, STEP).__next__)))
    bench = Bench(shim, bundle, hello(shim))
    for world, operation, call in scenes.each(bench):
        yield operation.name, {"request": call.payload, "answer": world.exchange(call).payload}

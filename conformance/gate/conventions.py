"""The conventions that the schemas of the family keep (protocol.md section 1). Names of models stand in ``conventions.json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlparse

from conformance.gate.points import Point
from conformance.wire.bundle import Bundle
from conformance.wire.documents import subschemas
from strategies.breakers import BREAKERS
from strategies.keywords import ASSERTIONS

_CONDITIONAL = frozenset({"if", "then", "else", "anyOf", "allOf", "oneOf", "not"})
_OTHER_KEYWORDS = frozenset(
    {
        "$schema", "$id", "$ref", "$comment", "title", "description", "examples", "default", "definitions", "if", "then", "else",
        "allOf", "anyOf", "oneOf", "not", "dependencies", "additionalItems", "readOnly", "writeOnly",
    }
)  # fmt: skip
ERROR = "error"
EXTENSIONS = "extensions"


@cache
def names() -> Mapping[str, Any]:
    """Return which models there are, which are durable, what they carry, and which objects are open and why."""
    text = resources.files("conformance.gate").joinpath("conventions.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@dataclass(frozen=True)
class _Node:
    """A schema in a document: ``title`` is the document's, ``file`` its name, ``where`` the pointer in it."""

    title: str
    file: str
    identity: str
    where: str
    schema: Mapping[str, Any]

    def point(self, kind: str, what: str) -> Point:
        return Point(kind, f"{self.file}#{self.where}", what)

    @property
    def conditional(self) -> bool:
        """True inside of what only adds to a schema that stands elsewhere."""
        return bool(_CONDITIONAL & set(self.where.split("/")))

    @property
    def member(self) -> bool:
        """True for a member, a definition, or the document."""
        return not self.where or self.where.rpartition("/")[0].rpartition("/")[2] in ("properties", "definitions")


def conventions(bundle: Bundle, files: Mapping[str, Path]) -> Iterator[Point]:
    """List what a bundle does otherwise. ``files`` maps the names of its files to their places."""
    nodes = list(_nodes(bundle, files))
    for node in nodes:
        for rule in _OF_NODES:
            yield from rule(node)
    yield from _unused(nodes)
    documents = {node.identity: node for node in nodes if not node.where}
    for look in (_models, _responses, _requests, _examples):
        yield from look(bundle, documents)


def _nodes(bundle: Bundle, files: Mapping[str, Path]) -> Iterator[_Node]:
    by_id = {json.loads(path.read_text("utf-8"))["$id"].removesuffix("#"): name for name, path in files.items()}
    for identity, document in bundle.documents.items():
        for where, schema in subschemas(document):
            if isinstance(schema, Mapping):
                yield _Node(str(document.get("title", "")), by_id.get(identity, identity), identity, where, schema)


def _identity(node: _Node) -> Iterator[Point]:
    if node.where:
        return
    wanted = "/".join(node.file.split("/")[-2:])
    if not urlparse(node.identity).scheme or not node.identity.endswith(f"/{wanted}"):
        yield node.point("$id", f"{node.identity} is not an absolute name that ends with {wanted}")
    if not node.title:
        yield node.point("title", "the document has no title")


def _reference(node: _Node) -> Iterator[Point]:
    reference = node.schema.get("$ref")
    if isinstance(reference, str) and not urlparse(reference).scheme:
        yield node.point("reference", f"{reference} is not absolute")


def _closed(node: _Node) -> Iterator[Point]:
    is_object = node.schema.get("type") == "object" and not _only_adds(node)
    if is_object and node.schema.get("additionalProperties") is not False and f"{node.title}#{node.where}" not in names()["open"]:
        yield node.point("closed", "the object is open: it has no additionalProperties false")


def _only_adds(node: _Node) -> bool:
    return bool({"if", "then", "else", "allOf", "not"} & set(node.where.split("/")))


def _described(node: _Node) -> Iterator[Point]:
    if node.member and not node.conditional and not str(node.schema.get("description", "")).strip():
        yield node.point("description", "nothing describes it")


def _known(node: _Node) -> Iterator[Point]:
    for keyword in node.schema:
        if keyword not in ASSERTIONS and keyword not in BREAKERS and keyword not in _OTHER_KEYWORDS:
            yield node.point("keyword", f"draft-07 and the strategies know no keyword {keyword!r}")


_OF_NODES: tuple[Callable[[_Node], Iterator[Point]], ...] = (_identity, _reference, _closed, _described, _known)


def _unused(nodes: list[_Node]) -> Iterator[Point]:
    used = {urljoin(node.identity, node.schema["$ref"]) for node in nodes if isinstance(node.schema.get("$ref"), str)}
    for node in nodes:
        definition = node.where.startswith("/definitions/") and node.where.count("/") == len(("", "definitions"))
        if definition and f"{node.identity}#{node.where}" not in used:
            yield node.point("definition", "nothing refers to it")


Documents = Mapping[str, _Node]


def _models(_bundle: Bundle, documents: Documents) -> Iterator[Point]:
    by_title = {node.title: node for node in documents.values()}
    for title in names()["models"]:
        if title not in by_title:
            yield Point("model", title, "no document has this title")
    for title in names()["durable"]:
        lacking = set(names()["envelope"]) - set(by_title[title].schema.get("required", ())) if title in by_title else set()
        if lacking:
            yield by_title[title].point("envelope", f"a durable model requires {' and '.join(sorted(lacking))}")


def _responses(bundle: Bundle, documents: Documents) -> Iterator[Point]:
    for op in bundle.operations:
        node = documents[urldefrag(bundle.response_ref(op))[0]]
        branches = node.schema.get("oneOf")
        if not isinstance(branches, list) or len(branches) != 2 or not all(isinstance(one, Mapping) for one in branches):
            yield node.point("response", "an answer is oneOf a success and a refusal")
            continue
        refusal = [one for one in branches if ERROR in one.get("required", ())]
        if len(refusal) != 1 or set(refusal[0].get("properties", {})) != {ERROR, EXTENSIONS}:
            yield node.point("response", f"a refusal has exactly {ERROR} and, where there are any, {EXTENSIONS}")


def _requests(bundle: Bundle, documents: Documents) -> Iterator[Point]:
    for op in bundle.operations:
        node = documents[urldefrag(bundle.request_ref(op))[0]]
        if EXTENSIONS not in node.schema.get("properties", {}) or EXTENSIONS in node.schema.get("required", ()):
            yield node.point("request", f"a request may carry {EXTENSIONS} and need not")


def _examples(bundle: Bundle, documents: Documents) -> Iterator[Point]:
    for node in documents.values():
        examples = node.schema.get("examples", [])
        if "/data/" in node.identity and not examples:
            yield node.point("examples", "a data file has examples")
        validator = bundle.validator(node.identity)
        for index, example in enumerate(examples):
            for problem in validator.problems(example)[:1]:
                yield Point(
                    "examples", f"{node.file}#/examples/{index}", f"not valid: {problem.pointer or '/'}: {problem.message}"
                )

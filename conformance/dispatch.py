"""The dispatch layer in front of any ``MemoryPort`` (protocol.md section 6, items 1 to 4, in this order).

Admission, known operation, negotiated flag, request schema: each check is one small function that raises ``MemoryRejected``. What
is refused here never reaches the port: no state changes, no receipt is made, no idempotency key is used.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from conformance.errors import SuiteFault, TargetFault
from conformance.port import MemoryPort, MemoryRejected, Principal
from conformance.wire.bundle import Bundle, Operation
from conformance.wire.vocabulary import Code, Flag, Reason

Admission = Callable[[str | None], Principal | None]
Reply = dict[str, Any]

COGNITION_FILTER = "cognition_filter"

MAX_NESTING = 64
# A document of 64 levels travels inside a chunk: request, chunk, items, item, value. It must not get stuck there.
MORE_NESTING: Mapping[str, int] = {"memory.imports.stage": 8}

MESSAGES: Mapping[Code, str] = {
    Code.NOT_AUTHENTICATED: "the credential admits nobody",
    Code.UNKNOWN_OPERATION: "there is no such operation",
    Code.FLAG_NOT_NEGOTIATED: "the capability was not negotiated",
    Code.MALFORMED_REQUEST: "the request breaks its schema",
    Code.INTERNAL: "the provider failed",
}


def ignore(_error: Exception) -> None:
    """Do nothing about a crash of the port."""


class Dispatcher:
    """Puts a port behind admission, the capability gate and request validation.

    ``declared`` are the host's flags as wire strings, ``dimensions`` the cognition dimensions that a filter is served for (None:
    all of the schema). ``crashed`` is told of each exception of the port that is no ``MemoryRejected``; the answer shows none.
    The suite's own faults (a deadline that rings inside the port) pass through.
    """

    def __init__(
        self,
        port: MemoryPort,
        admission: Admission,
        bundle: Bundle,
        declared: frozenset[str],
        *,
        dimensions: frozenset[str] | None = None,
        crashed: Callable[[Exception], None] = ignore,
    ) -> None:
        self._port = port
        self._admission = admission
        self._bundle = bundle
        self._declared = declared
        self._dimensions = served_dimensions(bundle) if dimensions is None else dimensions
        self._known_predicates = predicates(bundle)
        self._crashed = crashed

    def call(self, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Reply | Awaitable[Reply]:
        """Answer ``{"payload": …}`` or ``{"error": ErrorEnvelope}``; an awaitable of it where the port's method is async."""
        try:
            principal = admitted(self._bundle, self._admission, credential)
            operation = known(self._bundle, op)
            self._check(operation, negotiated(flags, self._declared), payload)
            answer = getattr(self._port, operation.method)(principal, payload)
        except (TargetFault, SuiteFault):
            raise
        except Exception as error:
            return self._refused(error)
        return self._awaited(answer) if inspect.isawaitable(answer) else {"payload": answer}

    def _check(self, operation: Operation, flags: frozenset[str], payload: Any) -> None:
        gate(self._bundle, operation, flags)
        gate_cognition(self._bundle, operation, flags, payload)
        refuse_deep(self._bundle, operation, payload)
        refuse_unserved_filter(self._bundle, operation, payload, self._known_predicates, self._dimensions)
        refuse_malformed(self._bundle, operation, payload)

    async def _awaited(self, answer: Awaitable[Any]) -> Reply:
        try:
            return {"payload": await answer}
        except (TargetFault, SuiteFault):
            raise
        except Exception as error:
            return self._refused(error)

    def _refused(self, error: Exception) -> Reply:
        if isinstance(error, MemoryRejected):
            return {"error": envelope(error)}
        self._crashed(error)
        return {"error": envelope(rejection(self._bundle, Code.INTERNAL))}


def rejection(bundle: Bundle, symbol: Code, **details: Any) -> MemoryRejected:
    """Make the refusal of the dispatch layer, with the retry class of the table."""
    row = bundle.answered(symbol)
    return MemoryRejected(row.code, MESSAGES[symbol], {**details, "retry": row.retry})


def envelope(refusal: MemoryRejected) -> Reply:
    """Give a refusal as an ErrorEnvelope."""
    made: Reply = {"code": refusal.code, "message": refusal.message, "extensions": {}}
    return {**made, "details": dict(refusal.details)} if refusal.details else made


# -- 1 to 3


def admitted(bundle: Bundle, admission: Admission, credential: str | None) -> Principal:
    """Give the principal that a credential admits (1). None and the empty text are no credential; compared exactly otherwise."""
    principal = admission(credential) if credential else None
    if principal is None:
        raise rejection(bundle, Code.NOT_AUTHENTICATED)
    return principal


def known(bundle: Bundle, op: str) -> Operation:
    """Give the operation of a name (2)."""
    operation = bundle.operations.get(op)
    if operation is None:
        raise rejection(bundle, Code.UNKNOWN_OPERATION)
    return operation


def negotiated(flags: Iterable[str], declared: frozenset[str]) -> frozenset[str]:
    """Give the negotiated set: a flag that was asked for but is not declared does not count (harness.md)."""
    return declared & frozenset(flags)


def gate(bundle: Bundle, operation: Operation, flags: frozenset[str]) -> None:
    """Refuse an operation whose own flag is not negotiated (3); the gate looks at no other flag."""
    if bundle.flag(operation.flag) not in flags:
        raise rejection(bundle, Code.FLAG_NOT_NEGOTIATED)


def gate_cognition(bundle: Bundle, operation: Operation, flags: frozenset[str], payload: Any) -> None:
    """Refuse a cognition filter on one of its requests where its flag is not negotiated (section 2)."""
    if has_filter(operation, payload) and bundle.flag(Flag.COGNITION) not in flags:
        raise rejection(bundle, Code.FLAG_NOT_NEGOTIATED)


# -- 4


def refuse_malformed(bundle: Bundle, operation: Operation, payload: Any) -> None:
    """Refuse a body that breaks the request schema, one that is no object too; ``details.pointer`` says where."""
    validator = bundle.request(operation.name)
    if not validator.accepts(payload):
        pointer = next((problem.pointer for problem in validator.problems(payload)), "")
        raise rejection(bundle, Code.MALFORMED_REQUEST, pointer=printable(pointer))


def refuse_deep(bundle: Bundle, operation: Operation, payload: Any) -> None:
    """Refuse what is nested deeper than is taken (section 1)."""
    if is_deeper(payload, MAX_NESTING + MORE_NESTING.get(operation.name, 0)):
        raise rejection(bundle, Code.MALFORMED_REQUEST)


def is_deeper(value: Any, levels: int) -> bool:
    """Say whether objects and arrays nest more than ``levels`` deep, the value itself the first; without recursion."""
    layer = [value] if isinstance(value, (dict, list)) else []
    for _ in range(levels):
        if not layer:
            return False
        layer = [inner for outer in layer for inner in members(outer) if isinstance(inner, (dict, list))]
    return bool(layer)


def members(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    """Give what is inside an object or array."""
    return value.values() if isinstance(value, dict) else value


def refuse_unserved_filter(
    bundle: Bundle, operation: Operation, payload: Any, known_predicates: frozenset[str], dimensions: frozenset[str]
) -> None:
    """Refuse a cognition filter with an unknown member or a dimension that is not served, with the reason that says so."""
    if not has_filter(operation, payload):
        return
    wanted = payload[COGNITION_FILTER]
    if isinstance(wanted, dict) and (not known_predicates.issuperset(wanted) or has_unserved_dimension(wanted, dimensions)):
        reason = bundle.reason(Reason.UNSUPPORTED_COGNITION)
        raise rejection(bundle, Code.MALFORMED_REQUEST, reason=reason, pointer=f"/{COGNITION_FILTER}")


def has_filter(operation: Operation, payload: Any) -> bool:
    """Say whether a request carries a cognition filter where one is taken; elsewhere it is an unknown member."""
    return operation.takes_cognition_filter and isinstance(payload, dict) and COGNITION_FILTER in payload


def has_unserved_dimension(wanted: Mapping[str, Any], dimensions: frozenset[str]) -> bool:
    """Say whether a filter asks for a dimension, as a string, that is not served."""
    dimension = wanted.get("dimension")
    return isinstance(dimension, str) and dimension not in dimensions


def predicates(bundle: Bundle) -> frozenset[str]:
    """Give the members that a CognitionFilter may have."""
    return frozenset(bundle.schema(bundle.model_ref("CognitionFilter"))["properties"])


def served_dimensions(bundle: Bundle) -> frozenset[str]:
    """Give all cognition dimensions of the schema."""
    return frozenset(bundle.schema(bundle.model_ref("CognitionDimension"))["enum"])


def printable(text: str) -> str:
    """Give a text without what has no UTF-8 form."""
    return text.encode("utf-8", "backslashreplace").decode()

"""The dispatch layer in front of any port: protocol.md section 2 and section 6, items 1 to 4."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from conformance.dispatch import MAX_NESTING, Dispatcher, is_deeper
from conformance.errors import SuiteFault, TargetFault
from conformance.port import MemoryPort, MemoryRejected, Principal
from conformance.wire.bundle import load
from conformance.wire.vocabulary import Code, Flag, Reason

BUNDLE = load()
FLAGS = frozenset(map(BUNDLE.flag, Flag))
SPACE = {"space_id": "s"}
LIST = {**SPACE, "selection": {"subject_id": "u", "mode": "all_authorized"}}
ENSURE = {**SPACE, "idempotency_key": "k", "subject_id": "u"}
FIVE = sorted(row.name for row in BUNDLE.operations.values() if row.takes_cognition_filter)


class Port:
    """A port that remembers what reached it, and answers as it is told."""

    def __init__(self, answer: Callable[[], Any] = dict) -> None:
        self.reached: list[tuple[str, Principal, Any]] = []
        self._answer = answer

    def __getattr__(self, method: str) -> Callable[[Principal, Any], Any]:
        def called(principal: Principal, request: Any) -> Any:
            self.reached.append((method, principal, request))
            return self._answer()

        return called


def admission(credential: str | None) -> Principal | None:
    return Principal(credential.upper()) if credential in {"ann", "", "bob "} else None


def dispatcher(port: Any, declared: frozenset[str] = FLAGS, **members: Any) -> Dispatcher:
    return Dispatcher(cast("MemoryPort", port), admission, BUNDLE, declared, **members)


def call(op: str, payload: Any, *, credential: str | None = "ann", flags: frozenset[str] = FLAGS, **members: Any) -> Any:
    """Call through a dispatcher over a fresh port; a refused call must not have reached it."""
    port = Port()
    answer = dispatcher(port, **members).call(credential, flags, op, payload)
    assert ("error" in cast("dict[str, Any]", answer)) == (not port.reached)
    return answer


def refused(symbol: Code, op: str, payload: Any, **members: Any) -> dict[str, Any]:
    """Expect a refusal with this code before the port; give its details."""
    error = call(op, payload, **members)["error"]
    assert BUNDLE.model("ErrorEnvelope").problems(error) == []
    assert error["code"] == BUNDLE.code(symbol)
    assert error["details"]["retry"] == BUNDLE.errors[symbol].retry
    details: dict[str, Any] = error["details"]
    return details


class TestAdmission:
    @pytest.mark.parametrize("credential", [None, "", "nobody", "Ann", "ann ", "bob"])
    def test_refuses_what_it_does_not_know_exactly(self, credential: str | None) -> None:
        refused(Code.NOT_AUTHENTICATED, "memory.describe", {}, credential=credential)

    def test_makes_the_principal_that_the_port_gets(self) -> None:
        port = Port()
        dispatcher(port).call("ann", FLAGS, "memory.subjects.ensure", ENSURE)
        dispatcher(port).call("bob ", FLAGS, "memory.subjects.ensure", ENSURE)
        assert port.reached == [("subjects_ensure", Principal(name), ENSURE) for name in ("ANN", "BOB ")]

    def test_comes_before_everything_else(self) -> None:
        refused(Code.NOT_AUTHENTICATED, "memory.nothing", [], credential=None, flags=frozenset())


class TestGate:
    @pytest.mark.parametrize("op", ["memory.nothing", "", "records.create", "MEMORY.DESCRIBE", "memory.describe "])
    def test_an_unknown_operation(self, op: str) -> None:
        refused(Code.UNKNOWN_OPERATION, op, {}, flags=frozenset())

    @pytest.mark.parametrize("row", BUNDLE.operations.values(), ids=lambda row: row.name)
    def test_looks_at_the_operations_own_flag_only(self, row: Any) -> None:
        own = BUNDLE.flag(row.flag)
        refused(Code.FLAG_NOT_NEGOTIATED, row.name, [], flags=FLAGS - {own})
        refused(Code.FLAG_NOT_NEGOTIATED, row.name, [], declared=FLAGS - {own})
        refused(Code.MALFORMED_REQUEST, row.name, [], flags=frozenset({own}))

    @pytest.mark.parametrize("op", FIVE)
    def test_the_cognition_filter_needs_its_flag_too(self, op: str) -> None:
        without = FLAGS - {BUNDLE.flag(Flag.COGNITION)}
        payload = {**LIST, "cognition_filter": {"dimension": "belief"}}
        more: dict[str, Any] = {"budget": {"max_records": 1}} if op == "memory.recall" else {}
        more = {"idempotency_key": "k"} if BUNDLE.operations[op].mutation else more
        refused(Code.FLAG_NOT_NEGOTIATED, op, {**payload, **more}, flags=without)
        assert "payload" in call(op, {**payload, **more})
        assert "payload" in call(op, {**LIST, **more}, flags=without)

    def test_elsewhere_the_filter_is_an_unknown_member(self) -> None:
        for flags in (FLAGS, FLAGS - {BUNDLE.flag(Flag.COGNITION)}):
            details = refused(
                Code.MALFORMED_REQUEST, "memory.candidates.list", {**LIST, "cognition_filter": {"dimension": "x"}}, flags=flags
            )
            assert "reason" not in details


class TestSchema:
    @pytest.mark.parametrize("payload", [None, [], "x", 5, True, [{}]], ids=repr)
    def test_a_body_that_is_no_object(self, payload: Any) -> None:
        for op in ("memory.describe", "memory.records.list"):
            refused(Code.MALFORMED_REQUEST, op, payload)

    def test_says_where(self) -> None:
        assert refused(Code.MALFORMED_REQUEST, "memory.subjects.ensure", {**ENSURE, "subject_id": 5})["pointer"] == "/subject_id"
        assert refused(Code.MALFORMED_REQUEST, "memory.subjects.ensure", {**ENSURE, "\ud800": 5})["pointer"] == ""
        json.dumps(refused(Code.MALFORMED_REQUEST, "memory.subjects.ensure", {**ENSURE, "extensions": {"\ud800": 5}})).encode()

    def test_coerces_nothing(self) -> None:
        page = {"page": {"limit": "5"}}
        refused(Code.MALFORMED_REQUEST, "memory.records.list", {**LIST, **page})
        assert "payload" in call("memory.records.list", {**LIST, "page": {"limit": 5.0}})

    def test_an_unserved_cognition_requirement_says_so(self) -> None:
        reason = BUNDLE.reason(Reason.UNSUPPORTED_COGNITION)
        op = "memory.records.list"
        unserved: list[Any] = [{"dimension": "hope"}, {"dimension": "belief", "holder": "x"}, {"Dimension": "belief"}, {"x": 5}]
        for wanted in unserved:
            assert refused(Code.MALFORMED_REQUEST, op, {**LIST, "cognition_filter": wanted})["reason"] == reason
        malformed: list[Any] = [{}, [], None, {"dimension": 5}, {"recorded_after": "yesterday"}, {"basis_kind": "guessed"}]
        for wanted in malformed:
            assert "reason" not in refused(Code.MALFORMED_REQUEST, op, {**LIST, "cognition_filter": wanted})
        belief = {**LIST, "cognition_filter": {"dimension": "belief"}}
        assert "payload" in call(op, belief)
        assert refused(Code.MALFORMED_REQUEST, op, belief, dimensions=frozenset({"desire"}))["reason"] == reason

    @pytest.mark.parametrize("kind", [list, dict])
    def test_depth_is_taken_to_64_levels_and_harmless_beyond(self, kind: type) -> None:
        def nested(levels: int) -> Any:
            value: Any = kind()
            for _ in range(levels - 1):
                value = [value] if kind is list else {"a": value}
            return value

        op = "memory.subjects.ensure"
        # The payload, its extensions and the namespace are three levels.
        taken = {**ENSURE, "extensions": {"acme": {"x": nested(MAX_NESTING - 3)}}}
        assert "payload" in call(op, taken)
        for levels in (MAX_NESTING - 2, 500, 20_000):
            refused(Code.MALFORMED_REQUEST, op, {**ENSURE, "extensions": {"acme": {"x": nested(levels)}}})
            refused(Code.MALFORMED_REQUEST, op, nested(levels + 3))
        assert is_deeper(nested(3), 2)
        assert not is_deeper(nested(3), 3)
        assert not is_deeper(5, 0)


class TestPortAnswers:
    def test_a_refusal_of_the_port_is_passed_on(self) -> None:
        def refuse() -> Any:
            raise MemoryRejected("NOT_FOUND", "gone", {"a": 1})

        answer = dispatcher(Port(refuse)).call("ann", FLAGS, "memory.describe", {})
        assert answer == {"error": {"code": "NOT_FOUND", "message": "gone", "extensions": {}, "details": {"a": 1}}}

    def test_a_refusal_without_details_has_none(self) -> None:
        def refuse() -> Any:
            raise MemoryRejected("NOT_FOUND")

        answer = dispatcher(Port(refuse)).call("ann", FLAGS, "memory.describe", {})
        assert answer == {"error": {"code": "NOT_FOUND", "message": "", "extensions": {}}}

    @pytest.mark.parametrize("error", [KeyError("secret"), RecursionError("secret"), AssertionError("secret")], ids=repr)
    def test_a_crash_is_an_internal_error_that_shows_nothing(self, error: Exception) -> None:
        def crash() -> Any:
            raise error

        told: list[Exception] = []
        answer = cast("Any", dispatcher(Port(crash), crashed=told.append).call("ann", FLAGS, "memory.describe", {}))
        assert answer["error"]["code"] == BUNDLE.code(Code.INTERNAL)
        assert answer["error"]["details"] == {"retry": BUNDLE.errors[Code.INTERNAL].retry}
        assert "secret" not in str(answer)
        assert told == [error]
        assert "error" in cast("Any", dispatcher(Port(crash)).call("ann", FLAGS, "memory.describe", {}))

    @pytest.mark.parametrize("fault", [TargetFault("late"), SuiteFault("ours")], ids=repr)
    def test_the_suites_own_faults_pass_through(self, fault: Exception) -> None:
        def raise_it() -> Any:
            raise fault

        async def later() -> Any:
            raise fault

        with pytest.raises(type(fault)):
            dispatcher(Port(raise_it)).call("ann", FLAGS, "memory.describe", {})
        with pytest.raises(type(fault)):
            asyncio.run(_settled(dispatcher(Port(later)).call("ann", FLAGS, "memory.describe", {})))

    def test_an_async_port_is_awaited(self) -> None:
        async def said() -> Any:
            return {"x": 1}

        async def refuse() -> Any:
            raise MemoryRejected("NOT_FOUND")

        async def crash() -> Any:
            raise KeyError("secret")

        answers = [
            asyncio.run(_settled(dispatcher(Port(one)).call("ann", FLAGS, "memory.describe", {})))
            for one in (said, refuse, crash)
        ]
        assert answers[0] == {"payload": {"x": 1}}
        assert [answer["error"]["code"] for answer in answers[1:]] == ["NOT_FOUND", BUNDLE.code(Code.INTERNAL)]


async def _settled(answer: Any) -> Any:
    return await answer

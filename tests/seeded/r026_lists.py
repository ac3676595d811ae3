"""Faults that MEM-R026 (profiles and reflections) must catch: lists and bases of reflections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.oracle import Oracle, records, reflections
from conformance.oracle.policy import assembly
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire import canonical
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Patched, Provider, patched

RULE = "MEM-R026"


def _oldest_first(_original: Any) -> Any:
    return lambda items: list(items)


def _newest_as_text(_original: Any) -> Any:
    """Order reflections by the text of their dates, in which a whole second comes after its fractions."""
    return lambda items: sorted(items, key=lambda one: str(one["created_at"]), reverse=True)


def _alike_without(name: str) -> Patch:
    """Compare pinned requests without one member."""

    def wrap(_original: Any) -> Any:
        names = [one for one in reflections.PINNED if one != name]
        return lambda reflection, request: all(reflections.same_member(reflection, request, one) for one in names)

    return Patch(reflections, "is_pinned_alike", wrap)


def _any_order(_original: Any) -> Any:
    """Take selections that name the same contexts in another order for the same."""

    def same(one: Doc, other: Doc, name: str) -> bool:
        if name not in one or name not in other:
            return name not in one and name not in other
        return canonical.same(_ordered(one[name]), _ordered(other[name]))

    return same


def _ordered(value: Any) -> Any:
    return {name: sorted(part) if isinstance(part, list) else part for name, part in value.items()}


def _absent_is_any(original: Any) -> Any:
    return lambda one, other, name: name not in other or original(one, other, name)


def _billing_list() -> Provider:
    """Make a provider whose list of reflections is never empty: it makes one up where there is none."""

    def wrap(original: Any) -> Any:
        def shown(turn: Turn, space: Space, request: Doc) -> list[Doc]:
            found: list[Doc] = original(turn, space, request)
            if found or turn.op.name != "memory.reflections.list":
                return found
            eligible = records.eligible(turn, space, request, turn.op.needs)
            if not eligible:
                return found
            subject_id = request["selection"]["subject_id"]
            basis = reflections.basis(turn, space, subject_id, eligible)
            pinned = {"state_digest": assembly.state_digest(request, basis), **basis}
            made = reflections.make(turn, space, request, "made-on-the-fly", pinned, eligible)
            return [made]

        return shown

    def read(_original: Any) -> Any:
        return lambda _turn, _space, reflection: {**reflection, "stale": False}

    return Patched([Patch(reflections, "shown", wrap), Patch(reflections, "read", read)])


def _few_documents(original: Any) -> Any:
    def basis(turn: Turn, space: Space, subject_id: str, found: Sequence[Doc]) -> Doc:
        whole: Doc = original(turn, space, subject_id, found)
        return {**whole, "profiles": whole["profiles"][:50]}

    return basis


def _worded(original: Any) -> Any:
    return lambda found: original([one for one in found if one["content"]["text"]])


def _counted(_original: Any) -> Any:
    return lambda pinned: {(str(len(pinned["records"])), sum(entry["revision"] for entry in pinned["records"]))}


def _of_generation(original: Any) -> Any:
    def state(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        told, generation = outcome.members["state_digest"], space.facts["authority_generation"]
        salted = told if generation == 1 else canonical.digest([told, generation])
        return outcome._replace(members={**outcome.members, "state_digest": salted})

    return state


def _of_the_process() -> Provider:
    """Make a provider that salts its digests with how often it was started."""
    starts: list[int] = [0]

    def restarted(original: Any) -> Any:
        def restore(self: Oracle, saved: Doc) -> None:
            original(self, saved)
            starts[0] += 1

        return restore

    def salted(original: Any) -> Any:
        return lambda turn, request, pinned: canonical.digest([original(turn, request, pinned), starts[0]])

    return Patched([Patch(Oracle, "restore", restarted), Patch(reflections, "state_digest", salted)])


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r026_{name}", RULE, sentence, patched(*patches), source)


def _ours(name: str, sentence: str, *patches: Patch) -> Fault:
    return _fault(name, sentence, *patches, source="ours")


FAULTS: tuple[Fault, ...] = (
    _fault("list_without_filter", "the list shows what was pinned under another filter", _alike_without("filter")),
    _ours("oldest_first", "reflections are listed oldest first", Patch(reflections, "newest_first", _oldest_first)),
    _ours("newest_as_text", "reflections are listed by the text of their dates",
          Patch(reflections, "newest_first", _newest_as_text)),
    _ours("list_without_cognition", "the list shows what was pinned under another cognition filter",
          _alike_without("cognition_filter")),
    _ours("list_any_selection", "the list shows what was pinned on another selection", _alike_without("selection")),
    _ours("contexts_in_any_order", "selections with the same contexts in another order are the same",
          Patch(reflections, "same_member", _any_order)),
    _ours("absent_filter_is_any", "a list without filter shows what was pinned under any",
          Patch(reflections, "same_member", _absent_is_any)),
    Fault("r026_list_generates", RULE, "listing makes up a reflection where there is none", _billing_list, "ours"),
    _ours("newest_only", "only the newest fifty reflections are listed", altered.cut(reflections, "newest_first")),
    _ours("first_profiles_only", "only the first fifty documents are in a basis", Patch(reflections, "basis", _few_documents)),
    _ours("words_alone_are_eligible", "a record without a word is no basis", Patch(reflections, "is_sufficient", _worded),
          Patch(reflections, "refuse_insufficient", _worded)),
    _ours("digest_of_count_and_sum", "the digest covers the number of records and the sum of their revisions",
          Patch(assembly, "record_set", _counted)),
    _ours("digest_of_the_generation", "the digest covers the authority generation",
          altered.step("reflections.state", _of_generation)),
    Fault("r026_digest_of_the_process", RULE, "a restart changes every digest", _of_the_process, "ours"),
)  # fmt: skip

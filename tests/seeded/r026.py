"""Faults that MEM-R026 (profiles and reflections) must catch: reflections.

Those of profiles are in ``r026_profiles``, more of lists and bases in ``r026_lists``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.oracle import activation, authority, jobs, records, reflections, selection, store
from conformance.oracle.policy import assembly
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire import canonical
from conformance.wire.vocabulary import Code
from tests.seeded import altered, scoped
from tests.seeded.fault import Fault, Patch, Patched, Provider, always, patched

RULE = "MEM-R026"
Docs = Sequence[Doc]


# -- basis, digest and staleness


def _without(document: Doc, name: str) -> Doc:
    return {member: value for member, value in document.items() if member != name}


def _undigested(part: str) -> Patch:
    """Leave a part of the request out of the digest."""
    return Patch(assembly, "digested_request", lambda original: lambda request: _without(original(request), part))


def _digested_without(part: str, member: str, beside: str) -> Patch:
    """Leave a member of a filter out of the digest where another one stands beside it."""

    def wrap(original: Any) -> Any:
        def digested(request: Doc) -> Doc:
            parts: Doc = original(request)
            return {**parts, part: _without(parts[part], member)} if beside in parts.get(part, ()) else parts

        return digested

    return Patch(assembly, "digested_request", wrap)


def _kinds_alone(_original: Any) -> Any:
    return lambda pinned: {(entry["kind"], 1) for entry in pinned["profiles"]}


def _ids_alone(_original: Any) -> Any:
    return lambda pinned: {(entry["record_id"], 1) for entry in pinned["records"]}


def _covering_everything() -> Provider:
    """Make a provider whose digest covers every committed change of the space."""
    versions: list[int] = [0]

    def remember(original: Any) -> Any:
        def basis(turn: Turn, space: Space, subject_id: str, found: Docs) -> Doc:
            versions[0] = space.version
            pinned: Doc = original(turn, space, subject_id, found)
            return pinned

        return basis

    def covering(original: Any) -> Any:
        return lambda turn, request, pinned: canonical.digest([original(turn, request, pinned), versions[0]])

    return Patched([Patch(reflections, "basis", remember), Patch(reflections, "state_digest", covering)])


def _required_alone(original: Any) -> Any:
    """Cover the required profile kinds only."""

    def basis(turn: Turn, space: Space, subject_id: str, found: Docs) -> Doc:
        pinned: Doc = original(turn, space, subject_id, found)
        kept = [one for one in pinned["profiles"] if one["kind"] in turn.choices.required_profile_kinds]
        return {**pinned, "profiles": kept}

    return basis


def _readable_alone(original: Any) -> Any:
    """Cover the profiles only where the caller may read them."""

    def basis(turn: Turn, space: Space, subject_id: str, found: Docs) -> Doc:
        pinned: Doc = original(turn, space, subject_id, found)
        reads = authority.holds_subject(turn, turn.need_of("memory.profile.get"), subject_id)
        return pinned if reads else {**pinned, "profiles": []}

    return basis


def _marked_stale() -> Provider:
    """Make a provider that marks a reflection stale once and for all."""
    marked: set[str] = set()

    def wrap(original: Any) -> Any:
        def is_stale(turn: Turn, space: Space, reflection: Doc, needs: Any) -> bool:
            name = f"{space.space_id} {reflection['reflection_id']}"
            if original(turn, space, reflection, needs):
                marked.add(name)
            return name in marked

        return is_stale

    return Patched([Patch(reflections, "is_stale", wrap)])


def _stale_by_others(original: Any) -> Any:
    """Compute staleness over all records of the subject, whoever covers them."""
    return lambda turn, space, reflection, _needs: original(turn, space, reflection, ())


def _stale_by_one_filter(original: Any) -> Any:
    """Leave the filter out of account where a cognition filter is pinned beside it."""

    def is_stale(turn: Turn, space: Space, reflection: Doc, needs: Any) -> bool:
        left = _without(reflection, "filter") if "cognition_filter" in reflection else reflection
        return bool(original(turn, space, left, needs))

    return is_stale


def _dead_are_covered(original: Any) -> Any:
    """Take every caller to cover a basis record that is a tombstone."""

    def covers(turn: Turn, space: Space, reflection: Doc, record_id: str) -> bool:
        record = space.records.get(record_id)
        dead = record is not None and records.is_tombstone(record)
        return dead or bool(original(turn, space, reflection, record_id))

    return covers


def _state_of_latest(original: Any) -> Any:
    """Say stale in the state where any reflection of the subject is not the newest thing."""

    def state(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        return outcome._replace(members={**outcome.members, "stale": not reflections.shown(turn, space, request)})

    return state


def _sufficient_with_profiles(_turn: Turn, _space: Space, members: Doc) -> Doc:
    return {**members, "sufficient": members["sufficient"] and not members["missing_required_kinds"]}


def _count_all(original: Any) -> Any:
    """Count tombstones and candidates too."""

    def state(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        held = space.records.of(request["selection"]["subject_id"])
        dead = [one for one in held if records.is_tombstone(one)]
        return outcome._replace(members={**outcome.members, "record_count": outcome.members["record_count"] + len(dead)})

    return state


def _pinned_when_settled(original: Any) -> Any:
    """Take the basis when the generation settles."""

    def settle(turn: Turn, space: Space, job: Doc) -> Any:
        reflection = job["reflection"]
        turn.grants = authority.effective(turn, space)
        found = records.eligible(turn, space, reflection, turn.op.needs)
        basis = reflections.basis(turn, space, reflection["selection"]["subject_id"], found)
        digest = assembly.state_digest(reflection, basis)
        later = {**reflection, "basis": {"state_digest": digest, **basis}}
        scopes = {record["record_id"]: record["scope"] for record in found}
        return original(turn, space, {**job, "reflection": later, "pin": {**job["pin"], "scopes": scopes}})

    return settle


def _first_need(original: Any) -> Any:
    """Ask ``reflections_generate`` alone of a generator."""

    def generate(turn: Turn, space: Space, request: Doc) -> Outcome:
        generating = [need for need in turn.op.needs if need.capability == "reflections_generate"]

        def narrowed(inner: Any) -> Any:
            return lambda turn, wanted, _needs: inner(turn, wanted, generating)

        with (
            Patch(selection, "authorise", narrowed).applied(),
            Patch(
                records, "eligible", lambda inner: lambda turn, space, request, _needs: inner(turn, space, request, generating)
            ).applied(),
        ):
            outcome: Outcome = original(turn, space, request)
        return outcome

    return generate


def _refused_ahead(_original: Any) -> Any:
    def refuse(request: Doc, digest: str) -> None:
        if request.get("expected_state_digest", digest) != digest:
            raise Refusal(Code.REVISION_AHEAD, expected_revision=None, actual_revision=None)

    return refuse


def _generating_reads(original: Any) -> Any:
    """Generate where there is no reflection on the present state and everything for one is there."""

    def state(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        if not outcome.members["stale"] or not outcome.members["sufficient"] or outcome.members["missing_required_kinds"]:
            return outcome
        return outcome._replace(members={**outcome.members, "stale": False})

    return state


def _newer_stales(original: Any) -> Any:
    """Say stale of each reflection that is not the newest of those that are listed with it."""

    def read(turn: Turn, space: Space, reflection: Doc) -> Doc:
        told: Doc = original(turn, space, reflection)
        newest = reflections.shown(turn, space, reflection)[-1:]
        return {**told, "stale": told["stale"] or reflection not in newest}

    return read


def _reading_alone(original: Any) -> Any:
    """Take for the basis over ``all_authorized`` all that the generator may read reflections of."""

    def eligible(turn: Turn, space: Space, request: Doc, needs: Any) -> Any:
        if not selection.names_placements(request["selection"]):
            needs = [need for need in needs if need.capability == "reflections_read"]
        return original(turn, space, request, needs)

    return eligible


def _once_current(original: Any) -> Any:
    """Take the digest of any reflection for the present one."""

    def generate(turn: Turn, space: Space, request: Doc) -> Outcome:
        known = {one["basis"]["state_digest"] for one in space.reflections.all()}
        kept = {name: value for name, value in request.items() if name != "expected_state_digest" or value not in known}
        outcome: Outcome = original(turn, space, kept)
        return outcome

    return generate


def _pins_of_the_basis(original: Any) -> Any:
    """Read back a space whose reflections are pinned to the placements of their basis records."""

    def load(doc: Doc) -> Space:
        space: Space = original(doc)
        return space.having(pins=activation.pins(space))

    return load


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r026_{name}", RULE, sentence, patched(*patches), source)


def _ours(name: str, sentence: str, *patches: Patch) -> Fault:
    return _fault(name, sentence, *patches, source="ours")


FAULTS: tuple[Fault, ...] = (
    _fault("required_kind_not_needed", "generation does without a required profile kind",
           Patch(reflections, "refuse_incomplete", always(None))),
    _fault("digest_without_filter", "the digest does not cover the filter", _undigested("filter")),
    _fault("digest_without_profile_revisions", "the digest does not cover the revisions of profiles",
           Patch(assembly, "profile_set", _kinds_alone)),
    Fault("r026_stale_is_stored", RULE, "staleness is a mark that stays", _marked_stale),
    _fault("never_stale", "a reflection never reads as stale", Patch(reflections, "is_stale", always(False)), source="rules.md"),
    _fault("shown_to_narrower", "a reflection is shown to who does not cover its records",
           Patch(reflections, "is_covered", always(True))),
    _fault("shown_unselected", "a selection that the reader does not cover shows its reflections",
           scoped.during("reflections.list", Patch(selection, "authorise", always(None))), source="rules.md"),
    _ours("digest_without_cognition", "the digest does not cover the cognition filter", _undigested("cognition_filter")),
    _ours("digest_without_selection", "the digest does not cover the selection", _undigested("selection")),
    _ours("digest_without_recorded_before", "the digest does not cover one member of the cognition filter",
          _digested_without("cognition_filter", "recorded_before", beside="recorded_before")),
    _ours("digest_without_sources_beside_contexts", "the digest does not cover the sources where source contexts are given too",
          _digested_without("filter", "sources", beside="source_context_ids")),
    _ours("stale_by_one_filter", "staleness does without the filter where a cognition filter is pinned too",
          Patch(reflections, "is_stale", _stale_by_one_filter)),
    _ours("dead_basis_is_covered", "a reflection on hidden records is shown once these are tombstones",
          Patch(reflections, "covers_record", _dead_are_covered)),
    _ours("digest_without_record_revisions", "the digest does not cover the revisions of records",
          Patch(assembly, "record_set", _ids_alone)),
    Fault("r026_digest_of_everything", RULE, "the digest covers every change of the space", _covering_everything, "ours"),
    _ours("digest_of_required_profiles", "the digest covers required profile kinds only",
          Patch(reflections, "basis", _required_alone)),
    _ours("digest_of_readable_profiles", "the digest covers only profiles that the caller may read",
          Patch(reflections, "basis", _readable_alone)),
    _ours("stale_by_hidden", "staleness tells a reader of records that it does not cover",
          Patch(reflections, "is_stale", _stale_by_others)),
    _ours("state_stale_by_presence", "the state is not stale where there is any reflection",
          altered.step("reflections.state", _state_of_latest)),
    _ours("sufficient_needs_profiles", "sufficient is false while a profile is missing",
          altered.answer("reflections.state", _sufficient_with_profiles)),
    _ours("tombstones_counted", "record_count counts tombstones", altered.step("reflections.state", _count_all)),
    _ours("insufficient_accepted", "a reflection is generated over no record",
          Patch(reflections, "refuse_insufficient", always(None))),
    _ours("pinned_when_settled", "the basis is taken when the generation settles",
          Patch(jobs.SETTLERS, "memory.reflections.generate", _pinned_when_settled)),
    _ours("generate_suffices", "reflections_generate alone suffices", altered.step("reflections.generate", _first_need)),
    _ours("expected_digest_ignored", "any expected digest is taken", Patch(reflections, "refuse_other_state", always(None))),
    _ours("other_digest_is_ahead", "another expected digest is told as ahead",
          Patch(reflections, "refuse_other_state", _refused_ahead)),
    _ours("state_generates", "asking for the state counts as generating", altered.step("reflections.state", _generating_reads)),
    _ours("newer_makes_stale", "a newer reflection on the same basis makes the older one stale",
          Patch(reflections, "read", _newer_stales)),
    _ours("stale_by_reader", "staleness counts what the reader covers and the generator did not",
          Patch(selection, "reaches", always(True))),
    _ours("basis_of_reading", "over all_authorized the basis is what reflections_read alone covers",
          scoped.during("reflections.generate", Patch(records, "eligible", _reading_alone))),
    _ours("expected_digest_once_current", "an expected digest is taken where any reflection has it",
          altered.step("reflections.generate", _once_current)),
    _ours("pins_lost_at_restart", "a restart forgets what generators covered beyond the basis records",
          Patch(store, "load_space", _pins_of_the_basis)),
)  # fmt: skip

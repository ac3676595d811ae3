"""How one reason of a refusal is put right, in a state or a request that is only imagined: a table by code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.machine.imagined import NOWHERE, Imagined
from conformance.machine.model import NO_LIMIT, Model
from conformance.oracle import candidates, fences, imports, records
from conformance.oracle.choices import Limits
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Table
from conformance.wire.vocabulary import Code, Field

FENCE = "memory.subjects.fence"

Repair = Callable[[Model, Imagined, Refusal], Imagined | None]


def repaired(model: Model, present: Imagined, refusal: Refusal) -> Imagined | None:
    """Put right why the model refuses; None where that cannot be, or must not be told apart from what comes first."""
    return REPAIRS.get(refusal.symbol, _nothing)(model, present, refusal)


def _nothing(_model: Model, _present: Imagined, _refusal: Refusal) -> Imagined | None:
    return None


def _fresh_key(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    return present.asking(idempotency_key=NOWHERE)


def _covered(model: Model, present: Imagined, _refusal: Refusal) -> Imagined | None:
    """Give the caller one grant of everything, and make the subjects that are named, and then the object."""
    space = present.space
    if not space.facts:
        return None
    if NOWHERE not in space.grants:
        made = _everything(model, present)
        return present.having(grants=space.grants.add(NOWHERE, present.asked.caller, model.state.number, made))
    return _peopled(present) or _supplied(present)


def _everything(model: Model, present: Imagined) -> Doc:
    capabilities = list(model.bundle.schema(model.bundle.model_ref("GrantCapability"))["enum"])
    return {
        "grant_id": NOWHERE,
        "grantee_id": present.asked.caller,
        "issuer_id": NOWHERE,
        "capabilities": capabilities,
        "shared_access": "write",
        "state": fences.ACTIVE,
        "revision": 1,
    }


def _peopled(present: Imagined) -> Imagined | None:
    wanted = [name for name in _subjects_named(present) if name not in present.space.subjects]
    if not wanted:
        return None
    subjects = present.space.subjects
    for number, name in enumerate(wanted):
        subjects = subjects.add(name, "", -number, {"subject_id": name, "state": fences.ACTIVE, "revision": 1})
    return present.having(subjects=subjects)


def _supplied(present: Imagined) -> Imagined | None:
    """Make the object that is named and missing: what may be told of a hidden one may be told of this."""
    request, space = present.asked.request, present.space
    scope = {"subject_id": request.get("to_scope", {}).get("subject_id", NOWHERE), "context_id": NOWHERE}
    if request.get("record_id", "") not in ("", *space.records):
        made = {**_any(request), "record_id": request["record_id"], "scope": scope}
        present = present.having(records=space.records.add(made["record_id"], scope["subject_id"], 0, made))
    elif request.get("candidate_id", "") not in ("", *space.candidates):
        made = {**_any(request), "candidate_id": request["candidate_id"], "state": candidates.PENDING, "capture_scope": scope}
        present = present.having(candidates=space.candidates.add(made["candidate_id"], scope["subject_id"], 0, made))
    elif request.get("import_id", "") not in ("", *space.imports):
        held = {"state": imports.STAGED, "bundle": {}, "chunks": [], "differs": False}
        return present.having(imports=space.imports.add(request["import_id"], "", 0, held))
    else:
        return None
    return _peopled(present) or present


def _any(request: Doc) -> Doc:
    revision = request.get("expected_revision", 1)
    return {"kind": "note", "content": {"text": ""}, "provenance": {}, "revision": revision, "extensions": {}}


def _subjects_named(present: Imagined) -> list[str]:
    request = present.asked.request
    places = [request, *(request.get(name, {}) for name in ("scope", "to_scope", "selection"))]
    candidate, record = (
        table.get(request.get(name, ""))
        for table, name in ((present.space.candidates, "candidate_id"), (present.space.records, "record_id"))
    )
    places += [] if candidate is None else [candidate["capture_scope"]]
    places += [] if record is None else [record["scope"]]
    return [place["subject_id"] for place in places if "subject_id" in place]


def _thawed(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    return present.facts(state=fences.ACTIVE)


def _frozen(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    return present.facts(state=fences.FROZEN)


def _unfenced(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    return present.having(subjects=_each(present.space.subjects, lambda doc: {**doc, "state": fences.ACTIVE}))


def _unarchived(model: Model, present: Imagined, refusal: Refusal) -> Imagined | None:
    # Whoever fences what is archived fences nothing that is active or fenced: it has no other wrong state.
    return (_fence_turned if present.asked.op == FENCE else _unfenced)(model, present, refusal)


def _each(table: Table, change: Callable[[Doc], Doc]) -> Table:
    for key, row in table.rows.items():
        table = table.change(key, change(row.doc))
    return table


def _opened(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    return present.facts(fenced_context_ids=[])


def _unlimited(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    limits = Limits(NO_LIMIT, max_page=NO_LIMIT, max_fragments=NO_LIMIT, max_chunk_items=NO_LIMIT)
    return present._replace(env=replace(present.env, choices=replace(present.env.choices, limits=limits)))


def _expecting(_model: Model, present: Imagined, refusal: Refusal) -> Imagined | None:
    """Expect the revision that is stored."""
    request = present.asked.request
    actual = refusal.details["actual_revision"]
    if "expected_authority_generation" in request:
        return present.asking(expected_authority_generation=actual)
    if "expected_state_digest" in request:
        kept = {name: value for name, value in request.items() if name != "expected_state_digest"}
        return present._replace(asked=replace(present.asked, request=kept))
    return present.asking(expected_revision=actual)


def _pending_again(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    candidate = present.space.candidates.rows[present.asked.request["candidate_id"]].doc
    again = {**candidate, "state": candidates.PENDING}
    return present.having(candidates=present.space.candidates.change(candidate["candidate_id"], again))


def _alive_again(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    return _record(present, lambda record: {name: value for name, value in record.items() if name != "tombstone"})


def _record(present: Imagined, change: Callable[[Doc], Doc]) -> Imagined:
    record_id = present.asked.request["record_id"]
    changed = change(present.space.records.rows[record_id].doc)
    return present.having(records=present.space.records.change(record_id, changed))


def _valid(model: Model, present: Imagined, refusal: Refusal) -> Imagined | None:
    """Put the value right that cannot be taken: another subject, a kind that lacks, a cognition record."""
    request, field = present.asked.request, refusal.details.get("field")
    if field == model.bundle.field(Field.TO_SUBJECT):
        placed = records.placement(present.space.records.rows[request["record_id"]].doc)
        moved = {**request["to_scope"], "subject_id": placed["subject_id"]}
        return None if moved == placed else present.asking(to_scope=moved)
    if field == model.bundle.field(Field.DECISION_KIND):
        return present.asking(decision=_kinded(request["decision"]))
    if field == model.bundle.field(Field.COGNITION):
        # 5 before 8 is fixed (section 6): no limit is told where a cognition record is malformed.
        return _unlimited(model, _without_cognition(present), refusal)
    return None


def _kinded(decision: Doc) -> Doc:
    if "fragments" in decision:
        return {**decision, "fragments": [{"kind": "note", **fragment} for fragment in decision["fragments"]]}
    return {"kind": "note", **decision}


def _without_cognition(present: Imagined) -> Imagined:
    request = dict(present.asked.request)
    if "content" in request:
        request["content"] = _bare(request["content"])
    if "decision" in request:
        decision = dict(request["decision"])
        if "content_override" in decision:
            decision["content_override"] = _bare(decision["content_override"])
        if "fragments" in decision:
            decision["fragments"] = [{**one, "content": _bare(one["content"])} for one in decision["fragments"]]
        request["decision"] = decision
    return present._replace(asked=replace(present.asked, request=request))


def _bare(content: Doc) -> Doc:
    return {name: value for name, value in content.items() if name != "cognition"}


def _complete(model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    subject_id, profiles = present.asked.request["selection"]["subject_id"], present.space.profiles
    for number, kind in enumerate(model.described["required_profile_kinds"]):
        if (subject_id, kind) not in profiles:
            document = {"kind": kind, "subject_id": subject_id, "revision": 1}
            profiles = profiles.add((subject_id, kind), subject_id, -number, document)
    return present.having(profiles=profiles)


# -- what is in the wrong state, by operation


def _switched(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    frozen = fences.is_frozen(present.space)
    return present.facts(state=fences.ACTIVE if frozen else fences.FROZEN)


def _moved_away(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined:
    return _record(present, lambda record: {**record, "scope": {**records.placement(record), "context_id": NOWHERE}})


def _fence_turned(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined | None:
    target = present.asked.request["target"]
    if "subject_id" not in target:
        return None
    state = fences.ACTIVE if present.asked.request["action"] != "unfence" else fences.FENCED
    subject = present.space.subjects.rows[target["subject_id"]].doc
    return present.having(subjects=present.space.subjects.change(target["subject_id"], {**subject, "state": state}))


def _staged(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined | None:
    import_id = present.asked.request["import_id"]
    held = present.space.imports.get(import_id)
    if held is None or held["state"] == imports.STAGED:
        return None
    # Without its chunks: what is forged in them would be brought in, if only in the imagination.
    return present.having(imports=present.space.imports.change(import_id, {**held, "state": imports.STAGED, "chunks": []}))


def _staging_again(_model: Model, present: Imagined, _refusal: Refusal) -> Imagined | None:
    request = present.asked.request
    held = present.space.imports.get(request.get("import_id", ""))
    if held is None or held["state"] == imports.STAGING:
        return None
    again = {"state": imports.STAGING, "bundle": request["bundle"], "chunks": [{}] * held["staged"], "differs": True}
    return present.having(imports=present.space.imports.change(request["import_id"], again))


WRONG_STATES: Mapping[str, Repair] = {
    "memory.spaces.freeze": _switched,
    "memory.spaces.unfreeze": _switched,
    "memory.records.promote": _moved_away,
    FENCE: _fence_turned,
    "memory.imports.activate": _staged,
    "memory.imports.stage": _staging_again,
}


def _right_state(model: Model, present: Imagined, refusal: Refusal) -> Imagined | None:
    return WRONG_STATES.get(present.asked.op, _nothing)(model, present, refusal)


REPAIRS: Mapping[Code, Repair] = {
    Code.KEY_REUSED: _fresh_key,
    Code.NOT_AUTHORIZED: _covered,
    Code.NOT_FOUND: _covered,
    Code.SPACE_FROZEN: _thawed,
    Code.SPACE_NOT_FROZEN: _frozen,
    Code.SUBJECT_FENCED: _unfenced,
    Code.SUBJECT_ARCHIVED: _unarchived,
    Code.CONTEXT_FENCED: _opened,
    Code.LIMIT_EXCEEDED: _unlimited,
    Code.REVISION_STALE: _expecting,
    Code.REVISION_AHEAD: _expecting,
    Code.CANDIDATE_CONSUMED: _pending_again,
    Code.RECORD_TOMBSTONED: _alive_again,
    Code.INVALID_VALUE: _valid,
    Code.WRONG_STATE: _right_state,
    Code.PROFILE_INCOMPLETE: _complete,
}

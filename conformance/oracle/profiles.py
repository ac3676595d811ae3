"""``memory.profile.*`` (protocol.md section 7, Profiles): author's material under compare and set; it holds no rights."""

from __future__ import annotations

from typing import Any

from conformance.oracle import authority, contents, fences, revisions, subjects
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, changed, extensions_of
from conformance.wire import canonical


def key_of(subject_id: str, kind: str) -> tuple[str, str]:
    """Give the key of a profile document."""
    return (subject_id, kind)


def get(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.profile.get``: what there is; a kind that was never written is missing, and no error."""
    authority.require_subject(turn, request["subject_id"])
    held = {document["kind"]: document for document in space.profiles.of(request["subject_id"])}
    wanted = list(dict.fromkeys(request["kinds"])) if "kinds" in request else None
    documents = [held[kind] for kind in (held if wanted is None else wanted) if kind in held]
    return Outcome(space, {"documents": documents, "missing_kinds": missing(turn, space, request["subject_id"], wanted)})


def missing(turn: Turn, space: Space, subject_id: str, wanted: list[str] | None = None) -> list[str]:
    """List the kinds that were never written: of those asked for, else of the required ones."""
    kinds = turn.choices.required_profile_kinds if wanted is None else wanted
    return [kind for kind in kinds if key_of(subject_id, kind) not in space.profiles]


def update(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.profile.update``: create (expected null) or change a document, against its exact revision."""
    authority.require_subject(turn, request["subject_id"])
    contents.refuse_oversized(turn, request["content"])
    fences.refuse_frozen(turn, space)
    fences.refuse_subject(space, request["subject_id"])
    found = space.profiles.get(key_of(request["subject_id"], request["kind"]))
    if found is None:
        subjects.require_existing(space, request["subject_id"])
    revisions.check(request["expected_revision"], None if found is None else found["revision"])
    return _created(turn, space, request) if found is None else _changed(turn, space, request, found)


def _created(turn: Turn, space: Space, request: Doc) -> Outcome:
    document = {
        **turn.envelope(extensions_of(request)),
        "space_id": space.space_id,
        "subject_id": request["subject_id"],
        "kind": request["kind"],
        **written(turn, request),
        "revision": revisions.FIRST,
        "created_at": turn.now,
        "updated_at": turn.now,
    }
    key = key_of(document["subject_id"], document["kind"])
    kept = space.profiles.add(key, document["subject_id"], turn.next_number(), document)
    return Outcome(space.having(profiles=kept), affected=(affected(document),))


def _changed(turn: Turn, space: Space, request: Doc, found: Doc) -> Outcome:
    document = revisions.revised(found, turn.now, **written(turn, request))
    kept = space.profiles.change(key_of(document["subject_id"], document["kind"]), document)
    return Outcome(space.having(profiles=kept), affected=(affected(document),))


def written(turn: Turn, request: Doc) -> dict[str, Any]:
    """Give what every write sets."""
    content = request["content"]
    return {"content": content, "content_digest": canonical.digest(content), "updated_by": turn.caller}


def affected(document: Doc) -> Doc:
    """Name a profile as changed: its id is a plain string of subject and kind."""
    return changed("profile", f"{document['subject_id']}/{document['kind']}", document["revision"])

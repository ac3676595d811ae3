"""``memory.grants.*`` (protocol.md section 5)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.oracle import authority, cursors, fences, issuance, pages, revisions
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, changed, extensions_of
from conformance.wire.vocabulary import Code

ACTIVE, REVOKED = fences.ACTIVE, "revoked"
OWN = "own"


def list_(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.grants.list``: a caller's own in every state, without any effective grant; or all of the space, for ``admin``."""
    found = own(turn, space) if request["view"] == OWN else everyone(turn, space)
    items = pages.arranged(turn, found)
    return Outcome(space, pages.reply(turn, request, items, cursors.mark(turn, space, lambda: items)))


def own(turn: Turn, space: Space) -> list[Doc]:
    """List the grants whose grantee is the caller; none for a space that does not exist."""
    return space.grants.of(turn.caller)


def everyone(turn: Turn, space: Space) -> list[Doc]:
    """List all grants of a space, for ``admin``."""
    authority.enter(turn)
    authority.require_space(turn)
    return space.grants.all()


def grant(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.grants.grant``: within the issuer's own coverage; grantee, subjects and contexts need not exist."""
    under = issuance.require_coverage(turn, request)
    fences.refuse_frozen(turn, space)
    grant_id, number = turn.mint("grant", space.grants)
    made = make(turn, space, request, grant_id)
    return Outcome(issued(space, made, number, under), affected=(affected(made),), grantees=(made["grantee_id"],))


def issued(space: Space, made: Doc, number: int, under: tuple[str, ...]) -> Space:
    """Put a new grant into a space, with the grants it was issued under."""
    grants = space.grants.add(made["grant_id"], made["grantee_id"], number, made)
    return space.having(grants=grants, issued_under=space.issued_under.set(made["grant_id"], under))


def make(turn: Turn, space: Space, request: Doc, grant_id: str) -> Doc:
    """Make the document of a new grant: what was asked for, issued by the caller."""
    given: Doc = {name: request[name] for name in ("subject_ids", "context_ids", "expires_at") if name in request}
    return {
        **turn.envelope(extensions_of(request)),
        "grant_id": grant_id,
        "space_id": space.space_id,
        "grantee_id": request["grantee_id"],
        "issuer_id": turn.caller,
        "capabilities": request["capabilities"],
        **given,
        "shared_access": request["shared_access"],
        "state": ACTIVE,
        "revision": revisions.FIRST,
        "created_at": turn.now,
        **turn.carried(request, "MemoryGrant"),
    }


def affected(made: Doc) -> Doc:
    """Name a grant as changed, at its revision."""
    return changed("grant", made["grant_id"], made["revision"])


def revoke(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.grants.revoke``: by its issuer, who needs no effective grant for it, or ``admin``; terminal."""
    found = revocable(turn, space.grants.get(request["grant_id"]))
    fences.refuse_frozen(turn, space)
    if found["state"] == REVOKED:
        raise Refusal(Code.WRONG_STATE)
    space = revoked(turn, space, found)
    return Outcome(space, affected=(affected(space.grants.rows[found["grant_id"]].doc),))


def revocable(turn: Turn, found: Doc | None) -> Doc:
    """Give a grant that the caller may revoke; any other one is as missing, but the caller's own grants it can see."""
    if found is not None and (is_issuer(turn, found) or authority.holds_space(turn, turn.need())):
        return found
    authority.enter(turn)
    raise authority.refuse_object(turn, visible=found is not None and found["grantee_id"] == turn.caller)


def is_issuer(turn: Turn, found: Doc) -> bool:
    """Say whether the caller issued a grant."""
    return bool(found["issuer_id"] == turn.caller)


def revoked(turn: Turn, space: Space, found: Doc) -> Space:
    """Revoke a grant, by the provider's choice with all that was issued under it."""
    fallen = [found["grant_id"]]
    for grant_id in fallen:
        space = _fallen(turn, space, grant_id)
        if turn.choices.revocation_cascades:
            fallen += [child for child in _issued_under(space, grant_id) if child not in fallen]
    return space


def _fallen(turn: Turn, space: Space, grant_id: str) -> Space:
    found = space.grants.rows[grant_id].doc
    fallen = {**found, "state": REVOKED, "revision": revisions.following(found["revision"]), "revoked_at": turn.now}
    return space.having(grants=space.grants.change(grant_id, fallen))


def _issued_under(space: Space, grant_id: str) -> Iterator[str]:
    for child in space.grants.all():
        if child["state"] == ACTIVE and grant_id in space.issued_under.get(child["grant_id"], ()):
            yield child["grant_id"]

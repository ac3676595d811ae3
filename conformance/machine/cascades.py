"""What falls with a revoked grant: left to the provider (protocol.md section 5), so it is looked up and followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.oracle import fences, grants
from conformance.oracle.state import Doc, Space


def descendants(space: Space, revoked: Doc) -> dict[str, Doc]:
    """Give the active grants that may count as issued under ``revoked``: by its grantee, and on by theirs."""
    issuers, found = {revoked["grantee_id"]}, dict[str, Doc]()
    for grant in space.grants.all():
        if grant["grant_id"] != revoked["grant_id"] and grant["issuer_id"] in issuers and grant["state"] == fences.ACTIVE:
            found[grant["grant_id"]] = grant
            issuers.add(grant["grantee_id"])
    return found


def fallen(space: Space, listed: Iterable[Doc], revoked: Doc) -> Space:
    """Give the space in which what the target lists as revoked, and may have fallen, is revoked too."""
    may = descendants(space, revoked)
    states: Mapping[str, Doc] = {grant["grant_id"]: grant for grant in listed}
    for grant_id, grant in may.items():
        shown = states.get(grant_id, grant)
        if shown["state"] == grants.REVOKED:
            after = {**grant, "state": grants.REVOKED, "revision": grant["revision"] + 1, "revoked_at": revoked["revoked_at"]}
            space = space.having(grants=space.grants.change(grant_id, after))
    return space

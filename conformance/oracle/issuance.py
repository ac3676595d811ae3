"""Non-amplification (protocol.md section 5): a new grant authorises nothing that its issuer is not authorised to issue.

Every listed capability counts with every listed placement and with the grant's ``shared_access``, so a grant is a product of its
dimensions. Inside ONE issuing grant means inside it in every dimension; that is one function each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from conformance.oracle import authority
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc
from conformance.oracle.turn import Turn
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Code, Reason


def issuing(turn: Turn) -> list[Doc]:
    """List the caller's effective grants that themselves list the capability to issue."""
    return [grant for grant in turn.grants if authority.lists_capability(grant, turn.need().capability)]


def require_coverage(turn: Turn, request: Doc) -> tuple[str, ...]:
    """Refuse issuance beyond the issuer's coverage; give the ids of the grants that it is issued under."""
    own = issuing(turn)
    under = covering(turn, own, request)
    if not own or not under or refuses_expired(turn, request):
        raise exceeds(turn)
    return under


def exceeds(turn: Turn) -> Refusal:
    """Make the refusal of issuance beyond the issuer's coverage."""
    return Refusal(Code.NOT_AUTHORIZED, reason=turn.bundle.reason(Reason.GRANT_EXCEEDS_ISSUER))


def refuses_expired(turn: Turn, request: Doc) -> bool:
    """Say whether this provider refuses a grant because it is expired from the start."""
    return not turn.choices.expired_issuance and authority.is_expired(request, turn)


def covering(turn: Turn, own: Sequence[Doc], request: Doc) -> tuple[str, ...]:
    """Give the ids of the grants that cover a request: the first that does alone, or by the provider's choice all together."""
    for grant in own:
        if within(grant, request):
            return (grant["grant_id"],)
    if turn.choices.combined_issuance and within_together(own, request):
        return tuple(grant["grant_id"] for grant in own)
    return ()


# -- one issuing grant


def within(grant: Doc, request: Doc) -> bool:
    """Say whether one issuing grant covers a request in every dimension."""
    return (
        within_capabilities(grant, request)
        and within_subjects(grant, request)
        and within_contexts(grant, request)
        and within_shared(grant, request)
        and within_time(grant, request)
    )


def within_capabilities(grant: Doc, request: Doc) -> bool:
    """Say whether every capability of the request is listed, as listed: none implies another."""
    return set(request["capabilities"]) <= set(grant["capabilities"])


def within_subjects(grant: Doc, request: Doc) -> bool:
    """Say whether the request's subjects are within the grant's; absent is every subject."""
    return _within_names(grant, request, "subject_ids")


def within_contexts(grant: Doc, request: Doc) -> bool:
    """Say whether the request's contexts are within the grant's; absent is every context."""
    return _within_names(grant, request, "context_ids")


def within_shared(grant: Doc, request: Doc) -> bool:
    """Say whether the request reaches no further into shared placements than the grant."""
    return authority.SHARED_RANK[request["shared_access"]] <= authority.SHARED_RANK[grant["shared_access"]]


def within_time(grant: Doc, request: Doc) -> bool:
    """Say whether the request ends no later than the grant, as instants; absent is never."""
    if "expires_at" not in grant:
        return True
    return "expires_at" in request and instant(request["expires_at"]) <= instant(grant["expires_at"])


def _within_names(grant: Doc, request: Doc, member: str) -> bool:
    return member not in grant or (member in request and set(request[member]) <= set(grant[member]))


# -- issuing grants together


class Point(NamedTuple):
    """One (capability, subject, placement) that a request authorises until its end; a context of None is the shared placement."""

    capability: str
    subject_id: str
    context_id: str | None
    access: str


def within_together(own: Sequence[Doc], request: Doc) -> bool:
    """Say whether each point that the request authorises is covered, up to the request's end, by some issuing grant."""
    return all(any(_holds(grant, point) and within_time(grant, request) for grant in own) for point in points(own, request))


def points(own: Sequence[Doc], request: Doc) -> Iterator[Point]:
    """Give the points of a request; where it names none of a dimension, those that can tell the grants apart, and a fresh one."""
    subjects = _names(own, request, "subject_ids")
    contexts = _names(own, request, "context_ids")
    shared = [level for level in ("read", "write") if authority.covers_shared(request, level)]
    for capability in request["capabilities"]:
        for subject_id in subjects:
            yield from (Point(capability, subject_id, context_id, "") for context_id in contexts)
            yield from (Point(capability, subject_id, None, level) for level in shared)


def _names(own: Sequence[Doc], request: Doc, member: str) -> list[str]:
    if member in request:
        return list(request[member])
    named = sorted({name for grant in own for name in grant.get(member, ())})
    return [*named, "\0".join(["", *named])]


def _holds(grant: Doc, point: Point) -> bool:
    scope = {"subject_id": point.subject_id} | ({} if point.context_id is None else {"context_id": point.context_id})
    return (
        authority.lists_capability(grant, point.capability)
        and authority.covers_subject(grant, point.subject_id)
        and authority.covers_placement(grant, scope, point.access)
    )

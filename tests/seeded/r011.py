"""Faults of MEM-R011: issuance judged by too few dimensions, by too many grants, or by another clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.oracle import authority, grants, issuance
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from tests.seeded.fault import Fault, Patch, Provider, always, patched

RULE = "MEM-R011"

NAMES = ("subject_ids", "context_ids")


OF_SUBJECTS = {"profile_read", "profile_write", "subjects_read", "subjects_write"}


def _unchecked(*dimensions: str) -> Callable[[], Provider]:
    """Leave dimensions of the comparison out."""
    return patched(*(Patch(issuance, f"within_{dimension}", always(True)) for dimension in dimensions))


def _union(own: Sequence[Doc]) -> Doc:
    """Make one grant of all: each dimension as wide as in any of them."""
    merged: Doc = {
        "capabilities": sorted({name for grant in own for name in grant["capabilities"]}),
        "shared_access": max((grant["shared_access"] for grant in own), key=authority.SHARED_RANK.__getitem__),
    }
    for member in NAMES:
        if all(member in grant for grant in own):
            merged[member] = sorted({name for grant in own for name in grant[member]})
    if all("expires_at" in grant for grant in own):
        merged["expires_at"] = max(grant["expires_at"] for grant in own)
    return merged


def _by_union(_original: Any) -> Any:
    def covering(_turn: Turn, own: Sequence[Doc], request: Doc) -> tuple[str, ...]:
        under = tuple(grant["grant_id"] for grant in own)
        return under if own and issuance.within(_union(own), request) else ()

    return covering


def _absent_passes(member: str) -> Any:
    return lambda original: lambda grant, request: member not in request or original(grant, request)


def _first_name_only(member: str) -> Any:
    """Look at the first name of the request's list alone."""

    def wrap(original: Any) -> Any:
        return lambda grant, request: original(grant, {**request, member: request[member][:1]} if member in request else request)

    return wrap


def _overlaps(member: str) -> Any:
    """Let names pass that overlap with the grant's."""

    def wrap(_original: Any) -> Any:
        def within(grant: Doc, request: Doc) -> bool:
            return member not in grant or bool(set(request.get(member, ())) & set(grant[member]))

        return within

    return wrap


def _expired_too(original: Any) -> Any:
    """Issue under grants that have expired, as if they had no end."""

    def issuing(turn: Turn) -> list[Doc]:
        found: list[Doc] = original(turn)
        names = {grant["grant_id"] for grant in turn.grants}
        spaces = [space for space in turn.state.spaces.values() if any(name in space.grants for name in names)]
        own = [grant for space in spaces for grant in space.grants.of(turn.caller) if grant["grant_id"] not in names]
        expired = [grant for grant in own if authority.is_active(grant) and authority.is_expired(grant, turn)]
        endless = [{name: value for name, value in grant.items() if name != "expires_at"} for grant in expired]
        return found + [grant for grant in endless if authority.lists_capability(grant, turn.need().capability)]

    return issuing


def _all_grants(original: Any) -> Any:
    """Take whatever the issuer may do itself for coverage, as soon as it may issue at all."""
    return lambda turn: list(turn.grants) if original(turn) else []


def _by_text(_original: Any) -> Any:
    def within_time(grant: Doc, request: Doc) -> bool:
        return "expires_at" not in grant or ("expires_at" in request and request["expires_at"] <= grant["expires_at"])

    return within_time


def _cut_to(digits: int) -> Any:
    """Compare ends by so many digits of their fractions."""

    def cut(timestamp: str) -> str:
        seconds, _, fraction = timestamp.removesuffix("Z").partition(".")
        return f"{seconds}.{fraction[:digits].ljust(digits, '0')}"

    def within_time(grant: Doc, request: Doc) -> bool:
        return "expires_at" not in grant or ("expires_at" in request and cut(request["expires_at"]) <= cut(grant["expires_at"]))

    return lambda _original: within_time


def _endless_passes(original: Any) -> Any:
    return lambda grant, request: "expires_at" not in request or original(grant, request)


def _free_for_oneself(original: Any) -> Any:
    """Check what is issued to others, not what the issuer gives itself."""

    def covering(turn: Turn, own: Sequence[Doc], request: Doc) -> tuple[str, ...]:
        if own and request["grantee_id"] == turn.caller:
            return (own[0]["grant_id"],)
        right: tuple[str, ...] = original(turn, own, request)
        return right

    return covering


def _by_the_root(original: Any) -> Any:
    """Judge a delegated issuer by the grant that its own one was issued under."""

    def issuing(turn: Turn) -> list[Doc]:
        found: list[Doc] = original(turn)
        for space in turn.state.spaces.values():
            under = [name for grant in found for name in space.issued_under.get(grant["grant_id"], ())]
            found = found + [space.grants.rows[name].doc for name in under if not _is_root(space, name)]
        return found

    return issuing


def _is_root(space: Space, grant_id: str) -> bool:
    return not space.issued_under.get(grant_id)


def _admins_exempt(original: Any) -> Any:
    def covering(turn: Turn, own: Sequence[Doc], request: Doc) -> tuple[str, ...]:
        if own and any("admin" in grant["capabilities"] for grant in turn.grants):
            return (own[0]["grant_id"],)
        right: tuple[str, ...] = original(turn, own, request)
        return right

    return covering


def _without(member: str) -> Any:
    """Forget a member of the request when the grant is made."""

    def wrap(original: Any) -> Any:
        def make(turn: Turn, space: Space, request: Doc, grant_id: str) -> Doc:
            given = {name: value for name, value in request.items() if name != member}
            made: Doc = original(turn, space, given, grant_id)
            return made

        return make

    return wrap


def _unless_of_subjects(original: Any) -> Any:
    """Leave a dimension out for grants of capabilities over subjects alone, which placements do not bound in their effect."""

    def within(grant: Doc, request: Doc) -> bool:
        return set(request["capabilities"]) <= OF_SUBJECTS or bool(original(grant, request))

    return within


def _first_compared(original: Any) -> Any:
    return lambda grant, request: original(
        grant, {**request, "context_ids": request["context_ids"][:50]} if "context_ids" in request else request
    )


FAULTS = (
    Fault("r011_capabilities_only", RULE, "issuance compares capabilities and nothing else",
          _unchecked("subjects", "contexts", "shared", "time")),
    Fault("r011_union_of_grants", RULE, "issuance is judged against all issuing grants together, dimension by dimension",
          patched(Patch(issuance, "covering", _by_union))),
    Fault("r011_absent_contexts_pass", RULE, "a grant without context_ids passes under an issuer with some",
          patched(Patch(issuance, "within_contexts", _absent_passes("context_ids")))),
    Fault("r011_child_outlives", RULE, "a grant may end later than its issuer's", _unchecked("time")),
    Fault("r011_raises_shared_access", RULE, "a grant may reach further into the shared placement than its issuer's",
          _unchecked("shared")),
    Fault("r011_expired_issuer", RULE, "an issuing grant that has expired still covers, as if it had no end",
          patched(Patch(issuance, "issuing", _expired_too))),
    Fault("r011_any_grant_covers", RULE, "an issuer hands on what it may do itself through grants that do not issue",
          patched(Patch(issuance, "issuing", _all_grants)), source="F09"),
    Fault("r011_conditions_not_compared", RULE, "issuance compares what a grant allows, not on which subjects and contexts",
          _unchecked("subjects", "contexts"), source="F10"),
    Fault("r011_ends_compared_as_text", RULE, "the ends of grants are compared as texts",
          patched(Patch(issuance, "within_time", _by_text)), source="F24"),
    Fault("r011_ends_cut_to_milliseconds", RULE, "the ends of grants are compared in milliseconds",
          patched(Patch(issuance, "within_time", _cut_to(3))), source="F24"),
    Fault("r011_ends_cut_to_nanoseconds", RULE, "the ends of grants are compared in nanoseconds",
          patched(Patch(issuance, "within_time", _cut_to(9))), source="ours"),
    Fault("r011_endless_passes", RULE, "a grant without an end passes under an issuer with one",
          patched(Patch(issuance, "within_time", _endless_passes)), source="F24"),
    Fault("r011_absent_subjects_pass", RULE, "a grant without subject_ids passes under an issuer with some",
          patched(Patch(issuance, "within_subjects", _absent_passes("subject_ids"))), source="ours"),
    Fault("r011_first_subject_only", RULE, "only the first subject of a grant is compared",
          patched(Patch(issuance, "within_subjects", _first_name_only("subject_ids"))), source="ours"),
    Fault("r011_overlap_is_enough", RULE, "contexts that overlap with the issuer's pass",
          patched(Patch(issuance, "within_contexts", _overlaps("context_ids"))), source="ours"),
    Fault("r011_to_oneself_unchecked", RULE, "what an issuer grants itself is not compared",
          patched(Patch(issuance, "covering", _free_for_oneself)), source="ours"),
    Fault("r011_judged_by_the_grandparent", RULE, "a delegated issuer is judged by the grant that its own came from",
          patched(Patch(issuance, "issuing", _by_the_root)), source="ours"),
    Fault("r011_admins_exempt", RULE, "an issuer that is admin issues anything",
          patched(Patch(issuance, "covering", _admins_exempt)), source="ours"),
    Fault("r011_shared_of_subject_rights_unchecked", RULE, "shared_access is not compared where it takes no effect",
          patched(Patch(issuance, "within_shared", _unless_of_subjects)), source="ours"),
    Fault("r011_contexts_of_subject_rights_unchecked", RULE, "contexts are not compared where they take no effect",
          patched(Patch(issuance, "within_contexts", _unless_of_subjects)), source="ours"),
    Fault("r011_end_is_forgotten", RULE, "a grant is made without the end that was asked for",
          patched(Patch(grants, "make", _without("expires_at"))), source="ours"),
    Fault("r011_first_names_only", RULE, "only the first fifty contexts of a grant are compared",
          patched(Patch(issuance, "within_contexts", _first_compared)), source="ours"),
)  # fmt: skip
"""The faults that this rule must catch."""

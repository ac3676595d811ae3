"""Faults of MEM-R012: grants that act on after their end, or come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.oracle import authority, grants, issuance, spaces, store
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Code
from strategies.timestamps import shifted
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Provider, patched

RULE = "MEM-R012"

SECONDS_KEPT = 5
MILLISECONDS, MICROSECONDS = 3, 6
"""The digits of a fraction that hold milliseconds, and microseconds."""
TUPLE = ("grantee_id", "capabilities", "subject_ids", "context_ids", "shared_access", "expires_at")


def _kept_for_a_while() -> Provider:
    """Let the effective grants of a caller linger for some seconds."""
    cache: dict[tuple[str, str], tuple[str, list[Doc]]] = {}

    def wrap(original: Any) -> Any:
        def effective(turn: Turn, space: Space) -> list[Doc]:
            found: list[Doc] = original(turn, space)
            until, kept = cache.get((turn.caller, space.space_id), ("", []))
            if found:
                cache[turn.caller, space.space_id] = (shifted(turn.now, SECONDS_KEPT), found)
            lingering = kept if until and turn.instant < instant(until) else []
            names = {grant["grant_id"] for grant in found}
            return found + [grant for grant in lingering if grant["grant_id"] not in names]

        return effective

    return patched(Patch(authority, "effective", wrap))()


def _refusals_kept() -> Provider:
    """Remember that a caller had nothing in a space, and look again only at every fifth call."""
    empty: dict[tuple[str, str], int] = {}

    def wrap(original: Any) -> Any:
        def effective(turn: Turn, space: Space) -> list[Doc]:
            found: list[Doc] = original(turn, space)
            key = (turn.caller, space.space_id)
            if not found:
                empty[key] = 4
                return found
            left = empty.get(key, 0)
            empty[key] = max(0, left - 1)
            return [] if left else found

        return effective

    return patched(Patch(authority, "effective", wrap))()


def _space_of(turn: Turn, grants_held: list[Doc]) -> list[Space]:
    names = {grant["grant_id"] for grant in grants_held}
    return [space for space in turn.state.spaces.values() if any(name in space.grants for name in names)]


def _revoked_issue(original: Any) -> Any:
    """Issue under grants of the caller that were revoked."""

    def issuing(turn: Turn) -> list[Doc]:
        found: list[Doc] = original(turn)
        own = [grant for space in _space_of(turn, turn.grants) for grant in space.grants.of(turn.caller)]
        revoked = [grant for grant in own if not authority.is_active(grant)]
        return found + [grant for grant in revoked if authority.lists_capability(grant, turn.need().capability)]

    return issuing


def _reactivated(grant: Doc) -> Doc:
    living = {name: value for name, value in grant.items() if name != "revoked_at"}
    return {**living, "state": grants.ACTIVE, "revision": grant["revision"] + 1}


def _same_tuple(grant: Doc, request: Doc) -> bool:
    return all(grant.get(name) == request.get(name) for name in TUPLE)


def _reactivates(original: Any) -> Any:
    """Take a revoked grant of the same tuple back into force instead of making a new one."""

    def grant(turn: Turn, space: Space, request: Doc) -> Outcome:
        issuance.require_coverage(turn, request)
        for old in space.grants.of(request["grantee_id"]):
            if not authority.is_active(old) and _same_tuple(old, request):
                again = _reactivated(old)
                held = space.grants.change(old["grant_id"], again)
                return Outcome(space.having(grants=held), affected=(grants.affected(again),))
        outcome: Outcome = original(turn, space, request)
        return outcome

    return grant


def _expiry(judge: Callable[[Turn, str], bool]) -> Callable[[], Provider]:
    """Judge otherwise whether a grant has expired; ``judge`` gets the turn and the end of the grant."""

    def wrap(_original: Any) -> Any:
        return lambda grant, turn: "expires_at" in grant and judge(turn, grant["expires_at"])

    return patched(Patch(authority, "is_expired", wrap))


def _as_text(turn: Turn, end: str) -> bool:
    return turn.now >= end


def _local_time(hours: int) -> Callable[[Turn, str], bool]:
    """Take the end of a grant for a local time so many hours east of UTC."""
    return lambda turn, end: turn.instant >= instant(shifted(end, -3600 * hours))


def _inclusive(turn: Turn, end: str) -> bool:
    return turn.instant > instant(end)


def _whole_seconds(turn: Turn, end: str) -> bool:
    return turn.instant[0] >= instant(end)[0]


def _rounded_up(digits: int) -> Callable[[Turn, str], bool]:
    """End a grant with the milli- or microsecond that its end is in."""

    def judge(turn: Turn, end: str) -> bool:
        second, fraction = instant(end)
        if len(fraction) <= digits:
            return turn.instant >= (second, fraction)
        return turn.instant[0] > second or (turn.instant[0] == second and turn.instant[1][:digits] > fraction[:digits])

    return judge


def _cut(turn: Turn, end: str) -> bool:
    """End a grant where the millisecond begins that its end is in."""
    second, fraction = instant(end)
    return turn.instant >= (second, fraction[:MILLISECONDS].rstrip("0"))


def _judged_by(judge: Callable[[Doc], bool]) -> Any:
    """Run a step with the grants of the caller that ``judge`` takes for effective."""

    def wrap(original: Any) -> Any:
        def step(turn: Turn, space: Space, request: Doc) -> Outcome:
            turn.grants = [grant for grant in space.grants.of(turn.caller) if judge(grant)]
            outcome: Outcome = original(turn, space, request)
            return outcome

        return step

    return wrap


def _all_of_the_grantee(turn: Turn, _before: Space, after: Space) -> Space:
    """Let all grants fall that the grantee of the revoked one holds."""
    revoked = {grant["grantee_id"] for grant in after.grants.all() if grant.get("revoked_at") == turn.now}
    for grant in after.grants.all():
        if grant["grantee_id"] in revoked and authority.is_active(grant):
            fallen = {**grant, "state": grants.REVOKED, "revision": grant["revision"] + 1, "revoked_at": turn.now}
            after = after.having(grants=after.grants.change(grant["grant_id"], fallen))
    return after


def _revived(space: Space) -> Space:
    for grant in space.grants.all():
        if not authority.is_active(grant):
            space = space.having(grants=space.grants.change(grant["grant_id"], _reactivated(grant)))
    return space


def _revived_by_import(_turn: Turn, _before: Space, after: Space) -> Space:
    return _revived(after)


def _revived_at_restart(original: Any) -> Any:
    def load_space(saved: Doc) -> Space:
        return _revived(original(saved))

    return load_space


def _listed_still(_original: Any) -> Any:
    return lambda turn: turn.state.homes_of(turn.caller)


def _twice(original: Any) -> Any:
    """Revoke a revoked grant once more."""

    def revocable(turn: Turn, found: Doc | None) -> Doc:
        document: Doc = original(turn, found)
        return {**document, "state": grants.ACTIVE}

    return revocable


def _twice_by_another(original: Any) -> Any:
    """Revoke a revoked grant once more for an admin that did not issue it."""

    def revocable(turn: Turn, found: Doc | None) -> Doc:
        document: Doc = original(turn, found)
        return document if grants.is_issuer(turn, document) else {**document, "state": grants.ACTIVE}

    return revocable


def _living_alone(original: Any) -> Any:
    """Take an expired grant for one that was revoked."""

    def revoke(turn: Turn, space: Space, request: Doc) -> Outcome:
        found = space.grants.get(request["grant_id"])
        if found is not None and authority.is_expired(found, turn):
            raise Refusal(Code.WRONG_STATE)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return revoke


def _over_and_out(original: Any) -> Any:
    """Leave grants that were revoked and are past their end out of a caller's own."""

    def own(turn: Turn, space: Space) -> list[Doc]:
        return [one for one in original(turn, space) if not (one["state"] == "revoked" and authority.is_expired(one, turn))]

    return own


FAULTS = (
    Fault("r012_grants_linger", RULE, "what a caller may do is kept for some seconds", _kept_for_a_while),
    Fault("r012_over_and_out", RULE, "a grant that was revoked and is past its end is missing from its holder's own",
          patched(Patch(grants, "own", _over_and_out)), source="ours"),
    Fault("r012_revoked_still_issue", RULE, "a revoked grant is still coverage for issuing",
          patched(Patch(issuance, "issuing", _revoked_issue))),
    Fault("r012_same_tuple_reactivates", RULE, "granting the same again takes the revoked grant back into force",
          patched(altered.step("grants.grant", _reactivates))),
    Fault("r012_expiry_as_text", RULE, "the end of a grant is compared as text",
          _expiry(_as_text)),
    Fault("r012_expiry_in_local_time", RULE, "the end of a grant is taken for a local time west of UTC",
          _expiry(_local_time(-5))),
    Fault("r012_expiry_east_of_utc", RULE, "the end of a grant is taken for a local time east of UTC",
          _expiry(_local_time(2))),
    Fault("r012_end_is_inclusive", RULE, "a grant still acts at the instant of its end",
          _expiry(_inclusive)),
    Fault("r012_refusals_linger", RULE, "that a caller has no grant is remembered for some calls", _refusals_kept, source="F11"),
    Fault("r012_recall_forgets_revocation", RULE, "recall looks at revoked grants too",
          patched(altered.step("recall", _judged_by(lambda _grant: True))), source="F11"),
    Fault("r012_expiry_in_whole_seconds", RULE, "a grant ends at the beginning of the second that its end is in",
          _expiry(_whole_seconds), source="ours"),
    Fault("r012_end_rounded_to_milliseconds", RULE, "a grant acts until the millisecond is over that its end is in",
          _expiry(_rounded_up(MILLISECONDS)), source="ours"),
    Fault("r012_end_rounded_to_microseconds", RULE, "a grant acts until the microsecond is over that its end is in",
          _expiry(_rounded_up(MICROSECONDS)), source="ours"),
    Fault("r012_end_cut_to_milliseconds", RULE, "a grant ends where the millisecond begins that its end is in",
          _expiry(_cut), source="ours"),
    Fault("r012_export_forgets_expiry", RULE, "an export is read under an expired grant",
          patched(altered.step("exports.get", _judged_by(authority.is_active))), source="ours"),
    Fault("r012_one_revocation_ends_all", RULE, "revoking one grant ends all of its grantee",
          patched(altered.effect("grants.revoke", _all_of_the_grantee)), source="ours"),
    Fault("r012_import_revives", RULE, "an activation brings revoked grants back",
          patched(altered.effect("imports.activate", _revived_by_import)), source="ours"),
    Fault("r012_restart_revives", RULE, "a restart brings revoked grants back",
          patched(Patch(store, "load_space", _revived_at_restart)), source="ours"),
    Fault("r012_space_listed_still", RULE, "a space is listed to whoever ever had a grant in it",
          patched(Patch(spaces, "visible", _listed_still)), source="ours"),
    Fault("r012_expired_is_not_revoked", RULE, "an expired grant cannot be revoked",
          patched(altered.step("grants.revoke", _living_alone)), source="ours"),
    Fault("r012_revokes_twice", RULE, "a revoked grant is revoked once more",
          patched(Patch(grants, "revocable", _twice)), source="ours"),
    Fault("r012_revoked_twice_by_another", RULE, "an admin revokes a revoked grant of another issuer once more",
          patched(Patch(grants, "revocable", _twice_by_another)), source="ours"),
)  # fmt: skip
"""The faults that this rule must catch."""

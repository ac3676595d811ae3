"""Faults of MEM-R003: someone else than admission says who is calling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance import dispatch
from conformance.oracle import authority, profiles, receipts, reviews
from conformance.oracle.provider import Oracle
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.port import Principal
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, patched

RULE = "MEM-R003"


def _claimed(oracle: Oracle, payload: Any) -> str | None:
    """Give the credential of the principal that a payload claims, in any namespace of its extensions, to be."""
    extensions = payload.get("extensions", {}) if isinstance(payload, dict) else {}
    named = [members.get("principal_id") for members in extensions.values() if isinstance(members, dict)]
    return next((credential for credential, known in oracle.state.credentials.items() if known in named), None)


def _believing(original: Any) -> Any:
    def call(self: Oracle, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Any:
        known = self.admit(credential) is not None
        return original(self, (_claimed(self, payload) if known else None) or credential, flags, op, payload)

    return call


def _root_of_the_newest_space(oracle: Oracle) -> Principal:
    newest = max(oracle.state.spaces.values(), key=lambda space: int(space.grants.ordered()[0].number))
    return Principal(newest.grants.all()[0]["grantee_id"])


def _empty_is_root(original: Any) -> Any:
    def admitted(bundle: Any, admission: Any, credential: str | None) -> Any:
        return _root_of_the_newest_space(admission.__self__) if credential == "" else original(bundle, admission, credential)

    return admitted


def _without_principal(_original: Any) -> Any:
    return lambda _principal_id, op, key: (op, key)


def _in_any_case(original: Any) -> Any:
    def admitted(bundle: Any, admission: Any, credential: str | None) -> Any:
        known = admission.__self__.state.credentials
        alike = [shown for shown in known if credential and shown.casefold() == credential.casefold()]
        return original(bundle, admission, alike[0] if alike else credential)

    return admitted


def _sticky(original: Any) -> Any:
    def call(self: Any, credential: str | None, flags: Iterable[str], op: str, payload: Any) -> Any:
        credential = credential or getattr(self, "last_credential", None)
        self.last_credential = credential
        return original(self, credential, flags, op, payload)

    return call


def _grantees_in_any_case(_original: Any) -> Any:
    def effective(turn: Turn, space: Space) -> list[Doc]:
        caller = turn.caller.casefold()
        found = [grant for grant in space.grants.all() if grant["grantee_id"].strip().casefold() == caller]
        return [grant for grant in found if authority.is_effective(grant, turn)]

    return effective


def _by_the_captor(original: Any) -> Any:
    def reviewed(turn: Turn, candidate: Doc) -> Doc:
        return {**original(turn, candidate), "created_by": candidate["provenance"]["captured_by"]}

    return reviewed


def _first_author_stays(_turn: Turn, before: Space, after: Space) -> Space:
    profiles_ = after.profiles
    for document in before.profiles.all():
        key = profiles.key_of(document["subject_id"], document["kind"])
        changed = {**(profiles_.get(key) or document), "updated_by": document["updated_by"]}
        profiles_ = profiles_.change(key, changed)
    return after.having(profiles=profiles_)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "r003_principal_id_in_extensions",
        RULE,
        "a principal_id in the extensions of a request replaces the caller",
        patched(Patch(Oracle, "call", _believing)),
    ),
    Fault(
        "r003_empty_credential_is_root",
        RULE,
        "the empty credential is admitted as root",
        patched(Patch(dispatch, "admitted", _empty_is_root)),
    ),
    Fault(
        "r003_keys_shared_between_principals",
        RULE,
        "an idempotency key is looked up without the principal",
        patched(Patch(receipts, "key_of", _without_principal)),
    ),
    Fault(
        "r003_credentials_in_any_case",
        RULE,
        "credentials are compared without regard to case",
        patched(Patch(dispatch, "admitted", _in_any_case)),
        source="ours",
    ),
    Fault(
        "r003_last_caller_sticks",
        RULE,
        "a call without credential is taken for the caller before it",
        patched(Patch(Oracle, "call", _sticky)),
        source="ours",
    ),
    Fault(
        "r003_grantees_trimmed_and_in_any_case",
        RULE,
        "a grant works for every principal whose id resembles the grantee's",
        patched(Patch(authority, "effective", _grantees_in_any_case)),
        source="ours",
    ),
    Fault(
        "r003_review_in_the_name_of_the_captor",
        RULE,
        "a reviewed record names the one who captured it as its author",
        patched(Patch(reviews, "reviewed", _by_the_captor)),
        source="ours",
    ),
    Fault(
        "r003_profile_keeps_its_first_author",
        RULE,
        "an updated profile names the one who created it as the one who updated it",
        patched(altered.effect("profile.update", _first_author_stays)),
        source="ours",
    ),
)

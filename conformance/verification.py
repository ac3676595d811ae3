"""Whether a certificate holds: its signature, what it is bound to, and the recorded run, judged again here and now.

Nothing but files is needed. Each step says what it found; the first that does not hold ends it with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from conformance.certificate import FORMAT, PREDICATE, STATEMENT, file_digest, refusals
from conformance.envelope import BadEnvelope, key_id, opened
from conformance.errors import BadInput
from conformance.ledger import ledger_digest
from conformance.recording import read_header
from conformance.release import version
from conformance.requirements import frozen, sets_digest
from conformance.runner import Order, run
from conformance.sources import engine, sources
from conformance.verdict import RunResult, Verdict
from conformance.watching import Watcher
from conformance.wire.bundle import Bundle, load


class Refused(Exception):
    """The certificate does not hold; the text says why."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a certificate says: its statement, and of it the ``facts`` of the run."""

    statement: Mapping[str, Any]
    facts: Mapping[str, Any]
    predicate: Mapping[str, Any]

    def bound(self, name: str) -> str:
        """Return the digest of one part of the configuration that it is bound to, "" where it names none."""
        return next((part["digest"]["sha256"] for part in self.predicate["configuration"] if part["name"] == name), "")


@dataclass(frozen=True, slots=True)
class Given:
    """What a certificate is verified with."""

    certificate: Path
    transcript: Path
    key: Ed25519PublicKey
    schemas: str | None = None
    workers: int = 0


def verify(given: Given, watcher: Watcher | None = None) -> Iterator[str]:
    """Verify step by step, and say of each what was found. Raises ``Refused`` with the reason, and ``BadInput``."""
    claim = _claim(given)
    facts = claim.facts
    yield f"signed by {key_id(given.key)[:16]}…"
    _same("suite version", facts["suite"], version())
    bundle = load(given.schemas)
    for name, here in (
        ("suite", sources()),
        ("schema bundle", bundle.digest),
        ("kill matrix", ledger_digest()),
        ("requirements", sets_digest(frozen().get(facts["suite"], {}))),
    ):
        _same(f"digest of the {name}", claim.bound(name), here)
    yield f"by this suite, {facts['suite']}, its schema bundle, kill matrix and requirements"
    _bound_transcript(claim, given)
    yield f"about the recorded run in {given.transcript}"
    result = _judged_again(claim, given, bundle, watcher)
    passed = sum(check.verdict is Verdict.PASS for check in result.checks)
    yield f"judged again: {passed} of {len(result.checks)} checks pass, {len(result.checks) - passed} are not applicable"
    yield f"{facts['provider']} conforms: {' '.join(claim.predicate['certificate']['sets'])}"


def _claim(given: Given) -> Claim:
    try:
        statement = opened(json.loads(given.certificate.read_bytes()), given.key)
    except OSError as error:
        raise BadInput(f"{given.certificate}: the certificate cannot be read: {error.strerror}.") from error
    except BadEnvelope as error:
        raise Refused(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise Refused("it is not JSON") from error
    match statement:
        case {"_type": kind, "predicateType": predicate} if (kind, predicate) != (STATEMENT, PREDICATE):
            raise Refused(f"it is a statement of another kind: {predicate}")
        case {"predicate": {"certificate": {"format": number}}} if number != FORMAT:
            raise Refused(f"it is of format {number}, and this suite reads {FORMAT}")
        case {
            "subject": [*_, {"digest": {"sha256": str()}}],
            "predicate": {
                "result": "PASSED",
                "certificate": {"facts": dict() as facts, "sets": [*_]},
                "configuration": [*_],
            } as inner,
        }:
            return Claim(statement, facts, inner)
    raise Refused("it is no certificate of this suite")


def _same(what: str, claimed: Any, here: Any) -> None:
    if claimed != here:
        raise Refused(f"the {what} is another one: {claimed or 'none'} in the certificate, {here or 'none'} here")


def _bound_transcript(claim: Claim, given: Given) -> None:
    try:
        found = file_digest(given.transcript)
    except OSError as error:
        raise BadInput(f"{given.transcript}: the recorded run cannot be read: {error.strerror}.") from error
    _same("digest of the recorded run", claim.statement["subject"][-1]["digest"]["sha256"], found)
    header, _ = read_header(given.transcript)
    _same("run that was recorded", claim.facts, header.facts)
    _same("engine that generates", header.engine, engine())


def _judged_again(claim: Claim, given: Given, bundle: Bundle, watcher: Watcher | None) -> RunResult:
    facts = claim.facts
    order = Order(
        target=facts["target"],
        profile=facts["profile"],
        seed=facts["seed"],
        workers=given.workers,
        schemas=given.schemas,
        playback=str(given.transcript),
    )
    result = run(order, (), watcher)
    for why in refusals(result, read_header(given.transcript)[1], bundle):
        raise Refused(f"judged again, it does not hold: {why}")
    for name, verdict in (("passedTests", Verdict.PASS), ("notApplicableTests", Verdict.NOT_APPLICABLE)):
        _same(f"list of {name}", claim.predicate[name], [check.check_id for check in result.checks if check.verdict is verdict])
    return result

"""A certificate: an in-toto statement of a test result, signed, that stands on a recorded run.

Only a whole, unwaived run of the profile ``full`` in which every applicable rule passes is certified. The statement is bound, by
digests, to the recorded run, the schema bundle, the suite's sources, its kill matrix and the sets of checks that it requires, so
that a reader can judge the recorded run again with the same suite and come to the same end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from conformance.catalogue import rules
from conformance.errors import BadInput
from conformance.ledger import ledger_digest, unproven
from conformance.recording import Header, Section
from conformance.requirements import Sets, claimed, frozen, required, sets_digest
from conformance.target_file import read_target_file
from conformance.verdict import RunResult, Verdict
from conformance.wire.bundle import Bundle

FORMAT = 1
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
PROFILE = "full"
_GOOD = (Verdict.PASS, Verdict.NOT_APPLICABLE)


class NotCertified(BadInput):
    """A run cannot be certified. The sentence says why."""


def refusals(result: RunResult, sections: Sequence[Section], bundle: Bundle) -> Iterator[str]:
    """Say why a run cannot be certified, one reason after another; nothing where it can."""
    facts = result.facts
    if not result.complete or result.trouble:
        yield f"the run is not whole: {'; '.join(result.trouble) or 'it did not reach its end'}"
    if facts.profile != PROFILE:
        yield f"the profile is {facts.profile}, and only {PROFILE} is certified"
    if facts.shard or any(rule.verdict is Verdict.DESELECTED for rule in result.rules):
        yield "only a part of the checks was run"
    if any(rule.waived for rule in result.rules) or result.complaints:
        yield "there are waivers, and nothing waived is certified"
    yield from (f"{rule.rule_id} is {rule.verdict}: {rule.reason}" for rule in result.rules if rule.verdict not in _GOOD)
    if result.verdict is Verdict.NOT_APPLICABLE:
        yield "nothing is applicable to this target"
    if why := unproven(facts.suite, rules()):
        yield why
    yield from _unmet(result, bundle)
    recorded = {section.check_id for section in sections}
    yield from (f"{check.check_id} was not recorded" for check in result.checks if check.check_id not in recorded)


def _unmet(result: RunResult, bundle: Bundle) -> Iterator[str]:
    """Say which requirements of this version are not met."""
    sets = frozen().get(result.facts.suite)
    if sets is None:
        yield f"there are no frozen requirements for suite {result.facts.suite}"
        return
    known = {check for checks in sets.values() for check in checks}
    verdicts = {check.check_id: check.verdict for check in result.checks}
    yield from (f"{check} is no check of the frozen requirements" for check in verdicts if check not in known)
    for check in required(sets, claimed(result.facts.flags, bundle)):
        if verdicts.get(check) is not Verdict.PASS:
            yield f"{check} is required, and it {'is ' + verdicts[check] if check in verdicts else 'was not run'}"


def reached_in_process(target: str) -> str:
    """Return the module of a provider that would be certified inside of this process although it is not installed, else "".

    What generates examples reads the sources of such modules, so that they would not be the same where it is verified.
    """
    text = read_target_file(Path(target)).target if target.endswith(".toml") else target
    scheme, _, rest = text.partition(":")
    name = rest.partition(":")[0].partition(".")[0]
    if scheme != "python" or name == "tests":
        return ""
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        return ""
    return "" if found is None or found.origin is None or "/site-packages/" in found.origin else name


def statement(
    result: RunResult, header: Header, transcript: Path, bundle: Bundle, artifacts: Sequence[Path] = ()
) -> dict[str, Any]:
    """Return the statement about a run that can be certified; ``artifacts`` are files of the provider. Raises ``OSError``."""
    facts, sets = result.facts, frozen()[result.facts.suite]
    claims = claimed(facts.flags, bundle)
    subjects = [
        *((file.name, file_digest(file)) for file in artifacts),
        (f"{facts.provider} as recorded", file_digest(transcript)),
    ]
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": found}} for name, found in subjects],
        "predicateType": PREDICATE,
        "predicate": {
            "result": "PASSED",
            "configuration": list(_configuration(result, header, sets, claims)),
            "passedTests": [check.check_id for check in result.checks if check.verdict is Verdict.PASS],
            "warnedTests": [],
            "failedTests": [],
            "notApplicableTests": [check.check_id for check in result.checks if check.verdict is Verdict.NOT_APPLICABLE],
            "certificate": {"format": FORMAT, "facts": {**asdict(facts), "flags": list(facts.flags)}, "sets": claims},
        },
    }


def _configuration(result: RunResult, header: Header, sets: Sets, claims: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    facts = result.facts
    yield _resource("suite", header.sources, version=facts.suite, engine=header.engine, python=facts.python)
    yield _resource("schema bundle", facts.bundle)
    yield _resource("kill matrix", ledger_digest())
    yield _resource("requirements", sets_digest(sets), sets=claims)


def _resource(name: str, found: str, **annotations: Any) -> Mapping[str, Any]:
    return {"name": name, "digest": {"sha256": found}, **({"annotations": annotations} if annotations else {})}


def file_digest(path: Path) -> str:
    """Return a file's SHA-256. Raises ``OSError``."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

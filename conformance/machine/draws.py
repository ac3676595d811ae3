"""The material of requests: contents, selections, filters, shapes of grants. Small, and hard on code now and then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.machine.stage import Stage
from conformance.oracle.state import Doc
from conformance.wire.canonical import content_bytes
from conformance.wire.vocabulary import Flag
from strategies.timestamps import shifted
from strategies.vocabulary import capabilities

WORDS = ("zebra", "tea", "rain", "grün", "zebra tea", "", "e\u0301", "rain rain tea", "zebra rain", " tea\n", "nul\u0000")
DIMENSIONS = ("belief", "desire", "emotion", "knowledge")
BASES = ("stated", "observed", "inferred")
WHEN = ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5Z", "2021-06-01T12:00:00Z", "2020-01-01T00:00:00.5000000001Z")
GREAT = 10**6
"""A limit that is greater is not exceeded: a number above it might not be one of the contract."""
HOLDERS = ("ann", "bob")
STRUCTURED: tuple[Any, ...] = (
    None, [], {}, 5, "a", {"cognition": []}, {"a": [1, {"b": None}]}, {"created_at": "x"}, [0.5, True],
)  # fmt: skip
CODE_POINTS = {"\ue000": 1, "\U0001f600": 2}
"""Members whose order by code point is not that by UTF-16 unit."""
EXTENSIONS: tuple[Mapping[str, Any], ...] = (
    {"x": {}}, {"acme": {"a": [1, None]}}, {"grants": {"capabilities": ["admin"]}}, {"principal": {"principal_id": "root"}},
)  # fmt: skip
SUBJECT_KINDS = ("memory:person", "memory:place")
RECORD_KINDS = ("note", "fact")
ISSUE = "grants_issue"
READS = ("records_read", "recall", "review", "reflections_read")
WRITES = ("records_write", "capture", "review")


def text(stage: Stage) -> str:
    """Draw a text, sometimes a long one."""
    return stage.pick(WORDS) * stage.random.choice((1, 1, 1, 1, 2, 12))


def content(stage: Stage) -> Doc:
    """Draw a content that every provider takes."""
    made: dict[str, Any] = {"text": text(stage)}
    if stage.chance(0.25):
        made["structured"] = CODE_POINTS if stage.chance(0.04) else stage.pick(STRUCTURED)
    if stage.chance(0.35):
        made["cognition"] = [cognition(stage) for _ in range(stage.random.choice((0, 1, 1, 2)))]
    return made


def cognition(stage: Stage) -> Doc:
    """Draw a cognition record."""
    attribution = {"holder_id": stage.pick(HOLDERS), **({"asserted_by": "bob"} if stage.chance(0.3) else {})}
    return {
        "view": "recorded_at",
        "dimension": stage.pick(DIMENSIONS),
        "value": stage.pick(("likes tea", "fears rain")),
        "attribution": attribution,
        "basis": {"kind": stage.pick(BASES), "refs": ["r"] if stage.chance(0.3) else []},
        "time": {"recorded_at": stage.pick(WHEN)},
    }


def odd_content(stage: Stage) -> Doc:
    """Draw a content that must be refused: a malformed cognition record, or more bytes than are taken."""
    if stage.chance(0.5):
        broken = {**cognition(stage), stage.pick(("extra", "view")): "x"}
        return {**content(stage), "cognition": [broken] if stage.chance(0.8) else broken}
    return oversized(stage)


def oversized(stage: Stage) -> Doc:
    """Draw a content of exactly one byte too many."""
    most: int = stage.model.described["limits"]["max_content_bytes"]
    return {"text": "x" * (most + 1 - content_bytes({"text": ""}))}


def any_content(stage: Stage) -> Doc:
    """Draw a content, rarely one that must be refused."""
    return odd_content(stage) if stage.chance(0.04) else content(stage)


def profile_content(stage: Stage) -> Doc:
    """Draw the content of a profile."""
    return {"text": text(stage), **({"structured": stage.pick(STRUCTURED)} if stage.chance(0.3) else {})}


def extensions(stage: Stage) -> dict[str, Any]:
    """Draw the ``extensions`` member of a request, mostly none."""
    return {"extensions": stage.pick(EXTENSIONS)} if stage.chance(0.2) else {}


def subject(stage: Stage) -> str:
    """Draw a subject of the episode, mostly its first."""
    return stage.names.subjects[0] if stage.chance(0.5) else stage.pick(stage.names.subjects)


def context(stage: Stage) -> str:
    """Draw a context of the episode."""
    return stage.names.contexts[0] if stage.chance(0.4) else stage.pick(stage.names.contexts)


def scope(stage: Stage, subject_id: str | None = None) -> Doc:
    """Draw a placement."""
    placed = {"subject_id": subject(stage) if subject_id is None else subject_id}
    return placed if stage.chance(0.25) else {**placed, "context_id": context(stage)}


def source(stage: Stage) -> dict[str, Any]:
    """Draw the ``source_context_id`` of a request, mostly none."""
    return {"source_context_id": context(stage)} if stage.chance(0.3) else {}


def selection(stage: Stage) -> Doc:
    """Draw a selection."""
    mode = stage.pick(("all_authorized", "all_authorized", "contexts", "shared", "contexts_and_shared"))
    given: dict[str, Any] = {"subject_id": subject(stage), "mode": mode}
    if mode.startswith("contexts"):
        given["context_ids"] = stage.some(stage.names.contexts, 2)
    return given


def provenance_filter(stage: Stage) -> Doc:
    """Draw a provenance filter."""
    given: dict[str, Any] = {}
    if stage.chance(0.6):
        given["sources"] = stage.some(("author", "review"), 2)
    if not given or stage.chance(0.5):
        given["source_context_ids"] = stage.some(stage.names.contexts, 2)
    return given


def cognition_filter(stage: Stage) -> Doc:
    """Draw a cognition filter over what is served."""
    served = stage.model.described["cognition_dimensions"]
    options: dict[str, Any] = {
        "holder_id": stage.pick(HOLDERS),
        "basis_kind": stage.pick(BASES),
        "recorded_after": stage.pick(WHEN),
        "recorded_before": stage.pick(WHEN),
    }
    if served:
        options["dimension"] = stage.pick(served)
    return {name: options[name] for name in stage.some(sorted(options), 2)}


def filters(stage: Stage) -> dict[str, Any]:
    """Draw the filters of a read, mostly none."""
    given: dict[str, Any] = {}
    if stage.chance(0.2):
        given["filter"] = provenance_filter(stage)
    if stage.chance(0.2) and stage.serves(Flag.COGNITION):
        given["cognition_filter"] = cognition_filter(stage)
    return given


def limits(stage: Stage) -> list[int]:
    """Draw page limits for a chain, rarely one that is too great; no limit is the provider's default."""
    announced = stage.model.described["limits"]["max_page"]
    if announced < GREAT and stage.chance(0.03):
        return [announced + 1]
    most = min(3, announced)
    return [] if stage.chance(0.3) else [stage.random.randint(1, most) for _ in range(stage.random.randint(1, 3))]


def revision(stage: Stage, actual: int | None) -> int:
    """Draw an expected revision: mostly the stored one, else just behind, ahead, or far from it."""
    stored = actual or 1
    if stage.chance(0.75) and actual is not None:
        return stored
    return max(1, stored + stage.pick((-1, 1, 1, 2, -2, 7)))


def other_revision(stage: Stage, stored: int | None) -> int:
    """Draw an expected revision that is not the stored one (None: nothing is stored): behind, ahead or far from it."""
    if stored is None:
        return stage.pick((1, 2, 7))
    near = [stored + step for step in (-1, -1, 1, 1, 2, 7) if stored + step > 0]
    return stage.pick(near)


# -- grants


def shape(stage: Stage) -> Doc:
    """Draw what a new grant shall authorise, from anything to little."""
    given: dict[str, Any] = {"capabilities": _capabilities(stage), "shared_access": stage.pick(("none", "read", "write"))}
    if stage.chance(0.4):
        given["subject_ids"] = stage.some(stage.names.subjects, 2)
    if stage.chance(0.4):
        given["context_ids"] = stage.some(stage.names.contexts, 2)
    return {**given, **ending(stage, 0.35)}


def _capabilities(stage: Stage) -> list[str]:
    known = list(capabilities(stage.model.bundle))
    if stage.chance(0.45):
        known.remove(stage.pick(known))
        return known
    wanted = dict.fromkeys(stage.some(known, 4))
    wanted.update(dict.fromkeys(stage.some(READS + WRITES, 2)))
    if stage.chance(0.4):
        wanted[ISSUE] = None
    return list(wanted)


def ending(stage: Stage, share: float) -> dict[str, Any]:
    """Draw the ``expires_at`` of a grant: soon, at odd fractions of a second, far off; rarely past."""
    if not stage.chance(share):
        return {}
    if not stage.sight.timed:
        return {"expires_at": stage.pick(("9998-01-01T00:00:00Z", "9998-01-01T00:00:00.0001Z"))}
    end = shifted(stage.model.now, stage.pick((1, 2, 5, 30, 3600, 7200, 90_000, -1)))
    return {"expires_at": fraction(stage, end)}


def fraction(stage: Stage, timestamp: str) -> str:
    """Give a Timestamp of whole seconds some fraction of a second, or none, or zeros."""
    return stage.pick((timestamp, f"{timestamp[:19]}{stage.pick(('.0', '.5', '.50', '.0001', '.0002', '.999'))}Z"))


def near(stage: Stage, grant: Doc) -> Doc:
    """Draw a shape near a grant: as it is, narrower in some dimensions, or wider in exactly one."""
    made: Doc = {
        name: grant[name]
        for name in ("capabilities", "subject_ids", "context_ids", "shared_access", "expires_at")
        if name in grant
    }
    for narrow in stage.some(NARROWER, 3):
        made = narrow(stage, made)
    return stage.pick(WIDER)(stage, made) if stage.chance(0.5) else made


def _fewer_capabilities(stage: Stage, made: Doc) -> Doc:
    return {**made, "capabilities": stage.some(made["capabilities"], 3)}


def _rights_over_subjects(_stage: Stage, made: Doc) -> Doc:
    """Keep what no placement bounds in its effect, where there is any: its placements are compared all the same."""
    over = [name for name in made["capabilities"] if name.startswith(("profile_", "subjects_"))]
    return {**made, "capabilities": over or made["capabilities"]}


def _fewer_subjects(stage: Stage, made: Doc) -> Doc:
    return {**made, "subject_ids": stage.some(made.get("subject_ids", stage.names.subjects), 2)}


def _fewer_contexts(stage: Stage, made: Doc) -> Doc:
    return {**made, "context_ids": stage.some(made.get("context_ids", stage.names.contexts), 2)}


def _less_shared(stage: Stage, made: Doc) -> Doc:
    return {**made, "shared_access": {"write": stage.pick(("read", "none"))}.get(made["shared_access"], "none")}


def _sooner(stage: Stage, made: Doc) -> Doc:
    if not stage.sight.timed:
        return made
    if "expires_at" in made:
        whole = shifted(f"{made['expires_at'][:19]}Z", -1)
        return {**made, "expires_at": fraction(stage, whole)}
    return {**made, **ending(stage, 1.0)}


def _same(_stage: Stage, made: Doc) -> Doc:
    return made


NARROWER = (_fewer_capabilities, _rights_over_subjects, _fewer_subjects, _fewer_contexts, _less_shared, _sooner, _same)


def _more_capabilities(stage: Stage, made: Doc) -> Doc:
    return {**made, "capabilities": list(dict.fromkeys((*made["capabilities"], stage.pick(capabilities(stage.model.bundle)))))}


def _other_subject(stage: Stage, made: Doc) -> Doc:
    return {**made, "subject_ids": [*made.get("subject_ids", ()), stage.pick(stage.names.subjects)]}


def _any_subject(_stage: Stage, made: Doc) -> Doc:
    return {name: value for name, value in made.items() if name != "subject_ids"}


def _other_context(stage: Stage, made: Doc) -> Doc:
    return {**made, "context_ids": [*made.get("context_ids", ()), stage.pick(stage.names.contexts)]}


def _any_context(_stage: Stage, made: Doc) -> Doc:
    return {name: value for name, value in made.items() if name != "context_ids"}


def _more_shared(_stage: Stage, made: Doc) -> Doc:
    return {**made, "shared_access": {"none": "read"}.get(made["shared_access"], "write")}


def _later(stage: Stage, made: Doc) -> Doc:
    end = made.get("expires_at")
    if end is None or stage.chance(0.4):
        return {name: value for name, value in made.items() if name != "expires_at"}
    digits = end[19:-1] or "."
    later = stage.pick((f"{end[:19]}{digits}0001Z", shifted(f"{end[:19]}Z", 1), f"{end[:19]}{digits}01Z"))
    return {**made, "expires_at": later}


WIDER = (_more_capabilities, _other_subject, _any_subject, _other_context, _any_context, _more_shared, _later)

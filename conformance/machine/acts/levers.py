"""The bench's levers: time that passes, what is held, restarts."""

from __future__ import annotations

from conformance.machine import draws
from conformance.machine.acts import grants, journeys, lives, storms, transfer
from conformance.machine.disagreement import Disagreement
from conformance.machine.duo import Done
from conformance.machine.stage import Stage, keys
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Flag
from strategies.timestamps import just_after, shifted
from strategies.vocabulary import capabilities

MONTHS = (95 * 86_400, 200 * 86_400, 800 * 86_400)


def pass_time(stage: Stage) -> None:
    """Let some time pass; rarely months, after which receipts are read and requests sent again."""
    if not stage.chance(0.06):
        stage.advance(stage.random.choice((1, 1, 2, 5, 60, 4000)))
        return
    stage.advance(stage.pick(MONTHS))
    space_id = stage.space_id()
    _read_receipts(stage, space_id)
    _replay(stage, [one for one in stage.duo.done if not one.code][:3])


def to_an_end(stage: Stage) -> None:
    """Go to the very end of a grant, or just before or after it, and let its grantee read, issue and be listed."""
    space_id = stage.space_id()
    now = instant(stage.model.now)
    ends = [one for one in stage.space(space_id).grants.all() if one["state"] == "active" and "expires_at" in one]
    ends = [one for one in ends if one["expires_at"] < "9000" and instant(one["expires_at"]) > now]
    if not ends or not stage.sight.timed:
        return pass_time(stage)
    one = min(ends, key=lambda grant: instant(grant["expires_at"])) if stage.chance(0.6) else stage.pick(ends)
    end: str = one["expires_at"]
    options = [end, f"{end[:19]}Z", just_after(end), f"{end[:19]}.3Z", f"{end[:19]}.00015Z"]
    stage.set_clock(stage.pick([moment for moment in options if instant(moment) >= now]))
    _use(stage, space_id, one["grantee_id"])
    return None


def _use(stage: Stage, space_id: str, grantee_id: str) -> None:
    actor = stage.actor_of(grantee_id, space_id)
    for subject_id in stage.some(stage.names.subjects, 2):
        stage.listed(actor, "records.list", space_id, selection={"subject_id": subject_id, "mode": "all_authorized"})
        stage.ask(actor, "subjects.get", space_id, subject_id=subject_id)
    stage.listed(actor, "spaces.list", space_id)
    exports = [one for one in keys(stage.space(space_id).exports) if stage.parcels.is_taken(space_id, str(one))]
    if exports:
        stage.ask(actor, "exports.get", space_id, export_id=stage.pick(exports), ordinal=0)
    issuing = [one for one in stage.space(space_id).grants.of(grantee_id) if draws.ISSUE in one["capabilities"]]
    if issuing:
        shape = draws.near(stage, stage.pick(issuing))
        stage.ask(actor, "grants.grant", space_id, grantee_id=stage.pick(stage.people).principal_id, **shape)


def outlive(stage: Stage) -> None:
    """Give somebody everything for a while, let it end, and let them try all that they could until then."""
    space_id, holder = stage.space_id(), stage.pick(stage.people)
    scope = lives.a_place(stage, space_id)
    exports = [str(one) for one in keys(stage.space(space_id).exports) if stage.parcels.is_taken(space_id, str(one))]
    if not exports and stage.serves(Flag.TRANSFER):
        parcel = journeys.exported(stage, space_id)
        exports = [] if parcel is None else [parcel[0]["export_id"]]
    end = draws.fraction(stage, shifted(f"{stage.model.now[:19]}Z", 3))
    members = {"capabilities": list(capabilities(stage.model.bundle)), "shared_access": "write", "expires_at": end}
    stage.by_root(space_id, "grants.grant", grantee_id=holder.principal_id, **members)
    made = stage.ask(holder, "records.create", space_id, kind="note", content={"text": "a"}, scope=scope)
    if stage.sight.timed:
        stage.set_clock(end)
    if made.error is None:
        stage.ask(holder, "receipts.get", space_id, receipt_id=made.payload["receipt"]["receipt_id"])
    if exports:
        stage.ask(holder, "exports.get", space_id, export_id=stage.pick(exports), ordinal=0)
    for probe in stage.some(grants.PROBES, 4):
        probe(stage, space_id, holder, scope)


def hold(stage: Stage) -> None:
    """Hold what may be pending; or let it settle."""
    stage.hold(not stage.duo.held)
    if stage.duo.held:
        storms.leave_pending(stage)
        if stage.chance(0.4):
            storms.freeze_and_try(stage)
        if stage.chance(0.4):
            stage.hold(False)


def restart(stage: Stage) -> None:
    """Restart the provider, and use what it knew; what is wrong then is told as such."""
    stage.restart()
    try:
        _remembered(stage, stage.space_id())
    except Disagreement as lost:
        lost.reason = f"{lost.reason} after a restart"
        raise


def _remembered(stage: Stage, space_id: str) -> None:
    root = stage.roots[space_id]
    stage.listed(root, "spaces.list", space_id)
    transfer.look(stage, space_id)
    done = [one for one in stage.duo.done if not one.code]
    _replay(stage, [*done[-3:], *[one for one in done if _failed(stage, one)][-3:]])
    _read_receipts(stage, space_id)


def _replay(stage: Stage, done: list[Done]) -> None:
    for one in done:
        stage.send(one.actor, one.op, one.request)


def _failed(stage: Stage, done: Done) -> bool:
    """Say whether what was sent settled as failed."""
    space_id = done.request["space_id"]
    if space_id not in stage.roots:
        return False
    receipt = stage.space(space_id).receipts.by_key((done.actor.principal_id, done.op, done.request["idempotency_key"]))
    return receipt is not None and receipt["state"] == "failed"


def _read_receipts(stage: Stage, space_id: str) -> None:
    receipts = stage.space(space_id).receipts.all()
    for receipt in receipts[-2:]:
        actor = stage.actor_of(receipt["principal_id"], space_id)
        stage.ask(actor, "receipts.get", space_id, receipt_id=receipt["receipt_id"])

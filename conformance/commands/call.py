"""``memory-conformance call``: send one operation and show the answer with its validation."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any

from conformance.calling import Called, Who, call, somebody
from conformance.commands.ending import ended_by_signal
from conformance.commands.here import find_modules_here
from conformance.errors import BadUsage, TargetFault
from conformance.redaction import LEVELS_SHOWN
from conformance.target import Opened, open_target
from conformance.wire import json_text
from conformance.wire.bundle import load
from conformance.wire.json_text import pruned


def main(options: Namespace) -> int:
    """Call: exit 0 for an answer of the contract's form, an error too, and 1 for none or another. Raises ``BadInput``."""
    find_modules_here()
    bundle, payload = load(options.schemas), _payload(options.payload)
    target = open_target(options.target, bundle=bundle)
    with ended_by_signal(), target.started():
        opened = target.open()
        try:
            flags = opened.facts.flags if options.flags is None else frozenset(filter(None, options.flags.split(",")))
            found = call(opened, bundle, options.op, payload, _who(opened, options.credential), flags)
        except TargetFault as fault:
            found = Called((), None, str(fault), 0.0)
        finally:
            opened.shim.close()
    return _told(found)


def _payload(text: str) -> Any:
    try:
        return json_text.read(sys.stdin.read() if text == "-" else text, strict=False)
    except ValueError as error:
        raise BadUsage(f"the payload is not JSON: {error}.") from error


def _who(opened: Opened, credential: str | None) -> Who:
    if credential is None:
        return somebody(opened)
    space = next((home.space_id for home in opened.homes), "")
    return Who(credential or None, space)


def _told(found: Called) -> int:
    for problem in found.request:
        _say(f"the request breaks its schema at {problem.pointer or '/'}: {problem.message}")
    if found.reply is not None:
        sys.stdout.write(json.dumps(pruned(found.reply.body(), LEVELS_SHOWN), indent=2, sort_keys=True) + "\n")
    _say(found.fault or f"the answer is of the contract's form ({found.seconds * 1000:.1f} ms)")
    return 1 if found.fault else 0


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")

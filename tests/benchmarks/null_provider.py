"""A provider that does nothing: every memory call is answered by one and the same right answer to ``memory.describe``.

``python -m tests.benchmarks.null_provider`` answers lines; ``python:tests.benchmarks.null_provider:Null`` is served over HTTP.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.wire import bundle
from conformance.wire.vocabulary import Flag

FLAG = bundle.load().flag(Flag.CORE)
DESCRIBED: Mapping[str, Any] = {
    "protocol_version": "1.0",
    "capabilities": [FLAG],
    "limits": {"max_content_bytes": 65536, "max_page": 50, "max_fragments": 16, "max_chunk_items": 100},
    "required_profile_kinds": [],
    "engine_policy_version": "1",
    "cognition_dimensions": [],
}
HELLO: Mapping[str, Any] = {
    "harness": 1,
    "provider": {"name": "null", "version": "1"},
    "instance": "i",
    "flags": [FLAG],
    "controls": ["hello"],
}


class Null:
    """The provider as an object."""

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Mapping[str, Any]:
        """Answer."""
        return {"payload": DESCRIBED}

    def control(self, name: str, payload: Any) -> Mapping[str, Any]:
        """Say hello."""
        return {"payload": HELLO}


def main() -> None:
    """Answer lines until the input ends."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        sys.stdout.write(json.dumps({"id": message["id"], "payload": HELLO if "control" in message else DESCRIBED}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

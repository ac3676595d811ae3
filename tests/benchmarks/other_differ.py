"""Judge pairs of schemas by jsonsubschema: pairs as JSON on stdin, relations and seconds on stdout.

Run by the interpreter of an environment that has it; nothing of this suite is imported. An exception, or an answer later than
the limit, counts as no answer.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from importlib import metadata
from typing import Any

LIMIT = 10
RELATIONS = {(True, True): "same", (True, False): "wider", (False, True): "narrower", (False, False): "other"}


def _too_long(*_: object) -> None:
    raise TimeoutError


def _relation(old: Any, new: Any) -> str:
    from jsonsubschema import isSubschema  # type: ignore[import-not-found]

    signal.alarm(LIMIT)
    try:
        return RELATIONS[bool(isSubschema(old, new)), bool(isSubschema(new, old))]
    except BaseException:  # whatever it raises, it gave no answer
        return "unknown"
    finally:
        signal.alarm(0)


def main() -> None:
    """Judge all pairs."""
    signal.signal(signal.SIGALRM, _too_long)
    said, sys.stdout = sys.stdout, sys.stderr
    relations, seconds = [], []
    for old, new in json.load(sys.stdin):
        started = time.perf_counter()
        relations.append(_relation(old, new))
        seconds.append(time.perf_counter() - started)
    json.dump({"tool": f"jsonsubschema {metadata.version('jsonsubschema')}", "relations": relations, "seconds": seconds}, said)


if __name__ == "__main__":
    main()

"""What is wrong with an answer of an HTTP server, whatever was asked."""

from __future__ import annotations

import re

from conformance.edge.probe import Came

NOT_IMPLEMENTED = 501
"""The one status from 500 on that names no failure: the server does not know the method."""
TRACES = re.compile(
    rb"""Traceback\ \(most\ recent\ call\ last\)      # Python
    | File\ \\?"[^"\n]{1,200}",\ line\ \d+           # Python
    | \bat\ [^\n]{1,200}?:\d+:\d+\)?                 # JavaScript
    | \.(?:java|kt|scala):\d+\)                      # the JVM
    | \bgoroutine\ \d+\ \[                           # Go
    | panicked\ at\                                  # Rust
    | \.rb:\d+:in\                                   # Ruby
    | \.cs:line\ \d+                                 # .NET
    | \#\d+\ \S{1,200}\.php\(\d+\)                   # PHP
    """,
    re.VERBOSE,
)


def wrong(came: Came) -> str | None:
    """Say what is wrong with an answer, None where nothing is: a failure of the server, or a stack trace in the body."""
    if came.status is None:
        return "the connection ended without an answer"
    if came.status >= 500 and came.status != NOT_IMPLEMENTED:
        return f"the server failed with status {came.status}"
    return "the answer shows a stack trace" if TRACES.search(came.body) else None

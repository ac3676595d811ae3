"""``memory-conformance serve``: the bundled provider, or one of Python, for others to reach."""

from __future__ import annotations

import sys
from argparse import Namespace

from conformance.commands.here import find_modules_here
from conformance.serving.host import Host, provider_named
from conformance.serving.stdio import serve_stdio
from conformance.wire.bundle import load


def main(options: Namespace) -> int:
    """Serve until the input ends. Raises ``BadInput`` for what a person got wrong."""
    find_modules_here()
    bundle = load(options.schemas)
    serve_stdio(Host(provider_named(options.provider, bundle), bundle), sys.stdin.buffer, sys.stdout.buffer)
    return 0

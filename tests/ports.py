"""Ports of the loopback interface for tests."""

from __future__ import annotations

import socket


def free_port() -> int:
    """Give a port that nobody has now."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        port: int = opened.getsockname()[1]
    return port

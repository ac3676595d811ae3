"""A socket to serve on, of the loopback interface."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def listening(port: int) -> socket.socket:
    """Open a socket on the loopback interface; port 0 takes a free one. Raises ``OSError``.

    It says that it is TCP: only so asyncio lets the parts of an answer go at once. Otherwise each answer's body would wait for
    the acknowledgement of its head, 40 ms.
    """
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((LOOPBACK, port))
        opened.listen(128)
    except OSError:
        opened.close()
        raise
    return opened

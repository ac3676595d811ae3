"""Servers that misbehave on the wire, each named for what it does: they write raw bytes, in a thread of the test.

A deed gets the connection after the request has been read.
"""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType

PATIENCE = 20.0
UNKNOWN_CODE = b'{"error": {"code": "MADE_UP", "message": "", "extensions": {}}}'
Deed = Callable[[socket.socket], None]


def response(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Make a whole response."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def never(_connection: socket.socket) -> None:
    time.sleep(3)


def half_a_head(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-")
    time.sleep(3)


def half_a_body(connection: socket.socket) -> None:
    connection.sendall(response(b'{"a": 1}')[:-4])
    time.sleep(3)


def dripping_head(connection: socket.socket) -> None:
    for number in range(100):
        connection.sendall(b"HTTP/1.1 200 OK\r\n" if number == 0 else b"X-%d: x\r\n" % number)
        time.sleep(0.1)


def dripping_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(100):
        connection.sendall(b" ")
        time.sleep(0.1)


def interim_for_ever(connection: socket.socket) -> None:
    for _ in range(100):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.1)


def closes(_connection: socket.socket) -> None:
    return


def resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


def closes_in_the_head(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-")


def closes_in_the_body(connection: socket.socket) -> None:
    connection.sendall(response(b'{"a": 1}')[:-4])


def closes_in_a_chunk(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{}")


def wrong_chunk_size(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n")


def no_http(connection: socket.socket) -> None:
    connection.sendall(b'{"payload": {}}\n')


def endless_head(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X: " + b"x" * 60_000 + b"\r\n")


def endless_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b" " * 2**16)


def huge_answer(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 209715200\r\n\r\n")
    for _ in range(200):
        connection.sendall(b"x" * 2**20)


def compression_bomb(connection: socket.socket) -> None:
    connection.sendall(response(gzip.compress(b" " * 2**26), "200 OK", "Content-Encoding: gzip"))


def _always(name: str, data: bytes) -> Deed:
    def deed(connection: socket.socket) -> None:
        connection.sendall(data)

    deed.__name__ = name
    return deed


SILENT = (never, half_a_head, half_a_body, dripping_head, dripping_body, interim_for_ever)
BROKEN = (
    closes, resets, closes_in_the_head, closes_in_the_body, closes_in_a_chunk, wrong_chunk_size, no_http, endless_head,
    endless_body, huge_answer, compression_bomb,
    _always("redirect", response(b"{}", "302 Found", "Location: /elsewhere")),
    _always("redirect_for_ever", response(b"{}", "308 Permanent Redirect", "Location: /memory.describe")),
    _always("not_modified", b"HTTP/1.1 304 Not Modified\r\n\r\n"),
    _always("no_content", b"HTTP/1.1 204 No Content\r\n\r\n"),
    _always("empty_body", response(b"")),
    _always("page_of_html", response(b"<html>", "502 Bad Gateway")),
    _always("success_with_an_error", response(UNKNOWN_CODE)),
    _always("error_with_a_success", response(b'{"grants": []}', "400 Bad Request")),
    _always("error_with_a_payload", response(b'{"payload": {}}', "400 Bad Request")),
    _always("error_that_is_text", response(b'{"error": "no"}', "500 Internal Server Error")),
    _always("list", response(b"[]")),
    _always("null", response(b"null")),
    _always("not_a_number", response(b'{"a": NaN}')),
    _always("beyond_doubles", response(b'{"a": 1e999}')),
    _always("invalid_utf8", response(b'{"a": "\xff"}')),
    _always("nested_arrays", response(b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")),
    _always("two_objects", response(b"{}{}")),
    _always("status_that_is_none", response(b"{}", "xyz OK")),
    _always("two_lengths", response(b"{}", "200 OK", "Content-Length: 5")),
)  # fmt: skip
MALFORMED = (
    _always("schema_invalid_success", response(b'{"nonsense": 1}')),
    _always("unknown_code", response(UNKNOWN_CODE, "400 Bad Request")),
    _always("lone_surrogates", response(rb'{"\ud800": "\udfff"}')),
)
DEEDS: Mapping[str, Deed] = MappingProxyType({deed.__name__: deed for deed in (*SILENT, *BROKEN, *MALFORMED)})


@contextmanager
def server(name: str) -> Iterator[str]:
    """Run the server of that name for a while, and give its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        threading.Thread(target=_accept, args=(listener, DEEDS[name]), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, deed: Deed) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_answer, args=(connection, deed), daemon=True).start()


def _answer(connection: socket.socket, deed: Deed) -> None:
    with connection, suppress(OSError):
        connection.settimeout(PATIENCE)
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(2**16)
        deed(connection)

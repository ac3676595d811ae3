"""A provider over stdio: JSON lines in, JSON lines out, as they get ready (harness.md, Target strings).

What the provider prints goes to stderr, so that it does not get between the answers.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any, BinaryIO

from conformance.serving.host import Host
from conformance.wire import json_text

Line = bytes | None


def serve_stdio(host: Host, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the lines of ``source`` on ``sink`` until it ends."""
    with redirect_stdout(sys.stderr):
        asyncio.run(_serve(host, source, sink))


async def _serve(host: Host, source: BinaryIO, sink: BinaryIO) -> None:
    lines: asyncio.Queue[Line] = asyncio.Queue()
    reader = threading.Thread(target=_read, args=(source, asyncio.get_running_loop(), lines), daemon=True)
    reader.start()
    async with asyncio.TaskGroup() as group:
        while (line := await lines.get()) is not None:
            group.create_task(_reply(host, line, sink))


def _read(source: BinaryIO, loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[Line]) -> None:
    for line in source:
        loop.call_soon_threadsafe(lines.put_nowait, line)
    loop.call_soon_threadsafe(lines.put_nowait, None)


async def _reply(host: Host, line: bytes, sink: BinaryIO) -> None:
    message = _message(line)
    answer = await host.message(message)
    sink.write(json_text.written({"id": message.get("id"), **answer}).encode("ascii") + b"\n")
    sink.flush()


def _message(line: bytes) -> Mapping[str, Any]:
    try:
        message = json_text.read(line.decode("utf-8"), strict=False)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}

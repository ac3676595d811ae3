"""A recorded run in place of a provider: what is asked is compared with the recording, and answered from it.

So the checks judge again what they judged when it was recorded. A request that is another than the recorded one ends the check:
then the recording is not of these checks, this version or this seed.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.errors import NoAnswer, SuiteFault, TargetFault
from conformance.exchange import Call, Reply
from conformance.levers import Facts, Home, Login
from conformance.recording import Aliases, Section, facts_of_json, read_header
from conformance.target import Opened
from conformance.transport.shim import read_answer
from conformance.wire import json_text

LONGEST_LINE = 256 * 1024 * 1024


class Departed(SuiteFault):
    """The run does not do what the recording says it did."""


class Played:
    """A shim that answers from the lines of a section, in their order."""

    def __init__(self, lines: Iterator[Mapping[str, Any]], aliases: Aliases, *, shared: bool) -> None:
        self._lines = lines
        self._aliases = aliases
        self._number = 1
        self.shared = shared

    def send(self, call: Call) -> Reply:
        """Answer one call. Raises ``Departed`` where the recording has another one here, else as the provider did."""
        line = self._next("call")
        self._compare(call, line["call"])
        reply = self._reply(call, line["answer"])
        if isinstance(reply, TargetFault):
            raise reply
        return reply

    def send_all(self, calls: Sequence[Call]) -> list[Reply | TargetFault]:
        """Answer calls that were sent at the same time. Raises ``Departed``."""
        line = self._next("calls")
        if len(line["calls"]) != len(calls):
            raise Departed(f"line {self._number}: {len(calls)} calls at the same time, {len(line['calls'])} are recorded")
        for call, recorded in zip(calls, line["calls"], strict=True):
            self._compare(call, recorded)
        return [self._reply(call, answer) for call, answer in zip(calls, line["answers"], strict=True)]

    def restart(self) -> bool:
        """Say what the restart came to. Raises ``Departed``."""
        return bool(self._next("restart")["restart"])

    def close(self) -> None:
        """Do nothing."""

    def over(self) -> None:
        """Raise ``Departed`` where the recording goes on."""
        if next(self._lines, None) is not None:
            raise Departed(f"line {self._number + 1}: the check has ended, and the recording goes on")

    def _next(self, kind: str) -> Mapping[str, Any]:
        line = next(self._lines, None)
        self._number += 1
        if line is None or kind not in line:
            raise Departed(f"line {self._number}: a {kind}, and the recording has {sorted(line) if line else 'nothing more'}")
        return line

    def _compare(self, call: Call, recorded: Mapping[str, Any]) -> None:
        asked = self._aliases.request(call)
        if asked != json_text.written(recorded, ordered=True):
            raise Departed(f"line {self._number}: {call.op} with another request than the recorded {recorded.get('op')}")

    def _reply(self, call: Call, answer: Mapping[str, Any]) -> Reply | TargetFault:
        if "fault" in answer:
            return (NoAnswer if answer.get("silent") else TargetFault)(str(answer["fault"]))
        reply = read_answer(call.op, answer)
        self._aliases.hear(call, reply)
        return reply


class Playback:
    """A recording that is played. ``hello`` is what its provider said of itself. Raises ``BadRecording``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header, self.sections = read_header(path)
        self.hello: Facts = facts_of_json(self.header.hello)
        self._by_check = {section.check_id: section for section in self.sections}

    def open(self, check_id: str) -> Opened:
        """Open the section of a check, from its beginning. Raises ``Departed`` where there is none."""
        if check_id not in self._by_check:
            raise Departed(f"the recording knows no check {check_id}")
        lines = _lines(self.path, self._by_check[check_id])
        first = next(lines, {})
        if first.get("check") != check_id:
            raise Departed(f"the section of {check_id} is that of {first.get('check')!r}")
        given, aliases = first["given"], Aliases()
        homes = tuple(Home(home["space_id"], Login(**home["root"]), home["shared"]) for home in given["homes"])
        logins = tuple(Login(**login) for login in given["logins"])
        for login in (*logins, *(home.root for home in homes)):
            aliases.learn(login.credential)
        shim = Played(lines, aliases, shared=first["shared"])
        return Opened(shim, facts_of_json(given["facts"]), homes, logins)


def _lines(path: Path, section: Section) -> Iterator[Mapping[str, Any]]:
    """Read a section line by line. Raises ``Departed`` where it is broken."""
    with path.open("rb") as file:
        file.seek(section.start)
        text = gzip.GzipFile(fileobj=io.BytesIO(file.read(section.size)))
    try:
        while line := text.readline(LONGEST_LINE):
            yield json_text.read(line.decode("ascii"), strict=False)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise Departed(f"the section of {section.check_id} is broken: {error}") from error

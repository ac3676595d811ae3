"""A run's requests and answers in a file: what a certificate stands on, and what plays a run back without its provider.

The file is JSON lines, compressed by gzip: a header, then a section for each check, each compressed on its own so that it can be
found by its place. A section begins with what the check was given; then come, in order, a line for each call, for each group of
calls that were sent at the same time, and for each restart by the shim. No credential is in it: where one stood stands its name.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from conformance.errors import BadInput, NoAnswer, TargetFault
from conformance.exchange import Call, Reply
from conformance.levers import Facts
from conformance.target import Opened
from conformance.transport.shim import Shim
from conformance.wire import json_text

FORMAT = 1
LONGEST_HEADER = 64 * 1024 * 1024
_LEVEL = 6
_CHUNK = 1 << 16
_SHORTEST_INSIDE = 6
_RECENT = 12
_WORD = re.compile(r"[^\s\"\\:,{}\[\]]{4,}")


class BadRecording(BadInput):
    """A recording cannot be used. The sentence names the file."""


@dataclass(frozen=True, slots=True)
class Section:
    """Where a check's part of the file is: so many bytes from ``start``."""

    check_id: str
    node_id: str
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Header:
    """What was recorded: ``facts`` are those of the run, ``hello`` what the provider said of itself.

    ``sources`` is the digest of the suite's code, ``engine`` the version of what generates: requests are the same only where
    these are.
    """

    facts: Mapping[str, Any]
    hello: Mapping[str, Any]
    rules: tuple[str, ...]
    sources: str
    engine: str


class Aliases:
    """The names of the credentials of one check, in the order in which they came up. In a playback they are the credentials."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._recent: deque[str] = deque(maxlen=_RECENT)

    def learn(self, credential: str) -> None:
        """Give a credential a name where it has none yet."""
        if credential not in self._names:
            self._names[credential] = f"credential-{len(self._names) + 1:04}"
            self._recent.append(credential)

    def shown(self, credential: str | None) -> str | None:
        """Return what stands for what a caller shows: nothing, the name of a credential, or that it is none."""
        return None if credential is None else self._names.get(credential, "(no credential)")

    def written(self, value: Any, *, ordered: bool = False) -> str:
        """Write a JSON value in one line with names for credentials, wherever they stand; ``ordered`` sorts its members.

        Each credential is found as a word; the latest ones, and those that are no word, as a part of any text.
        """
        text = json_text.written(value, ordered=ordered)
        found = self._names.keys() & set(_WORD.findall(text)) | set(self._recent)
        for credential in sorted(found, key=lambda each: (-len(each), each)):  # one may be a part of another
            plain, name = json.dumps(credential), self._names[credential]
            text = text.replace(plain, f'"{name}"')
            if len(credential) >= _SHORTEST_INSIDE:
                text = text.replace(plain[1:-1], name)
        return text

    def hear(self, call: Call, reply: Reply | TargetFault) -> None:
        """Learn the credentials that a control gave out."""
        if call.is_control and isinstance(reply, Reply) and reply.ok:
            for login in (reply.payload, reply.payload.get("root")):
                if isinstance(login, Mapping) and isinstance(login.get("credential"), str):
                    self.learn(login["credential"])

    def request(self, call: Call) -> str:
        """Write a call as it stands in a recording; two that are written alike are the same request."""
        shown = self.shown(call.credential)
        return self.written({"op": call.op, "payload": call.payload, "as": shown, "flags": sorted(call.flags)}, ordered=True)


class Recording:
    """A shim that writes down what goes through ``shim``, into a section of its own. It is whole once it is closed."""

    def __init__(self, shim: Shim, opened: Opened, check_id: str, file: Path) -> None:
        self._shim = shim
        self._file = file
        self._aliases = Aliases()
        self._raw = _part(file).open("wb")
        self._out = gzip.GzipFile(filename="", fileobj=self._raw, mode="wb", compresslevel=_LEVEL, mtime=0)
        self.shared = shim.shared
        for login in (*opened.logins, *(home.root for home in opened.homes)):
            self._aliases.learn(login.credential)
        given = {
            "facts": facts_to_json(opened.facts),
            "homes": [asdict(home) for home in opened.homes],
            "logins": [asdict(login) for login in opened.logins],
        }
        self._line(self._aliases.written({"check": check_id, "given": given, "shared": shim.shared}))

    def send(self, call: Call) -> Reply:
        """Carry one call and write it down (see ``Shim``)."""
        request = self._aliases.request(call)
        try:
            reply = self._shim.send(call)
        except TargetFault as fault:
            self._line(f'{{"call": {request}, "answer": {self._answer(call, fault)}}}')
            raise
        self._line(f'{{"call": {request}, "answer": {self._answer(call, reply)}}}')
        return reply

    def send_all(self, calls: Sequence[Call]) -> list[Reply | TargetFault]:
        """Carry calls at the same time and write them down (see ``Shim``)."""
        requests = [self._aliases.request(call) for call in calls]
        replies = self._shim.send_all(calls)
        answers = [self._answer(call, reply) for call, reply in zip(calls, replies, strict=True)]
        self._line(f'{{"calls": [{", ".join(requests)}], "answers": [{", ".join(answers)}]}}')
        return replies

    def restart(self) -> bool:
        """Restart the provider and write it down (see ``Shim``)."""
        restarted = self._shim.restart()
        self._line(json.dumps({"restart": restarted}))
        return restarted

    def close(self) -> None:
        """Finish the section. The shim inside is closed by who opened it."""
        self._out.close()
        self._raw.close()
        _part(self._file).replace(self._file)

    def _answer(self, call: Call, reply: Reply | TargetFault) -> str:
        self._aliases.hear(call, reply)
        if isinstance(reply, TargetFault):
            return self._aliases.written({"fault": str(reply), "silent": isinstance(reply, NoAnswer)})
        return self._aliases.written({"payload": reply.payload} if reply.error is None else {"error": reply.error})

    def _line(self, text: str) -> None:
        self._out.write(text.encode("ascii") + b"\n")


def _part(file: Path) -> Path:
    return file.with_name(f"{file.name}.part")


def section_file(directory: Path, node_id: str) -> Path:
    """Return where a check's section is left until the run is over."""
    return directory / hashlib.sha256(node_id.encode("utf-8", "surrogatepass")).hexdigest()


def facts_to_json(facts: Facts) -> dict[str, Any]:
    """Return what a provider says of itself as a JSON object."""
    return {**asdict(facts), "flags": sorted(facts.flags), "controls": sorted(facts.controls)}


def facts_of_json(value: Mapping[str, Any]) -> Facts:
    """Read ``facts_to_json``'s object."""
    return Facts(**{**value, "flags": frozenset(value["flags"]), "controls": frozenset(value["controls"])})


def assemble(path: Path, header: Header, directory: Path, checks: Iterable[tuple[str, str]]) -> None:
    """Put the sections of ``checks`` (pairs of check id and node id) into one file, in order. Raises ``OSError``."""
    kept = [(check, node, section_file(directory, node)) for check, node in checks]
    kept = [row for row in kept if row[2].is_file()]
    listed = [{"check": check, "node": node, "bytes": file.stat().st_size} for check, node, file in kept]
    first = json.dumps({"recording": FORMAT, **asdict(header), "sections": listed}) + "\n"
    part = _part(path)
    with part.open("wb") as out:
        out.write(gzip.compress(first.encode("ascii"), compresslevel=_LEVEL, mtime=0))
        for _, _, file in kept:
            out.write(file.read_bytes())
    part.replace(path)


def read_header(path: Path) -> tuple[Header, tuple[Section, ...]]:
    """Read what a recording says of itself and where its sections are. Raises ``BadRecording``."""
    try:
        with path.open("rb") as file:
            text, start = _first_member(file)
        value = json.loads(text)
        if value.pop("recording") != FORMAT:
            raise BadRecording(f"{path}: a recording of another format than {FORMAT}.")
        sections = tuple(_sections(value.pop("sections"), start))
        return Header(**{**value, "rules": tuple(value["rules"])}), sections
    except OSError as error:
        raise BadRecording(f"{path}: the recording cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error) as error:
        raise BadRecording(f"{path}: no recording of a run: {error}.") from error


def _first_member(file: BinaryIO) -> tuple[bytes, int]:
    """Return what the file's first gzip member holds, and where the next one starts."""
    reader, text, read = zlib.decompressobj(wbits=31), b"", 0
    while not reader.eof:
        chunk = file.read(_CHUNK)
        if not chunk or len(text) > LONGEST_HEADER:
            raise ValueError("it is cut off or too long")
        read += len(chunk)
        text += reader.decompress(chunk, LONGEST_HEADER)
    return text, read - len(reader.unused_data)


def _sections(listed: Sequence[Mapping[str, Any]], start: int) -> Iterator[Section]:
    for row in listed:
        yield Section(str(row["check"]), str(row["node"]), start, int(row["bytes"]))
        start += int(row["bytes"])

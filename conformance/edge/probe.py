"""One HTTP request as it is, valid or not, and what came back."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from conformance.errors import NoAnswer, TargetFault, blame

SHOWN = 200
"""So many bytes of a body are shown to a person."""
ANSWER_LIMIT = 2**20
"""So many bytes of an answer are looked at."""
SECRET = b"authorization"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: ``path`` is what follows the base, with its slash."""

    path: str
    method: str = "POST"
    headers: Sequence[tuple[bytes, bytes]] = ()
    body: bytes = b""

    def shown(self) -> dict[str, Any]:
        """Return the request as JSON for a person, without its credential."""
        headers = {_text(name): _text(value) for name, value in self.headers if name.lower() != SECRET}
        more = "…" if len(self.body) > SHOWN else ""
        return {"method": self.method, "path": self.path, "headers": headers, "body": _text(self.body[:SHOWN]) + more}


@dataclass(frozen=True, slots=True)
class Came:
    """What came back; ``status`` None: the connection ended without an answer."""

    status: int | None
    body: bytes = b""

    def shown(self) -> dict[str, Any]:
        """Return the answer as JSON for a person."""
        return {"status": self.status, "body": _text(self.body[:SHOWN])}


@dataclass(frozen=True)
class Edge:
    """The server at ``base``: ``headers`` go along with each request, ``deadline`` is in seconds an exchange.

    ``contract`` makes the OpenAPI document; ``thoroughness`` is the profile's number of examples a check.
    """

    base: str
    deadline: float
    contract: Callable[[], dict[str, Any]]
    thoroughness: int
    headers: Mapping[str, str] = field(default_factory=dict)
    ca: Path | None = None

    def ask(self, asked: Asked) -> Came:
        """Send a request. Raises ``NoAnswer`` where nothing comes within the deadline, or nobody is there."""
        name = f"{asked.method} {asked.path[:80]}"
        try:
            with closing(self._connection()) as connection:
                return _exchanged(connection, asked, self._path(asked.path), self.headers)
        except TimeoutError as error:
            raise NoAnswer(f"{name}: no answer within {self.deadline:g} s") from error
        except ConnectionRefusedError as error:
            raise NoAnswer(f"{name}: nobody answers at {self.base}") from error
        except (http.client.RemoteDisconnected, ConnectionError):
            return Came(None)
        except (http.client.HTTPException, OSError) as error:
            raise TargetFault(f"{name}: the exchange broke: {blame(error)}") from error

    def _connection(self) -> http.client.HTTPConnection:
        where = urlsplit(self.base)
        if where.scheme == "https":
            trusted = ssl.create_default_context(cafile=self.ca)
            return http.client.HTTPSConnection(where.hostname or "", where.port, timeout=self.deadline, context=trusted)
        return http.client.HTTPConnection(where.hostname or "", where.port, timeout=self.deadline)

    def _path(self, path: str) -> str:
        return urlsplit(self.base).path.rstrip("/") + path


def _exchanged(connection: http.client.HTTPConnection, asked: Asked, path: str, more: Mapping[str, str]) -> Came:
    connection.putrequest(asked.method, path, skip_accept_encoding=True)
    sized = (b"Content-Length", str(len(asked.body)).encode())
    for name, value in (*((key.encode(), text.encode()) for key, text in more.items()), *asked.headers, sized):
        connection.putheader(name, value)
    connection.endheaders()
    with suppress(ConnectionError):  # it may have answered without reading on
        connection.send(asked.body)
    answer = connection.getresponse()
    return Came(answer.status, answer.read(ANSWER_LIMIT))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")

"""What must not get into a report: credentials, the harness token, headers, passwords in addresses and commands.

Everything that a report tells of a failure goes through here once, whatever it is: reasons, values, traces, tracebacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from conformance.transport.route import Route
from conformance.verdict import CheckResult, Verdict

HIDDEN = "<hidden>"
SHORTEST_INSIDE = 6
"""A shorter secret is hidden only where it is a whole string: it may be a part of any word."""
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_QUERY = re.compile(r"(?<=\?)\S+")
_NAMED = re.compile(
    r"(?i)([\w-]*(?:token|secret|password|passwd|credential|api[-_]?key|authorization)[\w-]*[= ])(\"[^\"]*\"|'[^']*'|\S+)"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]+")


class Secrets:
    """Texts that are hidden, each with what stands in its place."""

    def __init__(self, known: Mapping[str, str] = MappingProxyType({})) -> None:
        self._known = {secret: shown for secret, shown in known.items() if secret}
        forms = {form: (shown, len(secret)) for secret, shown in self._known.items() for form in _written(secret)}
        self._forms = sorted(forms.items(), key=lambda each: len(each[0]), reverse=True)

    def with_more(self, known: Mapping[str, str]) -> Secrets:
        """Return these and more."""
        return Secrets({**known, **self._known})

    def text(self, text: str) -> str:
        """Return ``text`` without secrets."""
        for form, (shown, length) in self._forms:
            if text == form or length >= SHORTEST_INSIDE:
                text = text.replace(form, shown)
        return _BEARER.sub(rf"\1 {HIDDEN}", text)

    def value(self, value: Any) -> Any:
        """Return a JSON value without secrets, names of members included."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(str(name)): self.value(member) for name, member in value.items()}
            case list() | tuple():
                return [self.value(member) for member in value]
            case _:
                return value

    def result(self, result: CheckResult) -> CheckResult:
        """Return a check's result without secrets; one that passed tells nothing of what came."""
        if result.verdict is Verdict.PASS:
            return result
        whole = result.to_json()
        return CheckResult.of_json({**whole, **{name: self.value(whole[name]) for name in _TELLING}})


def _written(secret: str) -> set[str]:
    """Return a secret as it is and as JSON and Python write it, where a value stands inside a text."""
    return {form[1:-1] for form in (f"'{secret}'", json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))}


_TELLING = ("reason", "failure", "traceback", "trace", "counterexample")


def of_route(route: Route) -> Secrets:
    """Return what a target's address and file keep secret."""
    known = {credential: f"<credential of {principal}>" for credential, principal in route.principals.items()}
    known |= {text: f"<{name}>" for name, text in route.headers.items()}
    known |= {text: f"<{name}>" for name, text in route.env.items() if _secret_name(name)}
    return Secrets({**known, **({route.token: "<harness token>"} if route.token else {})})


def _secret_name(name: str) -> bool:
    return bool(_NAMED.match(f"{name}=x"))


def shown_target(text: str) -> str:
    """Return a target string without user names, passwords and what an argument of a command keeps secret."""
    text = _NAMED.sub(rf"\1{HIDDEN}", _USER.sub(f"{HIDDEN}@", text))
    return _QUERY.sub(HIDDEN, text) if text.startswith(("http:", "https:", "ws:", "wss:")) else text


def all_hidden(secrets: Secrets, sentences: Iterable[str]) -> tuple[str, ...]:
    """Return sentences without secrets."""
    return tuple(map(secrets.text, sentences))

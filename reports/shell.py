"""A counterexample as lines for a shell: a script of curl calls for HTTP, JSON lines for stdio.

The script asks for new spaces and principals and takes what the provider makes out of its answers with jq, so that it runs on any
provider: ``sh script BASE``. The JSON lines keep their symbols; a comment after a line says what of its answer is called what.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from conformance.counterexample import DIGEST, Counterexample, Party, Said, is_symbol

CONTROL = "control."
START = "$start"
_PREAMBLE = """\
#!/bin/bash
# {rule}: {what}
# usage: bash THIS-FILE BASE, the provider's base address; MEMORY_HARNESS_TOKEN is what controls show; needs curl and jq
base=${{1:?the base address of the provider}}
answers=$(mktemp -d)"""
_BENCH = '${MEMORY_HARNESS_TOKEN:+-H "Authorization: Bearer $MEMORY_HARNESS_TOKEN"}'
_SEALED = r"""sealed() {  # MEMBER OBJECT: the object with the digest of the rest of it in that member
    digest=$(printf '%s' "$2" | jq -cS "del(.$1)" | tr -d '\n' | sha256sum | cut -c 1-64)
    printf '%s' "$2" | jq -c --arg digest "$digest" ".$1 = \$digest"
}"""
_INSTANT = re.compile(r"\$start([+-]\d+)(\.\d+)?")
_SHOWN = re.compile(r"\$\{([^}]*)\}")


# -- for HTTP


def curl_lines(example: Counterexample) -> Iterator[str]:
    """Give the lines of a script for bash that sends the calls with curl."""
    what = " ".join(example.what.split())
    yield from _PREAMBLE.format(rule=example.rule, what=what).splitlines()
    yield from _arrival(example)
    if any(DIGEST in value.values() for value in example.materials.values() if isinstance(value, Mapping)):
        yield from _SEALED.splitlines()
    waiting = dict(example.materials)
    grouped = itertools.groupby(enumerate(example.calls, 1), lambda entry: entry[1].together or -entry[0])
    for _, group in grouped:
        calls = list(group)
        for _, said in calls:
            yield from _materials(_symbols(said.payload), waiting)
        beside = " &" if len(calls) > 1 else ""
        yield from (f"{_curl(example, str(number), said)}{beside}" for number, said in calls)
        if beside:
            yield "wait"
        for number, said in calls:
            yield f'cat "$answers/{number}"; echo'
            yield from (_taken(symbol, pointer, str(number)) for symbol, pointer in said.names.items())


def _arrival(example: Counterexample) -> Iterator[str]:
    """Make the spaces with their roots, and the other principals."""
    for number, space in enumerate(example.spaces, 1):
        yield _control("provision", {}, f"space{number}")
        yield _taken(space, "/space_id", f"space{number}")
        for party in (party for party in example.callers if party.space == space):
            yield from _login(party, "/root", f"space{number}")
    for party in example.callers:
        if party.principal and not party.space:
            yield _control("principal", {}, party.name)
            yield from _login(party, "", party.name)
    if START in set().union(*(_symbols(said.payload) for said in example.calls)):
        yield from _start(example)


def _start(example: Counterexample) -> Iterator[str]:
    """Ask when the first space was made."""
    space = example.spaces[0]
    root = next(party.name for party in example.callers if party.space == space)
    yield _curl(example, "start", Said(root, "memory.spaces.list", {}))
    found = f".spaces[] | select(.space_id == ${_variable(space)}) | .created_at"
    yield f'start=$(jq -c --argjson {_variable(space)} "${_variable(space)}" {shlex.quote(found)} "$answers/start")'


def _login(party: Party, pointer: str, answer: str) -> Iterator[str]:
    yield _taken(party.principal, f"{pointer}/principal_id", answer)
    yield f'{_variable(party.name)}_shows=$(jq -r {shlex.quote(_path(f"{pointer}/credential"))} "$answers/{answer}")'


def _control(name: str, payload: Any, answer: str) -> str:
    return _posted(CONTROL + name, payload, answer, _BENCH)


def _curl(example: Counterexample, answer: str, said: Said) -> str:
    if said.op.startswith(CONTROL):
        return _posted(said.op, said.payload, answer, _BENCH)
    flags = example.flags if said.flags is None else said.flags
    headers = f"-H {shlex.quote('Spoke-Capabilities: ' + ', '.join(sorted(flags)))}"
    shown = next((party.credential for party in example.callers if party.name == said.caller), None)
    if shown is not None:
        headers += f' -H "Authorization: Bearer {_shows(shown)}"'
    return _posted(said.op, said.payload, answer, headers)


def _shows(credential: str) -> str:
    """Return a credential for inside of double quotes: what belongs to a caller is a variable."""
    parts = _SHOWN.split(credential)
    plain = (re.sub(r'([\\"$`])', r"\\\1", part) for part in parts[::2])
    named = (f"${{{_variable(name)}_shows}}" for name in parts[1::2])
    return "".join(itertools.chain.from_iterable(itertools.zip_longest(plain, named, fillvalue="")))


def _posted(op: str, payload: Any, answer: str, headers: str) -> str:
    sending = (
        f'curl -sS -o "$answers/{answer}" {headers} -H \'Content-Type: application/json\' --data-binary @- "$base/{quote(op)}"'
    )
    return f"{_made(payload)} | {sending}"


def _made(value: Any) -> str:
    """Return the command that prints a value with what its symbols stand for."""
    given = "".join(f' --argjson {_variable(name)} "${_variable(name)}"' for name in sorted(_symbols(value)))
    return f"jq -cn{given} {shlex.quote(_jq(value))}"


def _materials(symbols: set[str], waiting: dict[str, Any]) -> Iterator[str]:
    """Make the materials among the symbols that are not made yet, and what they are made of."""
    for symbol in sorted(symbols):
        if (value := waiting.pop(symbol, None)) is not None:
            yield from _materials(_symbols(value), waiting)
            yield f"{_variable(symbol)}=$({_made(value)})"
            for name in (name for name, member in value.items() if member == DIGEST):
                yield f'{_variable(symbol)}=$(sealed {name} "${_variable(symbol)}")'


def _taken(symbol: str, pointer: str, answer: str) -> str:
    return f'{_variable(symbol)}=$(jq -c {shlex.quote(_path(pointer))} "$answers/{answer}")'


def _variable(symbol: str) -> str:
    return re.sub(r"\W", "_", symbol.removeprefix("$"))


def _path(pointer: str) -> str:
    """Return a JSON pointer as a path of jq."""
    parts = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    return "." + "".join(f"[{part}]" if part.isdigit() else f"[{json.dumps(part)}]" for part in parts)


def _jq(value: Any) -> str:
    """Return a value as a program of jq."""
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(name)}: {_jq(inner)}" for name, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_jq, value)) + "]"
        case str():
            return _text(value)
        case _:
            return json.dumps(value)


def _text(text: str) -> str:
    if text == DIGEST or not is_symbol(text):
        return _literal(text[1:] if text.startswith("$$") else text)
    if found := _INSTANT.fullmatch(text):
        fraction = found[2] or ""
        return f'(($start[:19] + "Z" | fromdateiso8601) + ({int(found[1])}) | todateiso8601 | .[:19] + "{fraction}Z")'
    name, _, rest = text.partition("/")
    return f"${_variable(name)}" + "".join(
        f"[{part if part.isdigit() else json.dumps(part)}]" for part in rest.split("/") if rest
    )


def _literal(text: str) -> str:
    # In a text of jq's a backslash before a bracket would begin a program; json.dumps doubles each backslash.
    return json.dumps(text)


def _symbols(value: Any) -> set[str]:
    """Return the symbols that must have a value before this one can be printed."""
    match value:
        case dict():
            return set().union(*map(_symbols, value.values()))
        case list():
            return set().union(*map(_symbols, value))
        case str() if is_symbol(value) and value != DIGEST:
            return {START if _INSTANT.fullmatch(value) else value.partition("/")[0]}
        case _:
            return set()


# -- for stdio


def json_lines(example: Counterexample) -> Iterator[str]:
    """Give the lines that are sent to a provider over stdio, symbols in them; a line that begins with # is a comment."""
    number = itertools.count(1)
    yield f"# {example.rule}: {' '.join(example.what.split())}"
    for space in example.spaces:
        yield json.dumps({"id": (told := next(number)), "control": f"{CONTROL}provision", "payload": {}})
        roots = (f", {_called(party, '/root')}" for party in example.callers if party.space == space)
        yield f"# of answer {told}: {space} is /payload/space_id{''.join(roots)}"
    for party in example.callers:
        if party.principal and not party.space:
            yield json.dumps({"id": (told := next(number)), "control": f"{CONTROL}principal", "payload": {}})
            yield f"# of answer {told}: {_called(party, '')}"
    for symbol, value in example.materials.items():
        yield f"# {symbol} is {json.dumps(value)}"
    for said in example.calls:
        yield json.dumps(_line(example, told := next(number), said))
        if said.names:
            named = (f"{symbol} is /payload{pointer}" for symbol, pointer in said.names.items())
            yield f"# of answer {told}: {', '.join(named)}"


def _called(party: Party, pointer: str) -> str:
    return f"{party.principal} is /payload{pointer}/principal_id, ${{{party.name}}} is /payload{pointer}/credential"


def _line(example: Counterexample, number: int, said: Said) -> dict[str, Any]:
    if said.op.startswith(CONTROL):
        return {"id": number, "control": said.op, "payload": said.payload}
    flags = example.flags if said.flags is None else said.flags
    shown = next((party.credential for party in example.callers if party.name == said.caller), None)
    return {"id": number, "credential": shown, "flags": sorted(flags), "op": said.op, "payload": said.payload}

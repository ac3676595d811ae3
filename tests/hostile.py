"""Providers that misbehave on the wire, each named for what it does: ``python -m tests.hostile <name>`` speaks stdio.

Each says hello properly (but for those that cannot even that) and misbehaves at every memory call.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Message = Mapping[str, Any]
HELLO = {"harness": 1, "provider": {"name": "hostile", "version": "1"}, "instance": str(os.getpid()), "controls": ["hello"]}
OUT = sys.stdout.buffer
ENDLESS = 60.0


def put(data: bytes | str) -> None:
    """Write and flush."""
    OUT.write(data if isinstance(data, bytes) else data.encode())
    OUT.flush()


def answer(message: Message, payload: str = "{}", ident: str | None = None) -> str:
    """Make a line of an answer."""
    return f'{{"id": {ident or message["id"]}, "payload": {payload}}}\n'


def never(_message: Message) -> None:
    time.sleep(ENDLESS)


def late(message: Message) -> None:
    time.sleep(1.5)
    put(answer(message))


def twice(message: Message) -> None:
    put(answer(message) * 2)


def wrong_id(message: Message) -> None:
    put(answer(message, ident="999999"))


def text_id(message: Message) -> None:
    put(answer(message, ident=f'"{message["id"]}"'))


def true_id(message: Message) -> None:
    put(answer(message, ident="true"))


def infinite_id(message: Message) -> None:
    put(answer(message, ident="1e999"))


def object_id(message: Message) -> None:
    put(answer(message, ident="{}"))


def fraction_id(message: Message) -> None:
    put(answer(message, ident="1.5"))


def huge_id(message: Message) -> None:
    put(answer(message, ident="9" * 5000))


def no_id(_message: Message) -> None:
    put('{"payload": {}}\n')


def half_a_line(message: Message) -> None:
    put(answer(message)[:9])
    time.sleep(ENDLESS)


def half_a_line_and_exit(message: Message) -> None:
    put(answer(message)[:9])
    os._exit(0)


def no_line_end(message: Message) -> None:
    put(answer(message).rstrip("\n"))
    time.sleep(ENDLESS)


def carriage_return_alone(message: Message) -> None:
    put(answer(message).replace("\n", "\r"))
    time.sleep(ENDLESS)


def line_separator_alone(message: Message) -> None:
    put(answer(message).replace("\n", "\u2028"))
    time.sleep(ENDLESS)


def two_objects_on_a_line(message: Message) -> None:
    put(answer(message).rstrip("\n") + answer(message))


def object_on_two_lines(message: Message) -> None:
    put(answer(message).replace(",", ",\n"))


def invalid_utf8(message: Message) -> None:
    put(answer(message, '{"a": "X"}').encode().replace(b"X", b"\xff\xfe"))


def utf16(message: Message) -> None:
    put(answer(message).encode("utf-16"))


def byte_order_mark(message: Message) -> None:
    put(b"\xef\xbb\xbf" + answer(message).encode())


def not_a_number(message: Message) -> None:
    put(answer(message, '{"a": NaN}'))


def infinity(message: Message) -> None:
    put(answer(message, '{"a": -Infinity}'))


def beyond_doubles(message: Message) -> None:
    put(answer(message, '{"a": 1e999}'))


def nested_arrays(message: Message) -> None:
    put(answer(message, '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"))


def nested_objects(message: Message) -> None:
    put(answer(message, '{"a":' * 100_000 + "1" + "}" * 100_000))


def huge_answer(message: Message) -> None:
    put(f'{{"id": {message["id"]}, "payload": {{"a": "')
    for _ in range(200):
        put(b"x" * 2**20)
    put('"}}\n')


def endless_line(_message: Message) -> None:
    while True:
        put(b"x" * 2**16)


def endless_lines(_message: Message) -> None:
    while True:
        put(b'{"id": 0, "payload": {}}\n' * 1000)


def endless_stderr(_message: Message) -> None:
    end = time.monotonic() + ENDLESS
    while time.monotonic() < end:
        sys.stderr.write("x" * 2**16)


def slow_drip(message: Message) -> None:
    for letter in answer(message, '{"a": "' + "x" * 500 + '"}'):
        put(letter)
        time.sleep(0.05)


def empty_line(_message: Message) -> None:
    put("\n")


def prints_first(message: Message) -> None:
    put("debug: here\n" + answer(message))


def exits(_message: Message) -> None:
    os._exit(3)


def exits_well(_message: Message) -> None:
    os._exit(0)


def kills_itself(_message: Message) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_of_a_traceback(_message: Message) -> None:
    raise RuntimeError("boom")


def closes_its_output(_message: Message) -> None:
    os.close(1)
    time.sleep(ENDLESS)


def closes_its_input(_message: Message) -> None:
    os.close(0)
    time.sleep(ENDLESS)


def leaves_a_child_with_its_pipe(_message: Message) -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"])
    os._exit(0)


def leaves_a_daemon_with_its_pipe(_message: Message) -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], start_new_session=True)
    os._exit(0)


def ignores_signals(_message: Message) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(ENDLESS)


def stops_itself(_message: Message) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def success_and_error(message: Message) -> None:
    put(f'{{"id": {message["id"]}, "payload": {{}}, "error": {{"code": "x"}}}}\n')


def neither(message: Message) -> None:
    put(f'{{"id": {message["id"]}}}\n')


def error_in_the_success(message: Message) -> None:
    put(answer(message, '{"error": {"code": "NOT_FOUND"}}'))


def payload_is_null(message: Message) -> None:
    put(answer(message, "null"))


def payload_is_a_list(message: Message) -> None:
    put(answer(message, "[]"))


def error_is_text(message: Message) -> None:
    put(f'{{"id": {message["id"]}, "error": "no"}}\n')


def error_without_code(message: Message) -> None:
    put(f'{{"id": {message["id"]}, "error": {{"message": "no"}}}}\n')


def bare_list(message: Message) -> None:
    put(f"[{message['id']}]\n")


def schema_invalid_success(message: Message) -> None:
    put(answer(message, '{"nonsense": 1}'))


def unknown_code(message: Message) -> None:
    put(f'{{"id": {message["id"]}, "error": {{"code": "MADE_UP", "message": "", "extensions": {{}}}}}}\n')


def lone_surrogates(message: Message) -> None:
    put(answer(message, r'{"\ud800": "\udfff"}'))


def control_characters(message: Message) -> None:
    put(b'{"id": %d, "payload": {"a": "\x00\x01"}}\n' % message["id"])


SILENT = (never, half_a_line, no_line_end, carriage_return_alone, line_separator_alone, closes_its_input, ignores_signals,
          stops_itself, late, slow_drip, endless_stderr, closes_its_output)  # fmt: skip
GONE = (exits, exits_well, kills_itself, dies_of_a_traceback, half_a_line_and_exit, leaves_a_child_with_its_pipe,
        leaves_a_daemon_with_its_pipe)  # fmt: skip
GARBLED = (twice, wrong_id, text_id, true_id, infinite_id, object_id, fraction_id, huge_id, no_id, two_objects_on_a_line,
           object_on_two_lines, invalid_utf8, utf16, byte_order_mark, not_a_number, infinity, beyond_doubles, nested_arrays,
           nested_objects, huge_answer, endless_line, endless_lines, empty_line, prints_first, success_and_error, neither,
           error_in_the_success, payload_is_null, payload_is_a_list, error_is_text, error_without_code, bare_list,
           control_characters)  # fmt: skip
MALFORMED = (schema_invalid_success, unknown_code, lone_surrogates)
DEEDS: Mapping[str, Callable[[Message], None]] = MappingProxyType(
    {deed.__name__: deed for deed in (*SILENT, *GONE, *GARBLED, *MALFORMED)}
)


def main(name: str, flag: str) -> None:
    """Speak the harness contract, but for one thing."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("control") == "control.hello":
            put(answer(message, json.dumps({**HELLO, "flags": [flag]})))
        else:
            DEEDS[name](message)


if __name__ == "__main__":
    main(*sys.argv[1:])

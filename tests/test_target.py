"""Targets: every kind opens, and every mistake is told in one sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.errors import BadTarget, NotOffered, TargetFault
from conformance.exchange import Call
from conformance.levers import Facts, Home, Login, control
from conformance.target import TOKEN_VARIABLE, Opened, open_target
from conformance.target_file import read_target_file
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Flag
from tests.providers import CORE

CONTRACT = bundle.load()
HERE = "python:tests.providers:"


def opened(text: str) -> Opened:
    return open_target(text, bundle=CONTRACT).open()


def described(way: Opened, credential: str | None) -> str | None:
    """Return None where ``credential`` is admitted, else the error code."""
    return way.shim.send(Call("memory.describe", {}, credential, frozenset({CORE}))).code


def test_the_oracle_is_another_one_each_time() -> None:
    target = open_target("oracle", bundle=CONTRACT)
    first, second = target.open(), target.open()
    assert first.shim is not second.shim
    assert first.facts.flags == {CONTRACT.flag(flag) for flag in Flag}
    assert control(first.shim, "provision", {}) == control(second.shim, "provision", {})
    target.release(first)
    target.release(second)


def test_a_python_target_is_one_object_a_process() -> None:
    target = open_target(f"{HERE}oracle", bundle=CONTRACT)
    first = target.open()
    target.release(first)
    assert target.open() is first
    assert control(first.shim, "provision", {}) != control(first.shim, "provision", {})
    target.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("oracl", "there is no target kind 'oracl'"),
        ("oracle:x", "there is no target kind"),
        ("ftp://x", "python:package.module:factory"),
        ("", "there is no target kind ''"),
        ("python:", "write it as python:package.module:factory"),
        ("python:tests.providers", "write it as"),
        ("python:tests.nowhere:make", "ModuleNotFoundError"),
        ("python:tests.providers:nobody", "AttributeError"),
        (f"{HERE}not_callable", "cannot be called"),
        (f"{HERE}raises", "the factory raised RuntimeError: no database here."),
        (f"{HERE}nonsense", "neither 'call' nor 'as_memory'"),
        (f"{HERE}Uncontrolled", "give a target file with 'flags'"),
        (f"{HERE}Port", "give a target file with 'flags'"),
        ("nowhere.toml", "cannot be read"),
    ],
)
def test_a_wrong_target_is_told_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(BadTarget) as caught:
        opened(text)
    sentence = str(caught.value)
    assert said in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


def test_an_adapter_without_memory_is_not_offered() -> None:
    with pytest.raises(NotOffered, match="as_memory"):
        opened(f"{HERE}adapter_without_memory")


def test_a_port_behind_the_dispatcher_admits_whom_its_control_made() -> None:
    for name in ("PortWithLevers", "adapter"):
        way = opened(HERE + name)
        assert way.facts == Facts("port", "1", "i", frozenset({CORE}), frozenset({"principal"}))
        credential = control(way.shim, "principal", {})["credential"]
        assert described(way, credential) is None
        for wrong in ("another", "", None):
            assert described(way, wrong) == CONTRACT.code(Code.NOT_AUTHENTICATED)


def test_a_port_declares_what_its_hello_says() -> None:
    way = opened(f"{HERE}PortWithLevers")
    credential = control(way.shim, "principal", {})["credential"]
    transfer = CONTRACT.flag(Flag.TRANSFER)
    reply = way.shim.send(Call("memory.exports.create", {}, credential, frozenset({CORE, transfer})))
    assert reply.code == CONTRACT.code(Code.FLAG_NOT_NEGOTIATED)


def test_a_port_with_its_own_admission_admits_by_it() -> None:
    way = opened(f"{HERE}PortThatAdmits")
    assert described(way, "open sesame") is None
    assert described(way, control(way.shim, "principal", {})["credential"]) == CONTRACT.code(Code.NOT_AUTHENTICATED)


def test_a_port_without_levers_answers_none() -> None:
    way = opened_with_file_flags(f"{HERE}Port")
    with pytest.raises(TargetFault, match=CONTRACT.code(Code.UNKNOWN_OPERATION)):
        control(way.shim, "provision", {})


def opened_with_file_flags(target: str) -> Opened:
    file = Path("flags.mem.toml")
    file.write_text(f'target = "{target}"\nflags = ["{CORE}"]\n', "utf-8")
    return opened(str(file))


FILE = f"""
target = "{HERE}Port"
flags = ["{CORE}"]
deadline = 2

[[principals]]
principal_id = "ada"
credential = "ada's"

[[spaces]]
space_id = "s1"
root = {{ principal_id = "root", credential = "root's" }}
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_target_file_tells_what_the_provider_cannot() -> None:
    Path("t.toml").write_text(FILE, "utf-8")
    way = opened("t.toml")
    assert way.facts == Facts("t.toml", "", "", frozenset({CORE}), frozenset())
    assert way.logins == (Login("ada", "ada's"),)
    assert way.homes == (Home("s1", Login("root", "root's"), shared=True),)
    assert open_target("t.toml", bundle=CONTRACT).deadline == 2.0
    assert described(way, "ada's") is None
    assert described(way, "root's") is None
    assert described(way, "ada") == CONTRACT.code(Code.NOT_AUTHENTICATED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target = ", "t.toml: not TOML"),
        ("", "t.toml: the key 'target' is missing"),
        ("targte = 'oracle'", "there is no key 'targte'"),
        ("target = 5", "'target' must be a non-empty string, not 5"),
        ("target = 'oracle'\nflags = 'x'", "'flags' must be an array"),
        ("target = 'oracle'\nflags = ['x', 1]", "'flags[1]' must be a non-empty string"),
        ("target = 'oracle'\ndeadline = 0", "'deadline' must be a positive number"),
        ("target = 'oracle'\ndeadline = true", "'deadline' must be a positive number"),
        ("target = 'oracle'\ndeadline = inf", "'deadline' must be a positive number"),
        ("target = 'oracle'\nprincipals = [{principal_id = 'a'}]", "'principals[0]' must be a table with exactly"),
        ("target = 'oracle'\nprincipals = [{principal_id = 'a', credential = ''}]", "'principals[0].credential' must be"),
        ("target = 'oracle'\nspaces = [{space_id = 's'}]", "'spaces[0]' must be a table with exactly"),
        ("target = 'oracle'\nspaces = [{space_id = 's', root = 'r'}]", "'spaces[0].root' must be a table"),
        ("target = 'nope'", "there is no target kind 'nope'"),
    ],
)
def test_a_wrong_target_file_is_told_in_one_sentence_with_its_key(text: str, said: str) -> None:
    Path("t.toml").write_text(text, "utf-8")
    with pytest.raises(BadTarget) as caught:
        opened("t.toml")
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_target_file_needs_no_more_than_a_target() -> None:
    Path("t.toml").write_text("target = 'oracle'", "utf-8")
    file = read_target_file(Path("t.toml"))
    assert (file.target, file.flags, file.logins, file.homes) == ("oracle", None, (), ())
    assert opened("t.toml").facts.flags == opened("oracle").facts.flags


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("env = { A = 1 }", "'env' must be a table of strings"),
        ("cwd = 'nowhere-at-all'", "'cwd' must be a directory"),
        ("token = ''", "'token' must be a non-empty string"),
        ("headers = ['x']", "'headers' must be a table of strings"),
        ("headers = { 'a b' = 'x' }", "'headers.a b' is no HTTP header"),
        ('headers = { X = "a\\nb" }', "'headers.X' is no HTTP header"),
        ('start = "a \'b"', "'start' is no command"),
        ("start = 'x'\nready = '('", "'ready' is no regular expression"),
        ("ready = 'x'", "'stop' and 'ready' are of a server that 'start' starts"),
    ],
)
def test_a_wrong_key_of_a_process_or_server_is_told(line: str, said: str) -> None:
    Path("t.toml").write_text(f"target = 'oracle'\n{line}\n", "utf-8")
    with pytest.raises(BadTarget, match=r"^t\.toml: .*\.$") as caught:
        read_target_file(Path("t.toml"))
    assert said in str(caught.value)


def test_a_target_file_tells_how_a_process_is_started() -> None:
    Path("sub").mkdir()
    code = "import json, os, sys; line = sys.stdin.readline(); print(json.dumps({'id': 1, 'payload': {"
    code += "'harness': 1, 'provider': {'name': os.environ['NAMED'], 'version': os.path.basename(os.getcwd())}, "
    code += "'instance': 'i', 'flags': [], 'controls': []}}))"
    Path("p.py").write_text(code, "utf-8")
    target = f"stdio:{sys.executable} ../p.py"
    Path("t.toml").write_text(f"target = '{target}'\ncwd = 'sub'\nenv = {{ NAMED = 'Ada' }}\n", "utf-8")
    opened_target = open_target("t.toml", bundle=CONTRACT)
    assert opened_target.open().facts == Facts("Ada", "sub", "i", frozenset(), frozenset())
    opened_target.close()


def test_the_token_of_the_file_comes_before_that_of_the_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "around")
    text = "target = 'http://127.0.0.1:1'\nheaders = { X-Tenant = 'a' }\n"
    Path("t.toml").write_text(f"{text}token = 'in the file'\n", "utf-8")
    Path("u.toml").write_text(text, "utf-8")
    assert open_target("t.toml", bundle=CONTRACT).route.token == "in the file"
    route = open_target("u.toml", bundle=CONTRACT).route
    assert (route.token, route.headers) == ("around", {"X-Tenant": "a"})

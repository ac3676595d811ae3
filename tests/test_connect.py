"""The connect transport: right frames, identities as the published library knows them, and nobody let in who must not be."""

from __future__ import annotations

import base64
import json
import string
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT7
from websockets.exceptions import ConnectionClosed

from conformance.connect import envelopes
from conformance.connect.identity import Identity, Untrusted, check_signature, key_of, peer_id_of
from conformance.errors import CannotTravel, TargetFault
from conformance.exchange import Call
from conformance.judging import judge
from conformance.levers import control, hello
from conformance.serving.ws import BAD_SEQUENCE
from conformance.transport.connect import Connect
from conformance.verdict import Verdict
from conformance.wire.vocabulary import Code
from tests.connect_peers import CONTRACT, CORE, FLAGS, TOKEN, our_host, peer
from tests.connect_schemas import SCHEMAS
from tests.served import ROOT

UPSTREAM = ROOT.parent / "shared" / "reference" / "upstream-schemas"
LETTERS = string.ascii_letters + string.digits + "-_"
DENIED = CONTRACT.code(Code.NOT_AUTHENTICATED)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with our_host() as url:
        yield url


@pytest.fixture
def shim(url: str) -> Iterator[Connect]:
    made = Connect(url, deadline=20, token=TOKEN)
    yield made
    made.close()


def schemas() -> list[dict[str, Any]]:
    """Give our schemas, and the published ones where they are at hand."""
    published = {path.name.partition(".")[0]: json.loads(path.read_text("utf-8")) for path in UPSTREAM.glob("*.schema.json")}
    return [SCHEMAS, published] if published else [SCHEMAS]


def problems(schemas: dict[str, Any], kind: str, frame: Any) -> list[str]:
    named = [(schema["$id"], DRAFT7.create_resource(schema)) for schema in schemas.values() if "$id" in schema]
    registry: Registry[Any] = Registry().with_resources(named)
    return [error.message for error in jsonschema.Draft7Validator(schemas[kind], registry=registry).iter_errors(frame)]


def test_every_frame_is_valid_by_its_schema(url: str) -> None:
    with peer(url) as caller:
        caller.greet()
        caller.ask(caller.request(0))
        caller.ask(caller.request(1, auth={"credential": "x"}))
        made = caller.ask(caller.request(2, op="control.principal", auth={"credential": TOKEN}))["payload"]
        caller.ask(caller.request(3, auth={"credential": made["credential"]}))
        caller.ask(caller.request(9))
    assert {"payload", "error"} <= {name for _, frame in caller.frames for name in frame}
    assert len({kind for kind, _ in caller.frames}) == 4
    for known in schemas():
        assert [problem for kind, frame in caller.frames for problem in problems(known, kind, frame)] == []
        for kind, frame in caller.frames:
            assert problems(known, kind, {**frame, "surprise": 1})
            assert problems(known, kind, {name: value for name, value in frame.items() if name != "signature"})


# -- identity, and the published library's word on it (in a process of its own: its exit may abort)

THEIRS = """
import json, sys, spoke_connect
asked = json.load(sys.stdin)
seed, key = bytes.fromhex(asked["seed"]), bytes.fromhex(asked["key"])
def accepted(hello):
    try:
        spoke_connect.verify_hello_ed25519(key, asked["peer_id"], json.dumps(hello))
    except Exception as error:
        return repr(error)
    return ""
print(json.dumps({
    "peer_id": spoke_connect.derive_peer_id_from_ed25519_pubkey(key),
    "accepted": [accepted(hello) for hello in asked["hellos"]],
    "hello": json.loads(spoke_connect.sign_hello_ed25519(seed, "n" * 20, json.dumps(asked["host"]))),
}), flush=True)
import os
os._exit(0)
"""


def theirs(seed: bytes, hellos: list[Any], host: Any) -> Any:
    identity = Identity(seed)
    asked = {
        "seed": seed.hex(),
        "key": key_of(identity.peer_id).hex(),
        "peer_id": identity.peer_id,
        "hellos": hellos,
        "host": host,
    }
    ended = subprocess.run(
        [sys.executable, "-c", THEIRS], input=json.dumps(asked), capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stdout, ended.stderr
    return json.loads(ended.stdout)


def test_both_verifiers_accept_each_other_s_hello_and_refuse_a_forged_one() -> None:
    seed = bytes(range(32))
    identity = Identity(seed)
    host = envelopes.manifest("hast \u00fc\U0001f600", ["checker"], FLAGS)
    ours = [envelopes.hello(identity, host), envelopes.hello(identity, host, "m" * 20)]
    forged = [{**ours[0], "nonce": "x" * 20}, {**ours[1], "peer_nonce": "x" * 20}, {**ours[0], "host": {**host, "host_id": "y"}}]
    seen = theirs(seed, [*ours, *forged], host)
    assert seen["peer_id"] == identity.peer_id
    assert [bool(complaint) for complaint in seen["accepted"]] == [False, False, True, True, True], seen["accepted"]
    assert envelopes.greeted(seen["hello"])["peer_id"] == identity.peer_id
    with pytest.raises(Untrusted, match="not the peer's"):
        envelopes.greeted({**seen["hello"], "nonce": "x" * 20})


def test_a_peer_id_is_its_key() -> None:
    identity = Identity.fresh()
    assert peer_id_of(key_of(identity.peer_id)) == identity.peer_id
    assert identity.peer_id.startswith("12D3KooW")
    for wrong in ("", "0", "1", identity.peer_id[:-1], identity.peer_id + "1", "z" * 52, "Qm" + identity.peer_id[2:], "1" * 500):
        with pytest.raises(Untrusted):
            key_of(wrong)


def test_a_signature_has_one_coding() -> None:
    identity = Identity.fresh()
    good = identity.sign({"a": 1})
    check_signature(identity.peer_id, {"a": 1}, good)
    check_signature(identity.peer_id, {"a": 1.0}, good)
    raw = base64.urlsafe_b64decode(good + "==")
    alike = [good[:-1] + letter for letter in LETTERS if letter != good[-1]]
    slack = next(text for text in alike if base64.urlsafe_b64decode(text + "==") == raw)
    for wrong in (slack, good + "=", "", None, 5, good[:-2], "!" * 86, Identity.fresh().sign({"a": 1}), identity.sign({"a": 2})):
        with pytest.raises(Untrusted):
            check_signature(identity.peer_id, {"a": 1}, wrong)


# -- who is let in, and what is taken of a session


def closed_at_once(url: str, identity: Identity, said: Any) -> None:
    with peer(url, identity) as caller:
        caller.wire.send(said if isinstance(said, str | bytes) else json.dumps(said))
        with pytest.raises(ConnectionClosed):
            caller.wire.recv(timeout=10)


def test_nobody_else_is_let_in(url: str) -> None:
    known, stranger = Identity.of_token(TOKEN), Identity.fresh()
    host = envelopes.manifest("t", ["checker"], [CORE])
    good = envelopes.hello(known, host)
    unnamed = envelopes.signed(known, {"protocol_version": 1, "peer_id": known.peer_id, "nonce": "n" * 20, "host": {}})
    wrong: list[Any] = [
        envelopes.hello(stranger, host),
        {**envelopes.hello(stranger, host), "peer_id": known.peer_id},
        {**good, "nonce": "x" * 20},
        {**good, "protocol_version": 2},
        {**good, "surprise": 1},
        envelopes.hello(known, host, "n" * 20),
        unnamed,
        [], None, 5, "{", b"\xff\xfe", "[" * 5000,
    ]  # fmt: skip
    for said in wrong:
        closed_at_once(url, known, said)
    with peer(url) as caller:
        caller.greet(good)
    closed_at_once(url, known, good)  # its nonce was used


def test_a_request_that_cannot_be_believed_has_no_effect(url: str) -> None:
    with peer(url) as caller:
        caller.greet()
        first = caller.request(0, op="control.principal", auth={"credential": TOKEN})
        other = envelopes.signed(Identity.fresh(), {name: first[name] for name in first if name not in envelopes.OUTSIDE})
        wrong = [
            {**first, "payload": {"x": 1}},
            {**first, "op": "control.provision"},
            {**first, "auth": {"credential": "x"}},
            {**first, "signature": first["signature"][::-1]},
            other,
            caller.request(0, session_id="other"),
            {**first, "surprise": 1},
        ]
        for request in wrong:
            assert caller.ask(request)["error"]["code"] == DENIED
        for sequence in (1, 7):
            assert caller.ask(caller.request(sequence))["error"]["code"] == BAD_SEQUENCE
        before = int(caller.ask(first)["payload"]["principal_id"].rpartition("-")[2])
        assert caller.ask(first)["error"]["code"] == BAD_SEQUENCE  # replayed
        again = caller.ask(caller.request(1, op="control.principal", auth={"credential": TOKEN}))
        assert int(again["payload"]["principal_id"].rpartition("-")[2]) == before + 2  # a principal, its credential


def test_a_control_needs_the_token_though_the_peer_is_known(url: str) -> None:
    with peer(url) as caller:
        caller.greet()
        for number, auth in enumerate(({}, {"credential": "x"}, {"credential": None}, {"credential": 5}, "x")):
            assert "error" in caller.ask(caller.request(number, op="control.provision", auth=auth))


def test_flags_are_those_of_the_session(shim: Connect, url: str) -> None:
    credential = control(shim, "provision", {})["root"]["credential"]
    refused = shim.send(Call("memory.exports.create", {}, credential, frozenset({CORE})))
    assert refused.code == CONTRACT.code(Code.FLAG_NOT_NEGOTIATED)
    assert shim.send(Call("memory.exports.create", {}, credential, FLAGS)).code == CONTRACT.code(Code.MALFORMED_REQUEST)
    with peer(url) as caller:
        assert caller.greet()["negotiated_capabilities"] == sorted([envelopes.CONNECT, CORE])


def test_calls_at_once_are_paired(shim: Connect) -> None:
    credential = control(shim, "provision", {})["root"]["credential"]
    calls = [
        Call("memory.describe", {}, who, flags) for who in (credential, "x", None, "") for flags in (FLAGS, frozenset({CORE}))
    ] * 5
    codes = [reply.code for reply in shim.send_all(calls) if not isinstance(reply, TargetFault)]
    assert codes == [None, None, *[DENIED] * 6] * 5


def test_what_has_no_canonical_form_cannot_travel(shim: Connect) -> None:
    with pytest.raises(CannotTravel) as stopped:
        shim.send(Call("memory.describe", {"extensions": {"x": {"y": "\ud800"}}}, "c", FLAGS))
    assert judge(stopped.value).verdict is Verdict.NOT_APPLICABLE
    assert hello(shim).name == "oracle"

"""No secret gets into a result, whatever a provider says with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.oracle import Oracle
from conformance.runner import Order, run
from conformance.secrets import Secrets, shown_target
from conformance.verdict import Verdict
from reports.writers import FORMATS
from tests.test_runner import RECALL


class Telltale:
    """Answers right, and in every error it says who called with what."""

    def __init__(self) -> None:
        self._oracle = Oracle()

    def call(self, credential: str | None, flags: Any, op: str, payload: Any) -> Any:
        answer = self._oracle.call(credential, flags, op, payload)
        if op == "memory.recall" and "payload" in answer:
            return {"payload": {"records": [], "said": f"{credential}, token-of-the-harness, header-of-mine"}}
        return answer

    def control(self, name: str, payload: Any) -> Any:
        answer = self._oracle.control(name, payload)
        SHOWN.extend(json.dumps(answer).split('"credential": "')[1:])
        return answer


SHOWN: list[str] = []


def test_what_a_provider_tells_of_its_callers_is_hidden_in_every_format(tmp_path: Path) -> None:
    file = tmp_path / "target.toml"
    file.write_text(
        'target = "python:tests.test_secrets:Telltale"\n'
        'token = "token-of-the-harness"\nheaders = { Cookie = "header-of-mine" }\n',
        "utf-8",
    )
    SHOWN.clear()
    result = run(Order(str(file), "smoke"), [RECALL])
    assert result.verdict is Verdict.FAIL
    credentials = {text.partition('"')[0] for text in SHOWN}
    assert credentials
    for name, render in FORMATS.items():
        text = render(result)
        for secret in (*credentials, "token-of-the-harness", "header-of-mine"):
            assert secret not in text, name
    assert "<harness token>" in json.dumps(result.to_json())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("oracle", "oracle"),
        ("python:a.b:token", "python:a.b:token"),
        ("http://me:word@h:1/x", "http://<hidden>@h:1/x"),
        ("https://h/x?key=1", "https://h/x?<hidden>"),
        ("stdio:serve --token abc --db x", "stdio:serve --token <hidden> --db x"),
        ("stdio:env API_KEY='a b' serve", "stdio:env API_KEY=<hidden> serve"),
        ("stdio:serve --password=x --who y", "stdio:serve --password=<hidden> --who y"),
    ],
)
def test_a_target_is_told_without_what_is_secret_in_it(text: str, shown: str) -> None:
    assert shown_target(text) == shown


def test_short_secrets_are_hidden_only_where_they_are_all_there_is() -> None:
    secrets = Secrets({"abc": "<a>", "secret-1": "<b>", "secret-12": "<c>"})
    assert secrets.value({"abc": ["abcd", "abc", "secret-12 secret-1", 5, None]}) == {"<a>": ["abcd", "<a>", "<c> <b>", 5, None]}
    assert secrets.text("Authorization: Bearer x.y.z") == "Authorization: Bearer <hidden>"
    assert Secrets().with_more({"": "x"}).text("plain") == "plain"


@pytest.mark.parametrize("secret", ["Schlüssel 1", 'a"quoted"one', "with\\back", 'it\'s "both"', "tab\tand \u202e"])
def test_a_secret_of_any_characters_is_hidden_as_json_and_python_write_it(secret: str) -> None:
    secrets = Secrets({secret: "<it>"}).with_more({"another": "<other>"})
    for form in (secret, json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret)):
        assert secrets.text(f"({form})").strip("()'\"") == "<it>"

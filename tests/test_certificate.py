"""A certificate is given to a whole run that passes, holds where it is verified, and for nothing else.

The profile ``full`` is replaced by a small one here: a real one takes minutes (``nox -s certify`` makes and verifies one).
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance import certificate
from conformance.certificate import PROFILE, reached_in_process, refusals
from conformance.cli import main
from conformance.collecting import collected
from conformance.envelope import BadEnvelope, key_id, opened, private_key, public_key, signed
from conformance.profiles import Profile
from conformance.recording import read_header
from conformance.requirements import CORE
from conformance.verdict import RunResult, Verdict
from conformance.wire.bundle import load
from tests.freeze import SUITE

SMALL = {PROFILE: Profile(PROFILE, 1, rows=1, checks=1), "quick": Profile("quick", 1, rows=1, checks=1)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a certificate of the oracle in a directory: oracle.json, its transcript, and key, key.pub."""
    place = tmp_path_factory.mktemp("certificate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.plugin.PROFILES", SMALL)
        checks = [check.check_id for check in collected()]
        patch.setattr("conformance.requirements.frozen", lambda: {SUITE: {CORE: checks}})
        patch.setattr("conformance.certificate.frozen", lambda: {SUITE: {CORE: checks}})
        patch.setattr("conformance.verification.frozen", lambda: {SUITE: {CORE: checks}})
        assert main(["keygen", str(place / "key")]) == 0
        arguments = ["run", "--profile", PROFILE, "-n", "0", "-q", "--report", f"json:{place}/result.json"]
        assert main([*arguments, "--certify", str(place / "oracle.json"), "--key", str(place / "key")]) == 0
        yield place


@pytest.fixture
def copy(place: Path, tmp_path: Path) -> Path:
    for file in place.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path


def verified(place: Path, *more: str) -> int:
    return main(["verify", str(place / "oracle.json"), "--key", str(place / "key.pub"), *more])


def statement_of(place: Path) -> dict[str, Any]:
    return opened(json.loads((place / "oracle.json").read_text("ascii")), public_key(place / "key.pub"))


def test_a_certificate_holds_and_says_on_what_it_stands(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(place) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"HOLDS  {place}/oracle.json"
    assert "judged again: 27 of 27 checks pass, 0 are not applicable" in said
    assert said[-2] == "oracle 0.1.0 conforms: core +cognition +reflection +transfer"


def test_the_statement_is_a_test_result_of_in_toto(place: Path) -> None:
    statement = statement_of(place)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    predicate = statement["predicate"]
    assert (predicate["result"], len(predicate["passedTests"]), predicate["failedTests"]) == ("PASSED", 27, [])
    for part in (*statement["subject"], *predicate["configuration"]):
        assert set(part) <= {"name", "digest", "annotations"}
        assert len(part["digest"]["sha256"]) == 64
    assert [part["name"] for part in predicate["configuration"]] == ["suite", "schema bundle", "kill matrix", "requirements"]


def test_the_envelope_is_signed_as_dsse_says(place: Path) -> None:
    envelope = json.loads((place / "oracle.json").read_text("ascii"))
    payload = base64.b64decode(envelope["payload"])
    kind = b"application/vnd.in-toto+json"
    encoded = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    key = public_key(place / "key.pub")
    key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), encoded)
    assert envelope["signatures"][0]["keyid"] == key_id(key)


Edit = Callable[[dict[str, Any]], None]


def setting(*path: Any, value: Any) -> Edit:
    def edit(statement: dict[str, Any]) -> None:
        for name in path[:-1]:
            statement = statement[name]
        statement[path[-1]] = value

    return edit


FACTS = ("predicate", "certificate", "facts")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            setting(*FACTS, "suite", value="0.0.9"),
            "the suite version is another one: 0.0.9 in the certificate, 0.1.0 here",
        ),
        (
            setting("predicate", "configuration", 0, "digest", "sha256", value="0" * 64),
            "the digest of the suite is another one",
        ),
        (setting("predicate", "configuration", 1, "digest", "sha256", value="0" * 64), "digest of the schema bundle"),
        (setting("predicate", "configuration", 2, "digest", "sha256", value=""), "kill matrix is another one: none in"),
        (setting("predicate", "configuration", 3, "digest", "sha256", value="0" * 64), "digest of the requirements"),
        (setting("subject", 0, "digest", "sha256", value="0" * 64), "digest of the recorded run is another one"),
        (setting(*FACTS, "seed", value=1), "the run that was recorded is another one"),
        (setting("predicate", "passedTests", value=["MEM-R001.x"]), "list of passedTests is another one"),
        (setting("predicate", "certificate", "format", value=0), "it is of format 0, and this suite reads 1"),
        (setting("predicate", "result", value="FAILED"), "it is no certificate of this suite"),
        (setting("predicateType", value="https://slsa.dev/x"), "a statement of another kind: https://slsa.dev/x"),
        (setting("predicate", "certificate", value={}), "it is no certificate of this suite"),
    ],
)
def test_a_certificate_that_says_something_else_is_refused_although_it_is_signed(
    edit: Edit, said: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = statement_of(copy)
    edit(statement)
    envelope = signed(statement, private_key(copy / "key"))
    (copy / "oracle.json").write_text(json.dumps(envelope), "ascii")
    assert verified(copy) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"REFUSED  {copy}/oracle.json: ")
    assert said in last


def test_an_edited_certificate_is_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = copy / "oracle.json"
    envelope = json.loads(file.read_text("ascii"))
    payload = base64.b64decode(envelope["payload"]).replace(b'"seed": 0', b'"seed": 1')
    for wrong, said in (
        (json.dumps({**envelope, "payload": base64.b64encode(payload).decode()}), "edited after it was signed"),
        (json.dumps({**envelope, "payload": "!"}), "base64"),
        (json.dumps({**envelope, "signatures": []}), "not signed by this key"),
        (json.dumps({**envelope, "payloadType": "text/plain"}), "of type 'text/plain'"),
        ("{}", "no DSSE envelope"),
        ("[", "not JSON"),
    ):
        file.write_text(wrong, "ascii")
        assert verified(copy) == 1
        assert said in capsys.readouterr().out


def test_another_key_does_not_verify_it(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", str(copy / "other")]) == 0
    assert main(["verify", str(copy / "oracle.json"), "--key", str(copy / "other.pub")]) == 1
    assert "it is not signed by this key" in capsys.readouterr().out


def test_an_edited_or_partial_recording_is_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the certificate was signed anew over it: the recorded run is judged again."""
    file = copy / "oracle.json.transcript.gz"
    whole, (_, sections) = file.read_bytes(), read_header(file)
    last = sections[-1]
    for wrong in (whole[: last.start], whole[: last.start] + bytes(last.size)):
        file.write_bytes(wrong)
        assert verified(copy) == 1
        assert "digest of the recorded run is another one" in capsys.readouterr().out
    statement = statement_of(copy)
    setting("subject", 0, "digest", "sha256", value=certificate.file_digest(file))(statement)
    (copy / "signed.json").write_text(json.dumps(signed(statement, private_key(copy / "key"))), "ascii")
    arguments = ["verify", str(copy / "signed.json"), "--key", str(copy / "key.pub"), "--transcript", str(file)]
    assert main(arguments) == 1
    assert "judged again, it does not hold: MEM-R027 is SUITE_ERROR" in capsys.readouterr().out


def result_of(place: Path) -> RunResult:
    return RunResult.of_json(json.loads((place / "result.json").read_text("ascii")))


def with_verdict(result: RunResult, verdict: Verdict) -> RunResult:
    rule = result.rules[3]
    checks = tuple(replace(check, verdict=verdict, reason="so") for check in rule.checks)
    return replace(result, rules=(*result.rules[:3], replace(rule, checks=checks), *result.rules[4:]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda result: result, ""),
        (lambda result: replace(result, complete=False), "the run is not whole"),
        (lambda result: replace(result, trouble=("a worker died",)), "the run is not whole: a worker died"),
        (lambda result: replace(result, facts=replace(result.facts, profile="quick")), "the profile is quick"),
        (lambda result: replace(result, facts=replace(result.facts, shard="1/2")), "only a part"),
        (lambda result: replace(result, complaints=("x",)), "there are waivers"),
        (lambda result: replace(result, facts=replace(result.facts, suite="9")), "no frozen requirements for suite 9"),
        (lambda result: with_verdict(result, Verdict.FAIL), "MEM-R004 is FAIL: so"),
        (lambda result: with_verdict(result, Verdict.INCONCLUSIVE), "MEM-R004 is INCONCLUSIVE: so"),
        (lambda result: with_verdict(result, Verdict.NOT_APPLICABLE), "is required, and it is NOT_APPLICABLE"),
        (lambda result: with_verdict(result, Verdict.DESELECTED), "only a part"),
        (lambda result: replace(result, rules=result.rules[1:]), "is required, and it was not run"),
    ],
)
def test_only_a_whole_unwaived_full_run_that_passes_is_certified(
    change: Callable[[RunResult], RunResult], said: str, place: Path
) -> None:
    sections = read_header(place / "oracle.json.transcript.gz")[1]
    found = list(refusals(change(result_of(place)), sections, load()))
    assert any(said in why for why in found) if said else found == []


def test_a_check_that_was_not_recorded_is_not_certified(place: Path) -> None:
    sections = read_header(place / "oracle.json.transcript.gz")[1]
    assert [why for why in refusals(result_of(place), sections[1:], load()) if "was not recorded" in why] != []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--profile", "quick"), "only a run of the profile full is certified"),
        (("--rules", "R001"), "leave out --rules"),
        (("--shard", "1/2"), "leave out --shard"),
        (("--waivers", "w"), "leave out --waivers"),
        (("--baseline", "b"), "leave out --baseline"),
        (("--artifact", "nowhere"), "there is no such file of the provider"),
        (("--key", "nowhere"), "nowhere: the key cannot be read"),
    ],
)
def test_what_can_never_be_certified_is_told_before_the_run(
    arguments: tuple[str, ...], said: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["run", "--profile", PROFILE, "--certify", str(place / "no"), "--key", str(place / "key"), *arguments]
    assert main(given) == 3
    output = capsys.readouterr()
    assert said in output.err
    assert output.out == ""
    assert main(["run", "--profile", PROFILE, "--certify", str(place / "no")]) == 3
    assert "--certify wants --key FILE" in capsys.readouterr().err


def test_a_provider_that_is_not_installed_gets_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop_of_mine.py").write_text("", "utf-8")
    (tmp_path / "target.toml").write_text('target = "python:shop_of_mine:make"\n', "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert reached_in_process("python:shop_of_mine:make") == "shop_of_mine"
    assert reached_in_process(str(tmp_path / "target.toml")) == "shop_of_mine"
    for fine in ("oracle", "python:httpx:make", "python:tests.providers:oracle", "stdio:x", "python:no.where:x"):
        assert reached_in_process(fine) == ""


def test_keys_are_made_once_and_only_ed25519_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "key"
    assert main(["keygen", str(file)]) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert main(["keygen", str(file)]) == 3
    assert "the key cannot be written: File exists" in capsys.readouterr().err
    assert private_key(file).public_key() == public_key(tmp_path / "key.pub")
    file.write_text("text", "utf-8")
    assert main(["verify", "x", "--key", str(file)]) == 3
    assert "no public key in PEM" in capsys.readouterr().err
    assert main(["keygen", str(tmp_path / "fresh")]) == 0
    envelope = signed([], private_key(tmp_path / "fresh"))  # type: ignore[arg-type]
    with pytest.raises(BadEnvelope, match="no JSON object"):
        opened(envelope, public_key(tmp_path / "fresh.pub"))

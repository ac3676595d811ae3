"""The HTTP transport over TLS: a private CA is named in the target file, and nothing else is trusted."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from conformance.catalogue import named
from conformance.cli import main
from conformance.errors import BadTarget, NoAnswer, TargetFault
from conformance.exchange import Call
from conformance.levers import hello
from conformance.runner import Order, run
from conformance.target import open_target
from conformance.transport.http import Http
from conformance.transport.started import Server, running
from conformance.verdict import Verdict
from conformance.wire import bundle
from tests import hostile_http
from tests.ports import free_port
from tests.served import ROOT

CONTRACT = bundle.load()
TOKEN = "a token of this test"
AUTHORITY = trustme.CA()


@dataclass(frozen=True)
class Ground:
    """Files of a CA and of a certificate that it gave to this machine, and where a server shows that certificate."""

    ca: Path
    base: str


@contextmanager
def served(directory: Path, certificate: trustme.LeafCert) -> Iterator[str]:
    """Serve the oracle with a certificate, and give the address."""
    chain, key, port = directory / "chain.pem", directory / "key.pem", free_port()
    certificate.private_key_pem.write_to_path(key)
    for link in certificate.cert_chain_pems:
        link.write_to_path(chain, append=True)
    command = (sys.executable, "-m", "tests.served_tls", str(port), str(chain), str(key), TOKEN)
    with running(Server(command, (), re.compile("running on"), cwd=ROOT)):
        yield f"https://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    directory = tmp_path_factory.mktemp("tls")
    ca = directory / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(ca)
    with served(directory, AUTHORITY.issue_cert("127.0.0.1")) as base:
        yield Ground(ca, base)


def target_file(directory: Path, base: str, *lines: str) -> str:
    file = directory / "target.toml"
    file.write_text("\n".join([f'target = "{base}"', f'token = "{TOKEN}"', "deadline = 20", *lines, ""]), "utf-8")
    return str(file)


def test_a_server_of_a_private_ca_is_judged(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "trusted.pem").write_bytes(ground.ca.read_bytes())
    result = run(Order(target_file(tmp_path, ground.base, 'ca = "trusted.pem"'), "smoke"), [named("R017"), named("R023")])
    assert result.trouble == ()
    assert {check.verdict for check in result.checks} == {Verdict.PASS}


def test_a_server_that_nobody_vouches_for_is_told_in_one_sentence(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in ("", f'ca = "{other_authority(tmp_path)}"'):
        file = target_file(tmp_path, ground.base, line)
        assert main(["run", file, "--profile", "smoke", "--rules", "R017", "-n", "0"]) == 3
        output = capsys.readouterr()
        assert output.out == ""
        assert re.fullmatch(r".*its certificate is not trusted \(.+\); a target file names a private CA by 'ca'\.\n", output.err)


def other_authority(directory: Path) -> Path:
    file = directory / "other.pem"
    trustme.CA().cert_pem.write_to_path(file)
    return file


@pytest.mark.parametrize(
    ("certificate", "why"),
    [
        (AUTHORITY.issue_cert("elsewhere.example", "127.0.0.2"), "IP address mismatch"),
        (AUTHORITY.issue_cert("127.0.0.1", not_after=datetime(2020, 1, 1, tzinfo=UTC)), "certificate has expired"),
    ],
    ids=["of another address", "expired"],
)
def test_a_certificate_must_be_of_this_address_and_of_today(
    certificate: trustme.LeafCert, why: str, ground: Ground, tmp_path: Path
) -> None:
    with served(tmp_path, certificate) as base:
        shim = Http(base, deadline=20, ca=ground.ca)
        with pytest.raises(BadTarget, match=why):
            shim.send(Call("memory.describe", {}))
        shim.close()


def test_it_is_no_way_round_the_rest_of_the_contract(ground: Ground) -> None:
    """Token, deadline and bounds are those of plain HTTP: it is the same shim."""
    shim = Http(ground.base, deadline=20, token=TOKEN, ca=ground.ca)
    assert hello(shim).name == "oracle"
    shim.close()
    wrong = Http(ground.base, deadline=20, token="x", ca=ground.ca)
    with pytest.raises(TargetFault, match=r"control\.hello was refused"):
        hello(wrong)
    wrong.close()


@pytest.mark.parametrize(("deed", "kind"), [("never", NoAnswer), ("no_http", TargetFault), ("closes", TargetFault)])
def test_who_speaks_no_tls_is_at_fault(deed: str, kind: type[TargetFault]) -> None:
    with hostile_http.server(deed) as base:
        shim = Http(base.replace("http:", "https:"), deadline=1)
        with pytest.raises(kind, match=r"memory\.describe: "):
            shim.send(Call("memory.describe", {}))
        shim.close()


@pytest.mark.parametrize(
    ("base", "line", "said"),
    [
        ("https://h", 'ca = "nowhere.pem"', "'ca' must be a PEM file of certificates, and '.*nowhere.pem' is none: No such file"),
        ("https://h", 'ca = "target.toml"', "'ca' must be a PEM file of certificates, and '.*target.toml' is none"),
        ("https://h", 'ca = "."', "'ca' must be a PEM file"),
        ("https://h", "ca = 5", "'ca' must be a non-empty string"),
        ("http://h", 'ca = "ca.pem"', "'ca' is of a target https:, and this one is 'http://h'"),
    ],
)
def test_a_wrong_ca_is_told_in_one_sentence(base: str, line: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadTarget, match=rf"target\.toml: {said}.*\.$"):
        open_target(target_file(tmp_path, base, line), bundle=CONTRACT)

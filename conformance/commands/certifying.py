"""``run --certify``: what must be so before a run that is to be certified, and the certificate after it."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path

from conformance.certificate import PROFILE, NotCertified, reached_in_process, refusals, statement
from conformance.envelope import private_key, signed
from conformance.errors import BadUsage
from conformance.recording import read_header
from conformance.verdict import RunResult
from conformance.wire.bundle import load

_WHOLE = ("rules", "check", "shard", "waivers", "baseline")
TRANSCRIPT = ".transcript.gz"


@dataclass(frozen=True, slots=True)
class Certifying:
    """Where the certificate goes, with what it is signed, and the files of the provider that it is about."""

    path: Path
    key: Path
    artifacts: tuple[Path, ...]
    schemas: str | None

    @property
    def transcript(self) -> Path:
        """Where the recorded run goes, unless another file was named."""
        return self.path.with_name(self.path.name + TRANSCRIPT)


def certifying(options: Namespace) -> Certifying | None:
    """Return what is to be certified, None where nothing is. Raises ``BadInput`` for what can never be."""
    if options.certify is None:
        return None
    _certifiable(options)
    private_key(Path(options.key))
    artifacts = tuple(map(Path, options.artifact))
    for file in artifacts:
        if not file.is_file():
            raise BadUsage(f"{file}: there is no such file of the provider.")
    return Certifying(Path(options.certify), Path(options.key), artifacts, options.schemas)


def _certifiable(options: Namespace) -> None:
    if options.key is None:
        raise BadUsage("--certify wants --key FILE, a private key (memory-conformance keygen FILE makes one).")
    if options.profile != PROFILE:
        raise BadUsage(f"only a run of the profile {PROFILE} is certified: add --profile {PROFILE}.")
    for name in _WHOLE:
        if getattr(options, name):
            raise BadUsage(f"only a whole, unwaived run is certified: leave out --{name}.")
    if module := reached_in_process(options.target):
        raise BadUsage(
            f"{module} is not installed, and a provider inside of this process is certified only where it is: "
            f"install it, or give it a process of its own, as stdio:memory-conformance serve python:… --stdio."
        )


def certify(asked: Certifying, transcript: Path, result: RunResult) -> None:
    """Write the certificate of a run. Raises ``NotCertified`` with the first reason where it cannot be certified."""
    bundle = load(asked.schemas)
    header, sections = read_header(transcript)
    why = list(refusals(result, sections, bundle))
    if why:
        more = f" (and {len(why) - 1} reasons more)" if len(why) > 1 else ""
        raise NotCertified(f"no certificate: {why[0]}{more}.")
    envelope = signed(statement(result, header, transcript, bundle, asked.artifacts), private_key(asked.key))
    try:
        asked.path.write_text(json.dumps(envelope, indent=1) + "\n", "ascii")
    except OSError as error:
        raise BadUsage(f"{asked.path}: the certificate cannot be written: {error.strerror}.") from error
    sys.stdout.write(f"certificate: {asked.path}, about the run in {transcript}\n")

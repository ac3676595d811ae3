"""The command ``memory-conformance``: a thin table of commands.

A command's options and its action are named, not imported: nothing heavy is loaded before it is known what is wanted.
"""

from __future__ import annotations

import pkgutil
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

from conformance.errors import BadInput, BadUsage
from conformance.install import check_install
from conformance.release import version

PROGRAM = "memory-conformance"
USAGE_ERROR = 3


@dataclass(frozen=True, slots=True)
class Command:
    """``options`` names a function that declares them on a parser, ``action`` one that takes them and returns the exit code."""

    summary: str
    options: str
    action: str


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "run": Command(
            "decide whether a target keeps the contract",
            "conformance.commands.run_options:add_options",
            "conformance.commands.run:main",
        ),
        "verify": Command(
            "see whether a certificate holds, offline",
            "conformance.commands.verify_options:add_options",
            "conformance.commands.verify:main",
        ),
        "keygen": Command(
            "make a pair of keys for certificates",
            "conformance.commands.keygen_options:add_options",
            "conformance.commands.keygen:main",
        ),
        "diff": Command(
            "tell what changed from one result to another",
            "conformance.commands.diff_options:add_options",
            "conformance.commands.diff:main",
        ),
        "merge": Command(
            "put the results of a run's shards together",
            "conformance.commands.merge_options:add_options",
            "conformance.commands.merge:main",
        ),
        "report": Command(
            "tell a result again from its file, in any format",
            "conformance.commands.report_options:add_options",
            "conformance.commands.report:main",
        ),
        "explain": Command(
            "tell what a rule says and what its checks look at",
            "conformance.commands.explain_options:add_options",
            "conformance.commands.explain:main",
        ),
        "fuzz": Command(
            "look for what a target does otherwise than the contract, for as long as it may take",
            "conformance.commands.fuzz_options:add_options",
            "conformance.commands.fuzz:main",
        ),
        "faults": Command(
            "list the seeded faulty providers, or prove that each is caught",
            "conformance.commands.faults_options:add_options",
            "conformance.commands.faults:main",
        ),
        "schemas": Command(
            "look at a schema bundle, or tell what a change of it really changes",
            "conformance.commands.schemas_options:add_options",
            "conformance.commands.schemas:main",
        ),
        "replay": Command(
            "send a counterexample again, to any target, and say whether it is repaired",
            "conformance.commands.replay_options:add_options",
            "conformance.commands.replay:main",
        ),
        "serve": Command(
            "let others reach the bundled provider, or one of Python, over stdio, HTTP or connect",
            "conformance.commands.serve_options:add_options",
            "conformance.commands.serve:main",
        ),
        "doctor": Command(
            "look at a target: what it says, answers, lacks",
            "conformance.commands.doctor_options:add_options",
            "conformance.commands.doctor:main",
        ),
        "call": Command(
            "send one operation and show the answer with its validation",
            "conformance.commands.call_options:add_options",
            "conformance.commands.call:main",
        ),
        "init": Command(
            "write a target file and a minimal provider to begin with",
            "conformance.commands.init_options:add_options",
            "conformance.commands.init:main",
        ),
        "completion": Command(
            "print what a shell needs to complete the command line",
            "conformance.commands.completion_options:add_options",
            "conformance.commands.completion:main",
        ),
    }
)


class Parser(ArgumentParser):
    """An argument parser whose complaint is ours to tell: exit code 2 means something else here."""

    def error(self, message: str) -> NoReturn:
        """Raise ``BadUsage``."""
        raise BadUsage(f"{message} (see {self.prog} --help).")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit code: that of the run, 3 for wrong usage."""
    try:
        check_install()
        return _chosen(list(sys.argv[1:] if arguments is None else arguments))
    except BadInput as error:
        sys.stderr.write(f"{PROGRAM}: {error}\n")
    except KeyboardInterrupt:
        sys.stderr.write(f"{PROGRAM}: interrupted.\n")
    return USAGE_ERROR


def _chosen(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        return _run(arguments[0], arguments[1:])
    parser = _general()
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return USAGE_ERROR
    raise BadUsage(f"there is no command {given.command!r}: the commands are {', '.join(COMMANDS)}.")


def _run(name: str, arguments: list[str]) -> int:
    command = COMMANDS[name]
    parser = Parser(prog=f"{PROGRAM} {name}", description=f"{command.summary[0].upper()}{command.summary[1:]}.")
    pkgutil.resolve_name(command.options)(parser)
    options = parser.parse_args(arguments)
    return int(pkgutil.resolve_name(command.action)(options))


def _general() -> Parser:
    listed = "\n".join(f"  {name:<12}{command.summary}" for name, command in COMMANDS.items())
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [OPTIONS]",
        description="Decides whether an agent-memory provider keeps the spoke-memory wire contract.",
        epilog=f"commands:\n{listed}\n\n{PROGRAM} COMMAND --help tells the options of a command.",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", help="one of the commands below")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {version()}")
    return parser


if __name__ == "__main__":
    sys.exit(main())

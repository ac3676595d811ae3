"""``memory-conformance completion``: what a shell needs to complete its command line.

The script asks this command for the candidates of the word that is being written, so that there is one list of all there is.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from conformance.catalogue import rules
from conformance.cli import COMMANDS, PROGRAM, Parser
from conformance.profiles import PROFILES
from reports.writers import FORMATS

_BASH = """\
_memory_conformance() {{
    local IFS=$'\\n'
    COMPREPLY=($({program} completion bash --words "${{COMP_WORDS[@]:1:$COMP_CWORD}}" 2>/dev/null))
    [[ ${{COMPREPLY[0]}} == *: ]] && compopt -o nospace
}}
complete -o default -o bashdefault -F _memory_conformance {program}
"""
_SCRIPTS: Mapping[str, str] = MappingProxyType(
    {
        "bash": _BASH,
        "zsh": "autoload -U +X bashcompinit && bashcompinit\n" + _BASH,
        "fish": "complete -c {program} -a '({program} completion fish --words (commandline -opc)[2..-1] (commandline -ct))'\n",
    }
)
_OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


def main(options: Namespace) -> int:
    """Print a shell's script, or the candidates of its last word."""
    if options.words is None:
        sys.stdout.write(_SCRIPTS[options.shell].format(program=PROGRAM))
    else:
        sys.stdout.writelines(f"{candidate}\n" for candidate in candidates(options.words))
    return 0


def candidates(words: Sequence[str]) -> Iterator[str]:
    """Give what the last of ``words``, after the program's name, may become; nothing where a file is the best guess."""
    *before, last = words or [""]
    if not before:
        found: Sequence[str] = [*COMMANDS, "--help", "--version"]
    elif before[-1] in _VALUES and before[0] in COMMANDS and not last.startswith("-"):
        found = _VALUES[before[-1]]()
    elif last.startswith("-"):
        found = _options(before[0])
    else:
        found = list(rules()) if before == ["explain"] else []
    yield from (candidate for candidate in found if candidate.startswith(last))


def _options(command: str) -> Sequence[str]:
    if command not in COMMANDS:
        return []
    parser = Parser(prog=PROGRAM, add_help=True)
    pkgutil.resolve_name(COMMANDS[command].options)(parser)
    listed = (line for line in parser.format_help().splitlines() if line.startswith("  -"))
    return sorted({option for line in listed for option in _OPTION.findall(line.partition("   ")[0])})


_VALUES: Mapping[str, Callable[[], Sequence[str]]] = MappingProxyType(
    {
        "--profile": lambda: list(PROFILES),
        "--rules": lambda: [rule.short for rule in rules().values()],
        "--report": lambda: [f"{name}:" for name in FORMATS],
        "completion": lambda: ["bash", "zsh", "fish"],
        "schemas": lambda: ["check", "diff"],
    }
)

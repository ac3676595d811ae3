"""What ``init`` writes: a target file with comments, and a minimal provider that speaks the harness contract over stdio.

The texts are templates with names between two ``@``: what the contract calls things is filled in from the bundle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code, Flag

TARGET_FILE = "target.toml"
_PLACE = re.compile("@([A-Z_]+)@")


@dataclass(frozen=True, slots=True)
class Language:
    """``file`` is the name of the provider's file, ``command`` what runs it in its directory."""

    file: str
    command: str


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "python": Language("provider.py", "python3 provider.py"),
        "javascript": Language("provider.mjs", "node provider.mjs"),
    }
)


def skeleton(language: Language, bundle: Bundle) -> Mapping[str, str]:
    """Return the files that are written: name -> text."""
    words = _words(language, bundle)
    return {name: _filled(name, words) for name in (TARGET_FILE, language.file)}


def _filled(name: str, words: Mapping[str, str]) -> str:
    text = resources.files(__package__).joinpath("templates", f"{name}.template").read_text("utf-8")
    return _PLACE.sub(lambda found: words[found[1]], text)


def _words(language: Language, bundle: Bundle) -> Mapping[str, str]:
    operations = {name: bundle.flag(row.flag) for name, row in bundle.operations.items()}
    return {
        "COMMAND": language.command,
        "OPERATIONS": json.dumps(operations, indent=4),
        **{flag.name: bundle.flag(flag) for flag in Flag},
        **{code.name: bundle.answered(code).code for code in Code},
    }

"""Whether a durable model takes a step of its ``schema_version``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.gate.forms import Form
from conformance.gate.kinship import ENVELOPE
from conformance.gate.meeting import accepts, member

VERSION = ENVELOPE[0]
_VERSIONS = range(1, 100)


def stepped(old: Form, new: Form, old_document: Mapping[str, Any], new_document: Mapping[str, Any]) -> bool:
    """Say whether the new model is of a later version.

    It is where it accepts a version that the old one does not, or no longer accepts the old one's first; or, where the schema
    leaves the number open, where its examples are of a later version than all of the old one's.
    """
    before, after = _accepted(old), _accepted(new)
    by_schema = bool(before and after) and (max(after) > max(before) or min(after) > min(before))
    return by_schema or _shown(new_document) > _shown(old_document) > 0


def _accepted(form: Form) -> list[int]:
    version = member(form, VERSION)
    return [number for number in _VERSIONS if accepts(version, number)]


def _shown(document: Mapping[str, Any]) -> int:
    numbers = [one.get(VERSION) for one in document.get("examples", ()) if isinstance(one, Mapping)]
    return max((number for number in numbers if isinstance(number, int)), default=0)

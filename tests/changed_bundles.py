"""Bundles that differ from the packaged one by an edit, in a directory of their own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from conformance.wire import bundle as wire

PACKAGED = Path(wire.__file__).parent
Edit = Callable[[Any], object]


def changed_bundle(directory: Path, edits: Mapping[str, Edit]) -> Path:
    """Copy the packaged bundle and edit files of it, named as in the bundle (``data/memory-candidate``, ``errors``)."""
    shutil.copytree(PACKAGED / "schemas", directory / "schemas")
    for table in ("operations", "errors"):
        shutil.copy(PACKAGED / f"{table}.json", directory)
    for name, edit in edits.items():
        path = directory / "schemas" / f"{name}.schema.json" if "/" in name else directory / f"{name}.json"
        document = json.loads(path.read_text("utf-8"))
        edit(document)
        path.write_text(json.dumps(document, indent=2), "utf-8")
    return directory


def member(name: str, schema: Any, *, required: bool = False) -> Edit:
    """Give an object a member more."""

    def edit(document: Any) -> None:
        document["properties"][name] = {"description": "A member that is new.", **schema}
        document["required"] = [*document.get("required", []), *([name] if required else [])]

    return edit


def together(*edits: Edit) -> Edit:
    """Make one edit of several."""

    def edit(document: Any) -> None:
        for one in edits:
            one(document)

    return edit

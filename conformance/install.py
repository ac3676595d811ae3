"""The four packages have names that others may use too: see that they are ours (architecture.md, Top level)."""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path

from conformance.errors import BadInstall

PACKAGES = ("conformance", "invariants", "strategies", "reports")
_HOME = Path(__file__).resolve().parent.parent


def check_install() -> None:
    """Raise ``BadInstall`` where one of the packages that would be imported is not the one beside this one."""
    for name in PACKAGES:
        ours = _HOME / name
        found = _found(name)
        if found != ours:
            seen = "nothing" if found is None else found
            raise BadInstall(
                f"the package {name!r} that would be imported is not ours: expected {ours}, found {seen}; "
                "install memory-conformance into an environment of its own (pipx, uv tool)."
            )


def _found(name: str) -> Path | None:
    spec = PathFinder.find_spec(name)
    locations = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(locations))).resolve() if locations else None

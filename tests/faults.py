"""The seeded faulty providers: one fault each, the rule that must catch it named.

``FAULTS`` gathers them from ``tests/seeded``, a module for each rule. As targets they are ``python:tests.faults:<fault name>``:
the module answers each fault's name with its factory.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from tests.seeded.fault import Fault, Provider


def _gathered() -> tuple[Fault, ...]:
    parts = sorted(path.stem for path in (Path(__file__).parent / "seeded").glob("r0*.py"))
    return tuple(fault for part in parts for fault in importlib.import_module(f"tests.seeded.{part}").FAULTS)


FAULTS: tuple[Fault, ...] = _gathered()
BY_NAME: Mapping[str, Fault] = MappingProxyType({fault.name: fault for fault in FAULTS})


def __getattr__(name: str) -> Callable[[], Provider]:
    if name in BY_NAME:
        return BY_NAME[name].make
    raise AttributeError(f"no seeded fault is named {name!r}")

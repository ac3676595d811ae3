"""What hypothesis draws from besides its seed, made the same in every process of a run.

Hypothesis draws, now and then, a constant that it found in the source of modules that are imported and not installed. In a
checkout those are our own: another number of workers, another selection of rules, another transport or the command instead of
pytest would import others, and the same seed would send other requests. So every process imports all of them before the first
draw. An installed suite is left alone by hypothesis. The provider under test is the same in all processes anyway.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

PACKAGES = ("conformance", "strategies", "reports")
LEFT_OUT = ("conformance.serving", "conformance.commands.serve")
"""What no run of checks needs: they need packages of an extra, or are the program itself."""


def settle() -> None:
    """Import every module of ours that some process of a run may import, where hypothesis would read them (a checkout)."""
    if not is_installed():
        for name in modules():
            importlib.import_module(name)


def is_installed() -> bool:
    """Say whether we are an installed distribution, whose sources hypothesis leaves alone."""
    return "/site-packages/" in __file__


def modules() -> Iterator[str]:
    """Give the names of these modules, in the same order in every process."""
    for package in PACKAGES:
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.startswith(LEFT_OUT) and not module.name.endswith(".__main__"):
                yield module.name

"""A target in this process: ``python:package.module:factory`` (harness.md, Target strings).

What the factory returns may be a provider (``call`` and ``control``), a MemoryPort (33 methods), or an adapter whose
``as_memory()`` returns a MemoryPort or None.
"""

from __future__ import annotations

import pkgutil
from typing import Any

from conformance.errors import BadTarget, NotOffered, blame
from conformance.transport.in_process import InProcess
from conformance.transport.ported import Ported
from conformance.transport.route import Route
from conformance.transport.shim import Shim


def open_object(route: Route) -> Shim:
    """Make the object that ``route`` names and return a shim over it. Raises ``BadTarget`` and ``NotOffered``."""
    return InProcess(provider_at(route), deadline=route.deadline)


def provider_at(route: Route) -> Any:
    """Make the object that ``route`` names and return it as a ``Provider``. Raises ``BadTarget`` and ``NotOffered``."""
    name = route.rest
    return _provider(_called(_factory(name), name), name, route)


def _provider(made: Any, name: str, route: Route) -> Any:
    if callable(getattr(made, "call", None)):
        # The suite's own providers learn what is spoken where that is another bundle than they came with.
        if callable(getattr(made, "use_bundle", None)):
            made.use_bundle(route.bundle)
        return made
    if callable(getattr(made, "as_memory", None)):
        made = _called(made.as_memory, f"{name}, as_memory()")
        if made is None:
            raise NotOffered(f"{name} offers no memory family: its as_memory() returned None")
    methods = [row.method for row in route.bundle.operations.values()]
    lacking = [method for method in methods if not callable(getattr(made, method, None))]
    if lacking:
        raise BadTarget(
            f"target python:{name}: the factory returned {type(made).__name__}, which has neither 'call' nor 'as_memory' "
            f"nor the {len(methods)} methods of a MemoryPort (it lacks {', '.join(lacking[:3])}{', …' if lacking[3:] else ''})."
        )
    return Ported(made, route)


def _factory(name: str) -> Any:
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise BadTarget(f"target python:{name}: write it as python:package.module:factory.")
    try:
        factory = pkgutil.resolve_name(name)
    except Exception as error:
        raise BadTarget(f"target python:{name}: it cannot be loaded: {blame(error)}.") from error
    if not callable(factory):
        raise BadTarget(f"target python:{name}: {attribute} is {type(factory).__name__}, which cannot be called.")
    return factory


def _called(factory: Any, name: str) -> Any:
    try:
        return factory()
    except Exception as error:
        raise BadTarget(f"target python:{name}: the factory raised {blame(error)}.") from error

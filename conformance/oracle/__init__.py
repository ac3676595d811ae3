"""The bundled provider: the executable reading of protocol.md, to be read beside it.

- ``state`` what a provider holds; ``turn`` what a step is given; ``steps`` the table of operations and the interpreter.
- One module a family: ``spaces``, ``subjects``, ``grants`` (with ``issuance``), ``candidates``, ``reviews``, ``records``,
  ``recall``, ``profiles``, ``receipts``, ``reflections``, ``exports``, ``imports`` (with ``activation``).
- One module a common matter: ``authority``, ``selection``, ``filters``, ``contents``, ``fences``, ``revisions``, ``cursors``,
  ``pages``, ``jobs`` (what is pending).
- ``policy``: the separable policies. ``choices``: what the contract leaves open, as values.
- ``provider``: the one place that holds a state, behind the dispatcher; ``controls``, ``clock``, ``store`` serve it.

Functions call each other through their modules, and each sentence of the contract is a function of its own: so one sentence can
be broken at a time to see which check notices.
"""

from __future__ import annotations

from conformance.oracle.choices import Choices, Limits
from conformance.oracle.clock import Clock
from conformance.oracle.provider import Oracle

__all__ = ["Choices", "Clock", "Limits", "Oracle"]

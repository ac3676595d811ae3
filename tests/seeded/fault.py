"""What a seeded fault is: the oracle with one behaviour replaced (rules.md, Seeded faults).

A fault is named for what it does wrong. Its provider is the bundled oracle in which, for the time of each call alone, one or
a few functions or table entries are replaced; so the right oracle can run beside it in the same process. Plain usage of a faulty
provider works: only what the sentence says is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from conformance.oracle import Oracle
from conformance.wire.bundle import Bundle

Wrapper = Callable[[Any], Any]
Answer = Mapping[str, Any]


class Provider(Protocol):
    """What a fault makes: a sync in-process provider (harness.md)."""

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer: ...

    def control(self, name: str, payload: Any) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Fault:
    """``name`` is unique and an identifier (``r014_key_without_principal``), ``rule`` must catch it.

    ``source`` says where it is from: ``rules.md``, a field bug (``F05``) or ``ours``. ``make`` starts a fresh provider.
    """

    name: str
    rule: str
    sentence: str
    make: Callable[[], Provider]
    source: str = "rules.md"


@dataclass(frozen=True, slots=True)
class Patch:
    """Replace ``name`` of ``place`` (an attribute of a module or class, or a key of a table) by ``wrap(original)``."""

    place: Any
    name: str
    wrap: Wrapper

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Put the replacement in place for the time of the block."""
        original = self._get()
        self._put(self.wrap(original))
        try:
            yield
        finally:
            self._put(original)

    def _get(self) -> Any:
        return self.place[self.name] if isinstance(self.place, Mapping) else getattr(self.place, self.name)

    def _put(self, value: Any) -> None:
        if isinstance(self.place, MutableMapping):
            self.place[self.name] = value
        else:
            setattr(self.place, self.name, value)


class Patched:
    """The oracle with patches applied during each call and control."""

    def __init__(self, patches: Sequence[Patch], **oracle: Any) -> None:
        self._patches = patches
        self.oracle = Oracle(**oracle)

    def call(self, credential: str | None, flags: Sequence[str], op: str, payload: Any) -> Answer:
        with self._applied():
            return self.oracle.call(credential, flags, op, payload)

    def control(self, name: str, payload: Any) -> Answer:
        with self._applied():
            return self.oracle.control(name, payload)

    def use_bundle(self, bundle: Bundle) -> None:
        self.oracle.use_bundle(bundle)

    @contextmanager
    def _applied(self) -> Iterator[None]:
        with ExitStack() as stack:
            for patch in self._patches:
                stack.enter_context(patch.applied())
            yield


def patched(*patches: Patch, **oracle: Any) -> Callable[[], Provider]:
    """Return a factory of the oracle with ``patches``; ``oracle`` are arguments of ``Oracle``."""
    return lambda: Patched(patches, **oracle)


def always(value: Any) -> Wrapper:
    """Return a wrapper whose function ignores its arguments and returns ``value``."""
    return lambda _original: lambda *_args, **_kwargs: value

"""A persistent map whose values may rest as text until they are looked at.

A restart reads back everything that was written; reading each value only when it is first asked for makes the cost of a restart
that of what was changed before it and is used after it, however much else the provider holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from immutables import Map

Value = TypeVar("Value")


class Sealed(Generic[Value]):
    """A value as text; ``open`` reads it once. What it gives is the same each time, so sharing it changes nothing."""

    __slots__ = ("_opened", "_read", "text")

    def __init__(self, text: str, read: Callable[[str], Value]) -> None:
        self.text = text
        self._read = read
        self._opened: Value | None = None

    def open(self) -> Value:
        """Give the value."""
        if self._opened is None:
            self._opened = self._read(self.text)
        return self._opened


class Shelf(Mapping[str, Value]):
    """Values by name; ``set`` gives another shelf and leaves this one as it is."""

    __slots__ = ("_held",)

    def __init__(self, held: Map[str, Any] | None = None) -> None:
        self._held: Map[str, Any] = Map() if held is None else held

    @classmethod
    def sealed(cls, texts: Mapping[str, str], read: Callable[[str], Value]) -> Shelf[Value]:
        """Make a shelf of values that are read when they are first asked for."""
        return cls(Map({name: Sealed(text, read) for name, text in texts.items()}))

    def texts(self, write: Callable[[Value], str]) -> dict[str, str]:
        """Give every value as text; what rests as text is not read for it."""
        return {name: value.text if isinstance(value, Sealed) else write(value) for name, value in self._held.items()}

    def set(self, name: str, value: Value) -> Shelf[Value]:
        """Give a shelf with another value under ``name``."""
        return Shelf(self._held.set(name, value))

    def __getitem__(self, name: str) -> Value:
        value = self._held[name]
        found: Value = value.open() if isinstance(value, Sealed) else value
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

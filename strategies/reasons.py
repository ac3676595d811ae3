"""Why a schema, or a part of it, is not built."""

from __future__ import annotations


class CannotBuild(Exception):
    """No strategy can be made: the place in the schema, the keyword, and why."""

    def __init__(self, where: str, keyword: str, why: str) -> None:
        super().__init__(f"{where}: {keyword}: {why}")
        self.where, self.keyword, self.why = where, keyword, why


class Impossible(CannotBuild):
    """No value is valid there. Inside an alternative this only ends the alternative."""


class TooDeep(Impossible):
    """A value would have to go on for longer than recursion is followed."""


class Unbuilt(CannotBuild):
    """Values may exist, and the compiler does not know how to build them."""

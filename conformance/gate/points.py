"""One thing that is wrong with a bundle."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """``kind`` is the convention, ``where`` a file and a pointer in it, ``what`` is wrong there in words."""

    kind: str
    where: str
    what: str

    def to_json(self) -> dict[str, str]:
        """Return the point as a JSON object."""
        return {"kind": self.kind, "where": self.where, "what": self.what}

"""A state and a request that are only imagined: what would be, were one reason of a refusal put right (``repairs``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from conformance.machine.model import Asked
from conformance.oracle.state import Space, State
from conformance.oracle.turn import Env

NOWHERE = "\0imagined"
"""The name of whatever is imagined: no provider and no request has it."""


class Imagined(NamedTuple):
    """A state, a request and a provider's surroundings that are only imagined."""

    state: State
    asked: Asked
    env: Env

    @property
    def space(self) -> Space:
        """The space that the request names; an empty one where there is none."""
        space_id = self.asked.request.get("space_id", "")
        return self.state.spaces.get(space_id) or Space(space_id)

    def having(self, **members: Any) -> Imagined:
        """Give this with other members of the space."""
        return self._replace(state=self.state.having(self.space.having(**members), self.state.number))

    def asking(self, **members: Any) -> Imagined:
        """Give this with other members of the request."""
        return self._replace(asked=replace(self.asked, request={**self.asked.request, **members}))

    def facts(self, **members: Any) -> Imagined:
        """Give this with other space-level facts."""
        return self.having(facts={**self.space.facts, **members})

"""The boundary that the reference page describes, in Python: one typed method an operation, the principal explicit.

A ``MemoryPort`` knows nothing of credentials, flags or request schemas: the bundled dispatcher (``conformance.dispatch``) has
checked these before a method runs. A method returns the success members of the operation's response, or raises
``MemoryRejected``; it may be sync or async (harness.md, MemoryPort).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

Request = Mapping[str, Any]
Answer = Mapping[str, Any] | Awaitable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller, made by admission and never read from a payload (protocol.md section 3)."""

    principal_id: str
    kind: str | None = None


@dataclass(eq=False)
class MemoryRejected(Exception):
    """A refusal: the wire ``code`` of errors.json, a ``message`` for a person, and open ``details``."""

    code: str
    message: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class MemoryPort(Protocol):
    """The 33 operations (protocol.md section 4), named without ``memory.`` and with dots as underscores."""

    def describe(self, principal: Principal, request: Request) -> Answer:
        """Say what is served: version, flags, limits, required profile kinds."""
        ...

    def spaces_list(self, principal: Principal, request: Request) -> Answer:
        """List the spaces where the caller has an effective grant."""
        ...

    def spaces_freeze(self, principal: Principal, request: Request) -> Answer:
        """Freeze a space for maintenance or a move."""
        ...

    def spaces_unfreeze(self, principal: Principal, request: Request) -> Answer:
        """Open a frozen space again."""
        ...

    def subjects_ensure(self, principal: Principal, request: Request) -> Answer:
        """Get or create a subject."""
        ...

    def subjects_get(self, principal: Principal, request: Request) -> Answer:
        """Read one subject."""
        ...

    def subjects_fence(self, principal: Principal, request: Request) -> Answer:
        """Fence, unfence or archive a subject; fence or unfence a context."""
        ...

    def grants_list(self, principal: Principal, request: Request) -> Answer:
        """List the caller's own grants, or all of a space."""
        ...

    def grants_grant(self, principal: Principal, request: Request) -> Answer:
        """Issue a grant within the issuer's own coverage."""
        ...

    def grants_revoke(self, principal: Principal, request: Request) -> Answer:
        """Revoke a grant for ever."""
        ...

    def capture(self, principal: Principal, request: Request) -> Answer:
        """Capture material as a pending candidate."""
        ...

    def candidates_list(self, principal: Principal, request: Request) -> Answer:
        """List candidates of a selection."""
        ...

    def candidates_get(self, principal: Principal, request: Request) -> Answer:
        """Read one candidate."""
        ...

    def candidates_dismiss(self, principal: Principal, request: Request) -> Answer:
        """Consume a candidate without a decision."""
        ...

    def candidates_review(self, principal: Principal, request: Request) -> Answer:
        """Promote, fragment or discard a candidate."""
        ...

    def records_create(self, principal: Principal, request: Request) -> Answer:
        """Write a record directly."""
        ...

    def records_get(self, principal: Principal, request: Request) -> Answer:
        """Read one record."""
        ...

    def records_update(self, principal: Principal, request: Request) -> Answer:
        """Change a record's content or kind."""
        ...

    def records_delete(self, principal: Principal, request: Request) -> Answer:
        """Remove a record's content and leave a tombstone."""
        ...

    def records_list(self, principal: Principal, request: Request) -> Answer:
        """List the records of a selection."""
        ...

    def records_promote(self, principal: Principal, request: Request) -> Answer:
        """Move a record to another placement of its subject."""
        ...

    def recall(self, principal: Principal, request: Request) -> Answer:
        """Read ranked records within a budget."""
        ...

    def profile_get(self, principal: Principal, request: Request) -> Answer:
        """Read an author's profile documents."""
        ...

    def profile_update(self, principal: Principal, request: Request) -> Answer:
        """Create or update a profile document."""
        ...

    def receipts_get(self, principal: Principal, request: Request) -> Answer:
        """Read a receipt."""
        ...

    def reflections_state(self, principal: Principal, request: Request) -> Answer:
        """Tell the digest, staleness and sufficiency of a basis."""
        ...

    def reflections_list(self, principal: Principal, request: Request) -> Answer:
        """List reflections, newest first."""
        ...

    def reflections_generate(self, principal: Principal, request: Request) -> Answer:
        """Generate a reflection on a pinned basis."""
        ...

    def exports_create(self, principal: Principal, request: Request) -> Answer:
        """Make a chunked logical export."""
        ...

    def exports_get(self, principal: Principal, request: Request) -> Answer:
        """Fetch one chunk of an export."""
        ...

    def imports_stage(self, principal: Principal, request: Request) -> Answer:
        """Stage one chunk; verify at the final one."""
        ...

    def imports_activate(self, principal: Principal, request: Request) -> Answer:
        """Make a staged import visible at once."""
        ...

    def imports_discard(self, principal: Principal, request: Request) -> Answer:
        """Drop a staged import."""
        ...

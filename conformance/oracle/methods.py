"""The oracle's 33 methods: each a ``MemoryPort`` method that takes the step of its operation (harness.md, MemoryPort)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from conformance.port import Principal, Request

Members = Mapping[str, Any]


class OraclePort(ABC):
    """Maps each method to its operation; ``run`` takes the step."""

    @abstractmethod
    def run(self, op: str, principal: Principal, request: Request) -> Members:
        """Take one step; return the success members or raise ``MemoryRejected``."""

    def describe(self, principal: Principal, request: Request) -> Members:
        """``memory.describe``."""
        return self.run("memory.describe", principal, request)

    def spaces_list(self, principal: Principal, request: Request) -> Members:
        """``memory.spaces.list``."""
        return self.run("memory.spaces.list", principal, request)

    def spaces_freeze(self, principal: Principal, request: Request) -> Members:
        """``memory.spaces.freeze``."""
        return self.run("memory.spaces.freeze", principal, request)

    def spaces_unfreeze(self, principal: Principal, request: Request) -> Members:
        """``memory.spaces.unfreeze``."""
        return self.run("memory.spaces.unfreeze", principal, request)

    def subjects_ensure(self, principal: Principal, request: Request) -> Members:
        """``memory.subjects.ensure``."""
        return self.run("memory.subjects.ensure", principal, request)

    def subjects_get(self, principal: Principal, request: Request) -> Members:
        """``memory.subjects.get``."""
        return self.run("memory.subjects.get", principal, request)

    def subjects_fence(self, principal: Principal, request: Request) -> Members:
        """``memory.subjects.fence``."""
        return self.run("memory.subjects.fence", principal, request)

    def grants_list(self, principal: Principal, request: Request) -> Members:
        """``memory.grants.list``."""
        return self.run("memory.grants.list", principal, request)

    def grants_grant(self, principal: Principal, request: Request) -> Members:
        """``memory.grants.grant``."""
        return self.run("memory.grants.grant", principal, request)

    def grants_revoke(self, principal: Principal, request: Request) -> Members:
        """``memory.grants.revoke``."""
        return self.run("memory.grants.revoke", principal, request)

    def capture(self, principal: Principal, request: Request) -> Members:
        """``memory.capture``."""
        return self.run("memory.capture", principal, request)

    def candidates_list(self, principal: Principal, request: Request) -> Members:
        """``memory.candidates.list``."""
        return self.run("memory.candidates.list", principal, request)

    def candidates_get(self, principal: Principal, request: Request) -> Members:
        """``memory.candidates.get``."""
        return self.run("memory.candidates.get", principal, request)

    def candidates_dismiss(self, principal: Principal, request: Request) -> Members:
        """``memory.candidates.dismiss``."""
        return self.run("memory.candidates.dismiss", principal, request)

    def candidates_review(self, principal: Principal, request: Request) -> Members:
        """``memory.candidates.review``."""
        return self.run("memory.candidates.review", principal, request)

    def records_create(self, principal: Principal, request: Request) -> Members:
        """``memory.records.create``."""
        return self.run("memory.records.create", principal, request)

    def records_get(self, principal: Principal, request: Request) -> Members:
        """``memory.records.get``."""
        return self.run("memory.records.get", principal, request)

    def records_update(self, principal: Principal, request: Request) -> Members:
        """``memory.records.update``."""
        return self.run("memory.records.update", principal, request)

    def records_delete(self, principal: Principal, request: Request) -> Members:
        """``memory.records.delete``."""
        return self.run("memory.records.delete", principal, request)

    def records_list(self, principal: Principal, request: Request) -> Members:
        """``memory.records.list``."""
        return self.run("memory.records.list", principal, request)

    def records_promote(self, principal: Principal, request: Request) -> Members:
        """``memory.records.promote``."""
        return self.run("memory.records.promote", principal, request)

    def recall(self, principal: Principal, request: Request) -> Members:
        """``memory.recall``."""
        return self.run("memory.recall", principal, request)

    def profile_get(self, principal: Principal, request: Request) -> Members:
        """``memory.profile.get``."""
        return self.run("memory.profile.get", principal, request)

    def profile_update(self, principal: Principal, request: Request) -> Members:
        """``memory.profile.update``."""
        return self.run("memory.profile.update", principal, request)

    def receipts_get(self, principal: Principal, request: Request) -> Members:
        """``memory.receipts.get``."""
        return self.run("memory.receipts.get", principal, request)

    def reflections_state(self, principal: Principal, request: Request) -> Members:
        """``memory.reflections.state``."""
        return self.run("memory.reflections.state", principal, request)

    def reflections_list(self, principal: Principal, request: Request) -> Members:
        """``memory.reflections.list``."""
        return self.run("memory.reflections.list", principal, request)

    def reflections_generate(self, principal: Principal, request: Request) -> Members:
        """``memory.reflections.generate``."""
        return self.run("memory.reflections.generate", principal, request)

    def exports_create(self, principal: Principal, request: Request) -> Members:
        """``memory.exports.create``."""
        return self.run("memory.exports.create", principal, request)

    def exports_get(self, principal: Principal, request: Request) -> Members:
        """``memory.exports.get``."""
        return self.run("memory.exports.get", principal, request)

    def imports_stage(self, principal: Principal, request: Request) -> Members:
        """``memory.imports.stage``."""
        return self.run("memory.imports.stage", principal, request)

    def imports_activate(self, principal: Principal, request: Request) -> Members:
        """``memory.imports.activate``."""
        return self.run("memory.imports.activate", principal, request)

    def imports_discard(self, principal: Principal, request: Request) -> Members:
        """``memory.imports.discard``."""
        return self.run("memory.imports.discard", principal, request)

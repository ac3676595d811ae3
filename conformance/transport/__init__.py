"""Shims: how a call reaches a provider (harness.md). One protocol, one table from scheme to shim."""

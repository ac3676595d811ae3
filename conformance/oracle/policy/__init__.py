"""The separable policies: pure functions over documents that a provider may have otherwise (architecture.md)."""

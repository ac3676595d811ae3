"""The commands of ``memory-conformance``: for each its options, which are cheap to import, and what it does."""

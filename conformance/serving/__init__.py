"""A provider of this process, served to others: over stdio and over HTTP, with all levers of the test bench (harness.md)."""

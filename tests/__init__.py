"""The suite's own tests, and the seeded faulty providers that prove the rule modules."""

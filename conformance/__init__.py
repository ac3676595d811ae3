"""memory-conformance: does a provider keep the spoke-memory wire contract?"""

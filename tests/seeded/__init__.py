"""The seeded faults, a module for each rule; ``tests.faults`` lists them all."""

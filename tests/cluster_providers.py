"""Targets of the shards of a campaign, ``python:tests.cluster_providers:shard_{shard}``: each tells which process it is in."""

from __future__ import annotations

import os
from pathlib import Path

from conformance.oracle import Oracle
from conformance.transport.in_process import Provider
from tests.faults import BY_NAME

PLACE = "CLUSTER_TEST_PLACE"


def shard_0() -> Provider:
    """Make a right provider."""
    return _told(0, Oracle())


def shard_1() -> Provider:
    """Make a wrong one."""
    return _told(1, BY_NAME["r016_adds_two"].make())


def _told(shard: int, provider: Provider) -> Provider:
    Path(os.environ[PLACE], str(shard)).write_text(str(os.getpid()), "ascii")
    return provider

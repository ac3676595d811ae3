"""On whose account a look at the stack goes."""

from __future__ import annotations

import time

from tests.benchmarks.sampling import ENGINE, GENERATOR, OTHER, PROVIDER, SUITE, account, sampled

ENGINE_FRAME = ("/x/hypothesis/internal/conjecture/engine.py", "test_function")
DRAW = ("/x/hypothesis/internal/conjecture/data.py", "draw")
PLUGIN = ("/r/conformance/plugin.py", "pytest_pyfunc_call")
CHECK = ("/r/invariants/test_mem_r001_x.py", "test_x")
CLIENT = ("/r/conformance/client.py", "send")
ORACLE = ("/r/conformance/oracle/steps.py", "step")
VALIDATION = ("/r/conformance/wire/validation.py", "accepts")


def test_the_innermost_decides_and_a_provider_wins() -> None:
    outside = [ENGINE_FRAME, PLUGIN]
    assert account([VALIDATION, ORACLE, CLIENT, CHECK, *outside]) == PROVIDER
    assert account([VALIDATION, CLIENT, CHECK, *outside]) == SUITE
    assert account(outside) == ENGINE
    assert account([DRAW, *outside]) == GENERATOR
    assert account([("/x/hypothesis/y.py", "f"), DRAW, CHECK, *outside]) == GENERATOR
    assert account([("/r/strategies/content.py", "contents"), *outside]) == GENERATOR
    assert account([PLUGIN]) == OTHER
    assert account([("<frozen importlib._bootstrap>", "_load"), CLIENT]) == OTHER


def test_time_that_is_spent_is_looked_at() -> None:
    with sampled() as looks:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass
    assert looks.shares()[OTHER] == 1.0
    assert sum(looks.counts.values()) > 5

"""The project's own checks: ``nox -l`` lists them, ``nox`` runs the quick ones."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["types", "style", "tests-3.11"]

PYTHONS = ["3.11", "3.12", "3.13"]
COMMAND = "memory-conformance"
PACKAGES = ("conformance", "invariants", "strategies", "reports", "tests")
WORKERS = "2"


def _present(python: str) -> bool:
    return shutil.which(f"python{python}") is not None or sys.version.startswith(f"{python}.")


@nox.session(python=[python for python in PYTHONS if _present(python)])
def tests(session: nox.Session) -> None:
    """Run the suite's own tests."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "pytest", "-n", WORKERS, *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Check the types, those of tests and of this file included."""
    session.install("-e", ".[dev]")
    session.run("mypy")
    session.run("mypy", "noxfile.py")


@nox.session
def style(session: nox.Session) -> None:
    """Check the style and the form of the code."""
    session.install("ruff>=0.17,<0.18")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def wheel(session: nox.Session) -> None:
    """Install the wheel into a fresh environment, and run the command there, outside of the repository."""
    made = Path(session.create_tmp()) / "wheels"
    shutil.rmtree(made, ignore_errors=True)
    session.run("python", "-m", "pip", "wheel", ".", "--no-deps", "--wheel-dir", str(made))
    session.install(*map(str, made.glob("*.whl")))
    with session.chdir(session.create_tmp()):
        session.run(COMMAND, "--version")
        session.run(COMMAND, "run", "--profile", "smoke", "-n", WORKERS)


@nox.session
def selftest(session: nox.Session) -> None:
    """Judge the bundled oracle by the quick profile, and measure what the suite's own tests cover."""
    session.install("-e", ".[dev]")
    session.run(COMMAND, "run", "--profile", "quick", "-n", WORKERS)
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report")


@nox.session
def durability(session: nox.Session) -> None:
    """Let the bundled durable provider crash 200 times with calls in flight."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.crashes", *(session.posargs or ["200"]))


@nox.session
def matrix(session: nox.Session) -> None:
    """Meet every seeded fault with its own rule, and every permitted variant, alone and all together, with every rule."""
    session.install("-e", ".[dev]")
    arguments = session.posargs or ["--kill-matrix", "--freedom", "--json", "kill-matrix.json"]
    session.run(COMMAND, "faults", "-n", WORKERS, *arguments)


@nox.session
def lengths(session: nox.Session) -> None:
    """Reduce a failure of each seeded fault, and print how many calls are left (``--every 10`` takes a sample)."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.benchmarks.bench_counterexamples", *(session.posargs or ["--workers", WORKERS]))


@nox.session
def seeds(session: nox.Session) -> None:
    """Judge the right oracle by quick under 20 seeds (or as many as named): no rule may fail it under any."""
    session.install("-e", ".[dev]")
    for seed in range(int(session.posargs[0]) if session.posargs else 20):
        session.run(COMMAND, "run", "--profile", "quick", "-n", WORKERS, "--seed", str(seed))


@nox.session
def repeat(session: nox.Session) -> None:
    """Run quick with 0, 1 and 2 workers, backwards and rule by rule: the results have to be the same, byte by byte."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.repeating", *(session.posargs or ["--profile", "quick", "--modules"]))


@nox.session
def parallel(session: nox.Session) -> None:
    """Measure quick with one and with two workers (on an idle machine)."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.benchmarks.parallel", *session.posargs)


@nox.session
def beside(session: nox.Session) -> None:
    """Look for 40 seeded faults over HTTP with quick, with fuzz and with schemathesis (some 80 minutes)."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.benchmarks.beside", *session.posargs)


@nox.session
def growth(session: nox.Session) -> None:
    """Measure checks in spaces that hold 10, 1,000 and 100,000 records."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.benchmarks.growth", *session.posargs)


@nox.session
def memory(session: nox.Session) -> None:
    """Fuzz for 20 minutes (or as many as named): what it holds must not grow."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.benchmarks.fuzz_memory", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure; each benchmark prints its table and says what it wants."""
    session.install("-e", ".[dev]")
    for module in sorted(Path("tests/benchmarks").glob("bench_*.py")):
        session.run("python", "-m", f"tests.benchmarks.{module.stem}", *session.posargs)


@nox.session
def freeze(session: nox.Session) -> None:
    """Freeze what certificates stand on: run the kill matrix, write it and the required checks into ``invariants``."""
    session.install("-e", ".[dev]")
    matrix = Path(session.create_tmp()) / "matrix.json"
    session.run(COMMAND, "faults", "--kill-matrix", "-n", WORKERS, "--json", str(matrix))
    session.run("python", "-m", "tests.freeze", str(matrix))


@nox.session
def certify(session: nox.Session) -> None:
    """Certify the oracle by a full run, and verify the certificate (many minutes)."""
    session.install("-e", ".[dev]")
    place = Path(session.create_tmp())
    for name in ("key", "key.pub", "oracle.json"):
        (place / name).unlink(missing_ok=True)
    key, certificate = str(place / "key"), str(place / "oracle.json")
    session.run(COMMAND, "keygen", key)
    session.run(COMMAND, "run", "--profile", "full", "-n", WORKERS, "--certify", certificate, "--key", key)
    session.run(COMMAND, "verify", certificate, "--key", f"{key}.pub", "-n", WORKERS)


@nox.session
def schema_diff(session: nox.Session) -> None:
    """Measure the schema gate beside jsonsubschema, which gets an environment of its own: its bounds are not ours."""
    session.install("-e", ".[dev]")
    other = Path(session.create_tmp()) / "differ"
    session.run("python", "-m", "venv", str(other))
    session.run(str(other / "bin" / "python"), "-m", "pip", "install", "--quiet", "jsonsubschema==0.0.8", external=True)
    table = session.posargs or ["--table", "tests/benchmarks/gate.md"]
    session.run("python", "-m", "tests.benchmarks.bench_schema_diff", "--differ", str(other / "bin" / "python"), *table)


@nox.session
def machine(session: nox.Session) -> None:
    """Let the machine walk over right providers, and table when it finds each seeded fault alone (up to an hour)."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "tests.benchmarks.bench_machine")
    session.run("python", "-m", "tests.machine_table", "-n", WORKERS, "--variants", "60")
    table = ["--table", "tests/benchmarks/machine_faults.md"]
    session.run("python", "-m", "tests.machine_table", "-n", WORKERS, *(session.posargs or table))

"""Who may import whom (architecture.md): the table, no cycles, no imports inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LONGEST_MODULE = 400
PACKAGES = ("conformance", "invariants", "strategies", "reports")

WIRE = frozenset({"conformance.wire", "conformance.errors"})
GROUND = WIRE | {"conformance.exchange"}
PORT = GROUND | {"conformance.port", "conformance.dispatch"}
# what a check is written with
CALLERS = frozenset(
    f"conformance.{name}" for name in ("expect", "client", "caller", "paging", "levers", "snapshot", "world", "bench", "edge")
)
# what several rule modules set up or compare alike
SCENES = frozenset(
    f"conformance.{name}"
    for name in (
        "scenes",
        "moving",
        "sealing",
        "likeness",
        "backstage",
        "onlooker",
        "transcript",
        "cargo",
        "crowds",
        "reflecting",
        "crashing",
        "races",
        "racing",
        "linearizability",
    )
)
MACHINE = frozenset({"conformance.machine"})

# The longest prefix of a module's name decides what it may import of ours, besides modules of that same prefix.
MAY_IMPORT: Mapping[str, frozenset[str]] = {
    "conformance.wire": WIRE,
    "conformance.errors": frozenset(),
    "conformance.exchange": frozenset(),
    "conformance.counterexample": frozenset(),
    "conformance.verdict": frozenset({"conformance.exchange", "conformance.counterexample"}),
    "conformance.port": frozenset(),
    "conformance.dispatch": PORT,
    "conformance.oracle": PORT,
    "conformance.connect": GROUND,
    "conformance.transport": PORT | {"conformance.connect"},
    **{name: GROUND | CALLERS | {"conformance.transport.shim"} for name in CALLERS},
    **dict.fromkeys(SCENES, GROUND | CALLERS | SCENES),
    "conformance.machine": GROUND | CALLERS | {"conformance.oracle", "strategies"},
    "strategies": frozenset({"conformance.wire"}),
    "invariants": GROUND | CALLERS | SCENES | MACHINE | {"strategies"},
    "reports": frozenset({"conformance.verdict", "conformance.exchange", "conformance.counterexample"}),
    # what tells what a change of the contract changes: by the strategies, for the bundle and for the suite
    "conformance.gate": frozenset({"conformance", "strategies"}),
    # what composes: everything but each other's commands
    "conformance": frozenset({"conformance", "reports"}),
}


@cache
def _trees() -> Mapping[str, ast.Module]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {_name(path): ast.parse(path.read_text("utf-8")) for path in paths}


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(module: str) -> Iterator[str]:
    """Walk the modules of ours that ``module`` imports: ``from package import module`` counts as the module."""
    known = _trees()
    for node in ast.walk(known[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in PACKAGES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module.partition(".")[0] in PACKAGES:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ([name for name in inner if name in known] or [node.module])


def _within(name: str, prefixes: frozenset[str]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def _layer(module: str) -> str:
    return max((prefix for prefix in MAY_IMPORT if _within(module, frozenset({prefix}))), key=len)


def test_a_module_imports_only_what_its_layer_may() -> None:
    wrong = [
        f"{module} imports {name}"
        for module in _trees()
        for name in _imported(module)
        if not _within(name, MAY_IMPORT[_layer(module)] | {_layer(module)})
    ]
    assert wrong == []


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = {module: set(_imported(module)) - {module} for module in _trees()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a cycle: {' -> '.join(error.args[1])}")
    assert set(_trees()) <= set(order)


def test_the_contract_knows_nobody_and_is_known_to_the_rules() -> None:
    """The table is not vacuous: it sees the edges that it must see."""
    assert "conformance.wire.vocabulary" in set(_imported("conformance.scenes"))
    assert not any(_within(name, frozenset({"conformance.oracle"})) for name in _imported("conformance.bench"))
    assert _layer("conformance.transport.in_process") == "conformance.transport"
    assert _layer("conformance.commands.run") == "conformance"


def test_nothing_is_imported_inside_a_function() -> None:
    late = [
        f"{module}:{inner.lineno}"
        for module, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert late == []


def test_annotations_are_postponed_everywhere() -> None:
    assert [module for module, tree in _trees().items() if not _postponed(tree)] == []


def _postponed(tree: ast.Module) -> bool:
    body = [node for node in tree.body if not isinstance(node, ast.Expr)]
    return not body or (isinstance(body[0], ast.ImportFrom) and body[0].module == "__future__")


def test_no_module_grows_beyond_reading() -> None:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in paths}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}

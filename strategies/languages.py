"""Patterns as languages: whether a text that some patterns take can be refused by another, and which is the shortest.

A pattern becomes a graph of states, a search goes through several graphs at once, character by character, and characters that no
pattern tells apart are one. So the answer is exact; what cannot be read, or would grow too large, is ``Undecided``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from strategies.patterns import Node, Ranges, Repeat, Run, UnreadPattern, read
from strategies.patterns import Sequence as Series

_TOP = 0x10FFFF
_ANY: Ranges = ((0, 0xD7FF), (0xE000, _TOP))
_STATES = 4000
_VISITS = 40_000
_PLAIN = "a0A-_. bz9"
"""Characters to show a class of them by, where one of them is in it."""


_Add = Callable[[int], int]


class Undecided(Exception):
    """It cannot be told: a pattern is not read, or the search grows too large."""


@dataclass(slots=True)
class _Graph:
    """States by number; ``steps`` are (characters, next state), ``free`` the states that are reached without a character."""

    steps: list[list[tuple[Ranges, int]]] = field(default_factory=list)
    free: list[list[int]] = field(default_factory=list)
    final: int = 0

    def state(self) -> int:
        if len(self.steps) > _STATES:
            raise Undecided("a pattern has too many states")
        self.steps.append([])
        self.free.append([])
        return len(self.steps) - 1

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        seen = set(states)
        todo = list(seen)
        while todo:
            for following in self.free[todo.pop()]:
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        return frozenset(seen)

    def after(self, states: frozenset[int], code: int) -> frozenset[int]:
        taken = (to for state in states for ranges, to in self.steps[state] if any(a <= code <= b for a, b in ranges))
        return self.closure(taken)


@lru_cache(maxsize=256)
def _graph(pattern: str) -> _Graph:
    """Build the graph of all texts in which the pattern is found. State 0 begins."""
    body, first, last = _anchors(pattern)
    try:
        node = read(pattern)
    except UnreadPattern as error:
        raise Undecided(f"{pattern!r} is not read: {error}") from error
    if (first or last) and "|" in _outside(body):
        raise Undecided(f"{pattern!r}: its anchors belong to single alternatives")
    graph = _Graph()
    begin = graph.state()
    if not first:
        graph.steps[begin].append((_ANY, begin))
    graph.final = _added(graph, node, begin)
    if not last:
        graph.steps[graph.final].append((_ANY, graph.final))
    return graph


def _anchors(pattern: str) -> tuple[str, bool, bool]:
    first = pattern.startswith("^")
    body = pattern[first:]
    last = body.endswith("$") and (len(body) - len(body[:-1].rstrip("\\"))) % 2 == 1
    body = body[:-1] if last else body
    if any(sign in _plain(body) for sign in "^$"):
        raise Undecided(f"{pattern!r}: there are anchors inside")
    return body, first, last


def _plain(body: str) -> str:
    """Leave out escapes and classes."""
    kept, at, inside = [], 0, False
    while at < len(body):
        char = body[at]
        at += 2 if char == "\\" else 1
        inside = char != "]" if inside else char == "["
        if char != "\\" and not inside:
            kept.append(char)
    return "".join(kept)


def _outside(body: str) -> str:
    """Leave out groups too."""
    kept, depth = [], 0
    for char in _plain(body):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if not depth:
            kept.append(char)
    return "".join(kept)


def _added(graph: _Graph, node: Node, begin: int) -> int:
    """Add what a node matches after ``begin`` and return the state that it ends in."""
    if isinstance(node, Run):
        return _repeated(graph, lambda at: _character(graph, node.ranges, at), begin, node.least, node.most)
    if isinstance(node, Repeat):
        return _repeated(graph, lambda at: _added(graph, node.part, at), begin, node.least, node.most)
    if isinstance(node, Series):
        for part in node.parts:
            begin = _added(graph, part, begin)
        return begin
    end = graph.state()
    for option in node.options:
        graph.free[_added(graph, option, _moved(graph, begin))].append(end)
    return end


def _moved(graph: _Graph, begin: int) -> int:
    """Begin anew, so that what loops inside does not loop around."""
    state = graph.state()
    graph.free[begin].append(state)
    return state


def _character(graph: _Graph, ranges: Ranges, begin: int) -> int:
    end = graph.state()
    graph.steps[begin].append((ranges, end))
    return end


def _repeated(graph: _Graph, add: _Add, begin: int, least: int, most: int | None) -> int:
    for _ in range(least):
        begin = add(begin)
    if most is None:
        loop = _moved(graph, begin)
        graph.free[add(loop)].append(loop)
        return loop
    ends = [begin]
    for _ in range(most - least):
        ends.append(add(_moved(graph, ends[-1])))
    end = graph.state()
    for state in ends:
        graph.free[state].append(end)
    return end


def escaping(taken: Sequence[str], refusing: str | None, least: int = 0, most: int | None = None) -> str | None:
    """Give a shortest text of ``least`` to ``most`` characters that all of ``taken`` find and ``refusing`` does not.

    Without ``refusing`` any such text will do. None: there is none. Raises ``Undecided``.
    """
    return _escaping(tuple(taken), refusing, least, most)


@lru_cache(maxsize=1024)
def _escaping(taken: tuple[str, ...], refusing: str | None, least: int, most: int | None) -> str | None:
    graphs = [_graph(pattern) for pattern in (*taken, *([] if refusing is None else [refusing]))]
    wanted = [True] * len(taken) + [False] * (refusing is not None)
    start = tuple(graph.closure([0]) for graph in graphs)
    counted = least if most is None else most + 1
    seen = {(start, 0)}
    todo: deque[tuple[tuple[frozenset[int], ...], str]] = deque([(start, "")])
    letters = list(_letters(graphs))
    while todo:
        states, text = todo.popleft()
        if len(text) >= least and all((graph.final in at) is due for graph, at, due in zip(graphs, states, wanted, strict=True)):
            return text
        if most is not None and len(text) >= most:
            continue
        for letter in letters:
            following = tuple(graph.after(at, ord(letter)) for graph, at in zip(graphs, states, strict=True))
            alive = all(at or not due for at, due in zip(following, wanted, strict=True))
            key = (following, min(len(text) + 1, counted))
            if alive and key not in seen:
                seen.add(key)
                todo.append((following, text + letter))
        if len(seen) > _VISITS:
            raise Undecided("the patterns are too large to be compared")
    return None


def _letters(graphs: Sequence[_Graph]) -> Iterator[str]:
    """Give one character for each class of characters that the graphs do not tell apart, plain ones first."""
    ranges = {one for graph in graphs for steps in graph.steps for pairs, _ in steps for one in pairs} | set(_ANY)
    cuts = sorted({first for first, _ in ranges} | {last + 1 for _, last in ranges})
    told: dict[frozenset[tuple[int, int]], str] = {}
    for code in (*map(ord, _PLAIN), *(cut for cut in cuts if cut <= _TOP and not 0xD800 <= cut <= 0xDFFF)):
        within = frozenset(one for one in ranges if one[0] <= code <= one[1])
        told.setdefault(within, chr(code))
    yield from told.values()

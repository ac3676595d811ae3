"""Strings of a case: free ones, ones of a pattern, ones of a format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from conformance.wire.formats import compiled
from strategies.admission import admits
from strategies.cases import Case, contradicts_itself
from strategies.formats import FORMATS
from strategies.languages import Undecided, escaping
from strategies.patterns import Alternatives, Node, Ranges, Repeat, Run, UnreadPattern, invert, lengths, read, runs
from strategies.patterns import Sequence as Series
from strategies.pieces import Piece, choice, drawn, even, one_of_values, sizes, switch
from strategies.reasons import CannotBuild, Impossible, Unbuilt
from strategies.schema_source import SchemaSource

_LONG = 64
_SPELLED = 12
_ALPHABET_LIMIT = 3000
_PLAIN = str.maketrans("0a", "a0")
_PROBES = ("", "a", "0", "A", " ", "-", "aa", "a0", "a" * 9, "0" * 9, "ä", "\n", "a b", "_", "~", ".", "Zz9!")


def strings(source: SchemaSource, case: Case) -> Piece:
    """Draw a string of the case. Raises ``Impossible`` or ``Unbuilt``."""
    if case.max_length is not None and case.min_length > case.max_length:
        raise Impossible(case.where, "minLength", f"no length lies from {case.min_length} to {case.max_length}")
    _refuse_contradictions(case)
    if any(name in FORMATS for name in case.formats):
        return _formatted(source, case)
    if case.patterns:
        return _patterned(source, case)
    piece = free_text(case.min_length, case.max_length)
    return _sorted_out(source, case, piece) if case.excluded or case.unpatterns or case.unformats else piece


def _refuse_contradictions(case: Case) -> None:
    """Raise ``Impossible`` where each text that the case wants is one that it forbids."""
    if contradicts_itself(case):
        raise Impossible(case.where, "not", "what is demanded is forbidden as well")
    for forbidden in case.unpatterns:
        with suppress(Undecided):
            if escaping(case.patterns, forbidden, case.min_length, case.max_length) is None:
                raise Impossible(case.where, "not", f"each text that may be here matches {forbidden!r}")


def free_text(least: int, most: int | None) -> Piece:
    """Draw any text of a length; the plainest one is made of ``a``. No unpaired surrogates.

    Hypothesis holds ``0`` for the simplest character, so it changes places with ``a``. What has to be long is filled up.
    """
    if most == 0:
        return one_of_values([""])
    drawn_least = min(least, _LONG)
    alphabet = st.characters(exclude_categories=["Cs"])
    top = most if most is None or most <= 10_000 else 10_000

    def filled(text: str) -> str:
        return plain_text(text).ljust(least, "a")

    return Piece(st.text(alphabet, min_size=drawn_least, max_size=top), filled if least > drawn_least else plain_text)


def plain_text(text: str) -> str:
    """Let ``0`` and ``a`` change places."""
    return text.translate(_PLAIN)


def _sorted_out(source: SchemaSource, case: Case, piece: Piece) -> Piece:
    """Leave out what the case forbids. This filters, so it is kept for ``not``."""
    if not any(admits(source, case, text.ljust(case.min_length, "a")) for text in _PROBES):
        raise Unbuilt(case.where, "not", "no string was found that the excluded patterns leave")
    return Piece(piece.alone().filter(lambda text: admits(source, case, text)))


def _formatted(source: SchemaSource, case: Case) -> Piece:
    for name in case.formats:
        if name not in FORMATS:
            continue
        fitting = [admits(source, case, sample) for sample in FORMATS[name].samples]
        if all(fitting) and not (case.excluded or case.unpatterns or case.unformats):
            return FORMATS[name].piece
        if any(fitting):
            return Piece(FORMATS[name].piece.alone().filter(lambda text: admits(source, case, text)))
    raise Unbuilt(case.where, "format", f"no {' and '.join(case.formats)} was found that meets the other keywords")


def _patterned(source: SchemaSource, case: Case) -> Piece:
    pattern = max(case.patterns, key=len)
    try:
        node = read(pattern)
    except UnreadPattern:
        piece, exact = _searched(pattern, case), False
    else:
        piece, exact = pattern_piece(node, case.min_length, case.max_length, case.where)
    if exact and len(case.patterns) == 1 and not (case.excluded or case.unpatterns or case.unformats):
        return piece
    return Piece(piece.alone().filter(lambda text: admits(source, case, text)))


def _searched(pattern: str, case: Case) -> Piece:
    try:
        return Piece(st.from_regex(compiled(pattern)))
    except re.error as error:
        raise CannotBuild(case.where, "pattern", f"{pattern!r} is not understood: {error}") from error


def pattern_piece(node: Node, least: int, most: int | None, where: str) -> tuple[Piece, bool]:
    """Draw a text that a pattern matches from end to end, and say whether its length is sure to fit. Raises ``Impossible``."""
    shortest, longest = lengths(node)
    if (most is not None and shortest > most) or (longest is not None and longest < least):
        raise Impossible(where, "pattern", f"no match has a length from {least} to {'any' if most is None else most}")
    series = runs(node)
    if series is not None:
        return _series(_fitted(series, least, most)), True
    fits = shortest >= least and (most is None or (longest is not None and longest <= most))
    return _tree(node), fits


def _fitted(series: Sequence[Run], least: int, most: int | None) -> list[Run]:
    """Move the bounds of the runs so that every match has a length within the bounds."""
    missing = least - sum(run.least for run in series)
    result = []
    for run in series:
        more = max(0, missing if run.most is None else min(missing, run.most - run.least))
        missing -= more
        result.append(Run(run.ranges, run.least + more, run.most))
    slack = None if most is None else most - sum(run.least for run in result)
    return [_capped(run, slack, sum(other.most != other.least for other in result)) for run in result]


def _capped(run: Run, slack: int | None, sharing: int) -> Run:
    if slack is None or run.most == run.least:
        return run
    top = run.least + slack // sharing
    return Run(run.ranges, run.least, top if run.most is None else min(run.most, top))


def alphabet_of(ranges: Ranges) -> str | SearchStrategy[str]:
    """Give the characters of a run: as a text where they are few, else as a strategy."""
    if sum(last - first + 1 for first, last in ranges) <= _ALPHABET_LIMIT:
        return "".join(sorted({chr(code) for first, last in ranges for code in range(first, last + 1)}))
    absent = invert(ranges)
    if sum(last - first + 1 for first, last in absent) <= _ALPHABET_LIMIT:
        gone = "".join(chr(code) for first, last in absent for code in range(first, last + 1))
        return st.characters(exclude_categories=["Cs"], exclude_characters=gone)
    first, last = max(ranges, key=lambda pair: pair[1] - pair[0])
    return st.characters(min_codepoint=first, max_codepoint=last, exclude_categories=["Cs"])


def _series(series: Sequence[Run]) -> Piece:
    pieces = list(_headed(series))
    if len(pieces) == 1:
        return pieces[0]
    moving = [piece for piece in pieces if piece.strategy is not None]
    finishes = [piece.finish for piece in moving]
    fixed: list[str | None] = [None if piece.strategy is not None else piece.constant for piece in pieces]
    if not moving:
        return one_of_values(["".join(text or "" for text in fixed)])

    def spell(draw: DrawFn, parts: Sequence[SearchStrategy[str]]) -> str:
        values = iter([draw(part) if end is None else end(draw(part)) for part, end in zip(parts, finishes, strict=True)])
        return "".join(next(values) if text is None else text for text in fixed)

    return drawn(f"series {series!r}", spell, [piece.strategy for piece in moving if piece.strategy is not None], len(moving))


def _headed(series: Sequence[Run]) -> Iterable[Piece]:
    """Give a piece for each run, one for two where a single character stands before more of a larger set."""
    index = 0
    while index < len(series):
        run, following = series[index], series[index + 1] if index + 1 < len(series) else None
        if following is not None and run.least == run.most == 1 and _within(run, following):
            yield _word(run, following)
            index += 2
        else:
            yield _run(run)
            index += 1


def _within(run: Run, other: Run) -> bool:
    small, large = alphabet_of(run.ranges), alphabet_of(other.ranges)
    return isinstance(small, str) and isinstance(large, str) and len(small) > 1 and set(small) <= set(large)


def _word(head: Run, tail: Run) -> Piece:
    """Draw the head and the tail as one text of the tail's alphabet; a first character that is no head is changed into one."""
    first, rest = str(alphabet_of(head.ranges)), str(alphabet_of(tail.ranges))
    moved = {char: char if char in first else first[place % len(first)] for place, char in enumerate(_in_order(rest))}
    text = st.text(rest, min_size=tail.least + 1, max_size=None if tail.most is None else tail.most + 1)
    return Piece(text, lambda word: moved[word[0]] + word[1:])


def _in_order(alphabet: str) -> list[str]:
    return sorted(alphabet, key=lambda char: (char != "0", not char.isdigit(), char))


def _run(run: Run) -> Piece:
    alphabet = alphabet_of(run.ranges)
    if alphabet == "" and run.least:
        raise Impossible("", "pattern", "a class without characters matches nothing")
    if alphabet == "" or run.most == 0:
        return one_of_values([""])
    if isinstance(alphabet, str) and run.least == run.most and (len(alphabet) == 1 or run.least >= _SPELLED):
        return _spelled(alphabet, run.least)
    return Piece(st.text(alphabet, min_size=run.least, max_size=run.most))


def _spelled(alphabet: str, count: int) -> Piece:
    """Draw a text of many characters as one number, which is faster: its digits are the characters."""
    base = len(alphabet)
    if base == 1:
        return one_of_values([alphabet * count])
    number = even(base**count)

    def spell(drawn_number: int) -> str:
        digits, rest = [], drawn_number - number.base
        for _ in range(count):
            rest, digit = divmod(rest, base)
            digits.append(alphabet[digit])
        return "".join(reversed(digits))

    return Piece(number.strategy, spell)


def _tree(node: Node) -> Piece:
    """Draw a pattern with alternatives or repeated groups."""
    if isinstance(node, Run):
        return _run(node)
    if isinstance(node, Series):
        return _joined([_tree(part) for part in node.parts], repr(node))
    if isinstance(node, Alternatives):
        return choice(f"alternatives {node!r}", [_tree(option) for option in node.options])
    return _repeated(node)


def _joined(pieces: Sequence[Piece], label: str) -> Piece:
    if all(piece.strategy is None for piece in pieces):
        return one_of_values(["".join(piece.constant for piece in pieces)])

    def join(draw: DrawFn, parts: Sequence[SearchStrategy[str]]) -> str:
        values = (draw(part) if end is None else end(draw(part)) for part, end in zip(parts, finishes, strict=True))
        return "".join(values)

    finishes: list[Callable[[Any], Any] | None] = [piece.finish for piece in pieces]
    return drawn(f"joined {label}", join, [piece.part for piece in pieces], len(pieces))


def _repeated(node: Repeat) -> Piece:
    inner, label = _tree(node.part), f"repeated {node!r}"
    table = sizes(node.least, node.most)
    length = switch(label, len(table))

    def repeat(draw: DrawFn, parts: Sequence[SearchStrategy[Any]]) -> str:
        count, finish = table[draw(parts[0]) - length.base], inner.finish
        values = [draw(parts[1]) for _ in range(count)]
        return "".join(values if finish is None else map(finish, values))

    return drawn(label, repeat, [length.strategy, inner.part])

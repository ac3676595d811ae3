"""What one plain form demands beyond another, keyword by keyword.

``demands(given, judge)`` lists every rule of ``judge`` that an instance of ``given`` might break. No demand means that ``judge``
accepts all that ``given`` does: each rule is there in ``given`` too, or a stricter one. A demand is only a suspicion (another
rule may make up for it); ``witnesses`` finds out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from conformance.gate.forms import ANYTHING, OF_KINDS, Alternatives, Form, Schema, written
from conformance.gate.meeting import accepts, disjoint, kinds, meet, member, plain
from conformance.gate.pairing import paired
from conformance.gate.steps import Step, Steps
from conformance.wire.validation import pointer
from strategies.admission import is_multiple
from strategies.languages import Undecided, escaping

NOT_ALLOWED = "not allowed"
Proven = AbstractSet[tuple[str, str]]


@dataclass(frozen=True)
class Demand:
    """One rule: the way to where it applies, its keyword, what ``given`` says there (None: nothing) and what ``judge`` says.

    ``rule`` is the rule as a schema; ``given_at`` and ``judge_at`` are where the two schemas stand, ``documents`` the documents
    of both that lie on the way, the outermost first. ``hint`` is a value that breaks the rule, where one is known.
    """

    steps: Steps
    keyword: str
    given: Any
    wanted: Any
    rule: Schema = field(repr=False)
    given_at: str
    judge_at: str
    documents: tuple[str, ...] = ()
    hint: Any = None

    @property
    def pointer(self) -> str:
        """The JSON pointer of the place in an instance, with ``*`` for any item and any member of a map."""
        return pointer(part for step in self.steps for part in step.down)


@dataclass(frozen=True)
class _Pair:
    given: Form
    judge: Form
    steps: Steps = ()
    documents: tuple[str, ...] = ()
    proven: Proven = frozenset()

    def inside(self, given: Form, judge: Form, *steps: Step) -> _Pair:
        """Go to two forms further in; a form without a place of its own stands where the one around it does."""
        placed = [form if form.where else form.at(outer.where) for form, outer in ((given, self.given), (judge, self.judge))]
        passed = [form.where.removesuffix("#") for form in placed if form.where.endswith("#")]
        return _Pair(placed[0], placed[1], (*self.steps, *steps), (*self.documents, *passed), self.proven)

    def demand(self, keyword: str, given: Any, wanted: Any, rule: Schema) -> Demand:
        return Demand(self.steps, keyword, given, wanted, rule, self.given.where, self.judge.where, self.documents)


def demands(given: Form, judge: Form, proven: Proven = frozenset()) -> Iterator[Demand]:
    """List the demands of ``judge`` beyond ``given``, in the order of its keywords.

    ``proven`` are pairs of keys of forms of which the second is known to accept all that the first does, wherever they stand.
    """
    yield from _demands(_Pair(given, judge, proven=proven))


def _demands(pair: _Pair) -> Iterator[Demand]:
    given, judge = pair.given, pair.judge
    if given.key == judge.key or given.nothing or judge.anything or (given.key, judge.key) in pair.proven:
        return
    if judge.nothing:
        yield pair.demand(NOT_ALLOWED, given.schema(), False, False)
    elif "enum" in given.keywords:
        yield from _of_values(pair)
    elif given["alternatives"] and not judge["alternatives"]:
        yield from _distributed(pair)
    else:
        asked = {_SHAPE.get(name, name): None for name in judge.keywords if _concerns(name, given)}
        for name in asked:
            yield from _ASKED[name](pair)


def _concerns(name: str, given: Form) -> bool:
    accepted = {"number" if kind in ("integer", "fraction") else kind for kind in kinds(given)}
    return all(name not in names or kind in accepted for kind, names in OF_KINDS.items())


def _of_values(pair: _Pair) -> Iterator[Demand]:
    """Ask the judge about each listed value."""
    refused = [value for value in pair.given["enum"] if not accepts(pair.judge, value)]
    if refused:
        listed = list(pair.judge["enum"]) if "enum" in pair.judge.keywords else pair.judge.schema()
        yield pair.demand("enum", list(pair.given["enum"]), listed, pair.judge.schema())


def _kinds(pair: _Pair) -> Iterator[Demand]:
    if kinds(pair.given) - kinds(pair.judge):
        yield _keyword(pair, "kinds", "type")


def _keyword(pair: _Pair, name: str, called: str = "") -> Demand:
    """Make the demand of a keyword as it stands."""
    rule = written({name: pair.judge[name]})
    given = written({name: pair.given[name]}) if name in pair.given.keywords else {}
    keyword = called or name
    return pair.demand(keyword, given.get(keyword), rule.get(keyword, rule), rule)


def _missing(name: str) -> Callable[[_Pair], Iterator[Demand]]:
    def ask(pair: _Pair) -> Iterator[Demand]:
        if name not in pair.given.keywords:
            yield _keyword(pair, name)

    return ask


def _limit(name: str, *, least: bool) -> Callable[[_Pair], Iterator[Demand]]:
    def ask(pair: _Pair) -> Iterator[Demand]:
        ours, theirs = pair.given[name], pair.judge[name]
        if ours is None or (ours < theirs if least else ours > theirs):
            yield _keyword(pair, name)

    return ask


def _set(name: str) -> Callable[[_Pair], Iterator[Demand]]:
    """Ask for each of several rules of one keyword that ``given`` does not have."""

    def ask(pair: _Pair) -> Iterator[Demand]:
        for wanted in pair.judge[name]:
            if wanted not in pair.given[name]:
                rule = written({name: (wanted,)})
                before = written({name: pair.given[name]}).get(name) if pair.given[name] else None
                yield pair.demand(name, before, rule.get(name), rule)

    return ask


def _patterns(pair: _Pair) -> Iterator[Demand]:
    """Ask for each pattern that a text of ``given`` can break; where that cannot be decided, suspect it."""
    given = pair.given
    for demand in _set("pattern")(pair):
        try:
            text = escaping(given["pattern"], demand.wanted, given["minLength"], given["maxLength"])
        except Undecided:
            yield demand
        else:
            if text is not None:
                yield replace(demand, hint=text)


def _multiples(pair: _Pair) -> Iterator[Demand]:
    for demand in _set("multipleOf")(pair):
        if not any(is_multiple(ours, demand.wanted) for ours in pair.given["multipleOf"]):
            yield demand


def _required(pair: _Pair) -> Iterator[Demand]:
    for name in pair.judge["required"]:
        if name not in pair.given["required"]:
            yield pair.demand("required", None, name, {"required": [name]})


def _shape(pair: _Pair) -> Iterator[Demand]:
    given, judge = pair.given, pair.judge
    names = dict.fromkeys([*given["properties"], *judge["properties"]])
    for name in names:
        yield from _demands(pair.inside(member(given, name), member(judge, name), Step("member", name)))
    yield from _other_members(pair, tuple(names))


def _other_members(pair: _Pair, names: tuple[str, ...]) -> Iterator[Demand]:
    given, judge = pair.given, pair.judge
    patterns = tuple(dict.fromkeys([*given["patternProperties"], *judge["patternProperties"]]))
    for pattern in judge["patternProperties"]:
        ours = given["patternProperties"].get(pattern)
        if ours is not None:
            yield from _demands(pair.inside(ours, judge["patternProperties"][pattern], Step("pattern", pattern)))
        elif not (given["additionalProperties"].nothing and not given["patternProperties"]):
            rule = written({"patternProperties": {pattern: judge["patternProperties"][pattern]}})
            yield pair.demand("patternProperties", None, pattern, rule)
    for pattern, ours in given["patternProperties"].items():
        if pattern not in judge["patternProperties"]:
            yield from _demands(pair.inside(ours, judge["additionalProperties"], Step("pattern", pattern)))
    other = Step("other", known=names, patterns=patterns)
    yield from _demands(pair.inside(given["additionalProperties"], judge["additionalProperties"], other))


def _names(pair: _Pair) -> Iterator[Demand]:
    ours, theirs = pair.given["propertyNames"], pair.judge["propertyNames"]
    if len(ours) == len(theirs) == 1:
        yield from _demands(pair.inside(ours[0], theirs[0], Step("name", schema=ours[0].schema())))
    else:
        yield from _set("propertyNames")(pair)


def _item(form: Form, index: int) -> Form:
    first: tuple[Form, ...] = form["items"]
    rest: Form = form["rest"]
    return first[index] if index < len(first) else rest


def _items(pair: _Pair) -> Iterator[Demand]:
    first = max(len(pair.given["items"]), len(pair.judge["items"]))
    for index in range(first):
        yield from _demands(pair.inside(_item(pair.given, index), _item(pair.judge, index), Step("item", str(index))))
    yield from _demands(pair.inside(pair.given["rest"], pair.judge["rest"], Step("any", str(first))))


def _rest(pair: _Pair) -> Iterator[Demand]:
    if "items" not in pair.judge.keywords:
        yield from _items(pair)


def _dependencies(pair: _Pair) -> Iterator[Demand]:
    for name, wanted in pair.judge["dependencies"].items():
        ours = pair.given["dependencies"].get(name, ANYTHING)
        yield from _demands(pair.inside(ours, wanted, Step("there", name)))


def _conditions(pair: _Pair) -> Iterator[Demand]:
    for one in pair.judge["conditions"]:
        ours = next((other for other in pair.given["conditions"] if other.condition == one.condition), None)
        when = one.condition.schema()
        if ours is None:
            rule = written({"conditions": (one,)})
            yield pair.demand("if", None, rule, rule)
        else:
            yield from _demands(pair.inside(ours.then, one.then, Step("holds", schema=when)))
            yield from _demands(pair.inside(ours.otherwise, one.otherwise, Step("breaks", schema=when)))


def _alternatives(pair: _Pair) -> Iterator[Demand]:
    for index, wanted in enumerate(pair.judge["alternatives"]):
        if wanted in pair.given["alternatives"]:
            continue
        groups = pair.given["alternatives"]
        if index < len(groups):
            yield from _branches(pair, groups[index].forms, wanted)
        else:
            yield from _branches(pair, (pair.given,), wanted)
        if wanted.exactly_one:
            yield from _overlaps(pair, wanted)


def _branches(pair: _Pair, ours: tuple[Form, ...], wanted: Alternatives) -> Iterator[Demand]:
    """Ask each alternative of ``given``, or ``given`` itself, to fit into the one of ``judge`` that it is most like."""
    for form, like in paired(ours, wanted.forms):
        taken = () if form is pair.given else (Step("holds", schema=form.schema()),)
        if like is None:
            rule = written({"alternatives": (replace(wanted, exactly_one=False),)})
            yield pair.inside(form, pair.judge, *taken).demand("anyOf", form.schema(), "no such alternative", rule)
        else:
            yield from _demands(pair.inside(form, like, *taken))


def _overlaps(pair: _Pair, wanted: Alternatives) -> Iterator[Demand]:
    """Ask that nothing fits into two alternatives of which exactly one is to be met."""
    for index, one in enumerate(wanted.forms):
        for other in wanted.forms[:index]:
            if not disjoint(one, other):
                both: Schema = {"allOf": [other.schema(), one.schema()]}
                yield pair.demand("oneOf", None, "not two alternatives at once", {"not": both})


def _distributed(pair: _Pair) -> Iterator[Demand]:
    """Ask each alternative of ``given`` alone, where ``judge`` has none."""
    group, *rest = pair.given["alternatives"]
    base = Form({**pair.given.keywords, "alternatives": tuple(rest)}, pair.given.where)
    for form in group.forms:
        yield from _demands(
            pair.inside(meet(plain(base.keywords, base.where), form), pair.judge, Step("holds", schema=form.schema()))
        )


_SHAPE: Mapping[str, str] = MappingProxyType(dict.fromkeys(("properties", "patternProperties", "additionalProperties"), "shape"))
_ASKED: Mapping[str, Callable[[_Pair], Iterator[Demand]]] = MappingProxyType(
    {
        "kinds": _kinds,
        "enum": _missing("enum"),
        "minimum": _limit("minimum", least=True),
        "exclusiveMinimum": _limit("exclusiveMinimum", least=True),
        "minLength": _limit("minLength", least=True),
        "minItems": _limit("minItems", least=True),
        "minProperties": _limit("minProperties", least=True),
        "maximum": _limit("maximum", least=False),
        "exclusiveMaximum": _limit("exclusiveMaximum", least=False),
        "maxLength": _limit("maxLength", least=False),
        "maxItems": _limit("maxItems", least=False),
        "maxProperties": _limit("maxProperties", least=False),
        "uniqueItems": _missing("uniqueItems"),
        "pattern": _patterns,
        "format": _set("format"),
        "multipleOf": _multiples,
        "required": _required,
        "shape": _shape,
        "propertyNames": _names,
        "items": _items,
        "rest": _rest,
        "contains": _set("contains"),
        "not": _set("not"),
        "dependencies": _dependencies,
        "conditions": _conditions,
        "alternatives": _alternatives,
        "unmerged": _set("unmerged"),
        "recursive": _missing("recursive"),
    }
)
"""Keyword of a form -> its demands."""

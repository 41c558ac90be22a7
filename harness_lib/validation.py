"""Can these arguments be passed to the handler? Asked for every call. Built in lesson 05.

What a simple schema plainly accepts goes through at once (compiled.py). For the rest a walk
(json_value.py) makes the handler's own copy and refuses what no schema can judge, and jsonschema
(Draft 2020-12) judges. The course's small subset stands beside them, to compare.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING

from harness_lib.binding import HandlerKeywords, is_closed
from harness_lib.compiled import UNSURE, compiled
from harness_lib.json_value import JsonWalk, type_name
from harness_lib.judge import forget_verdicts, in_place, judge_for, judged_parts
from harness_lib.schema import enforced_part
from harness_lib.violations import (
    Explanation,
    declared_names,
    missing_property,
    not_an_object,
)

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_VIOLATIONS = 100
"""How many violations are listed; nobody mends more at once."""

MAX_LINES = 1_000
"""How many lines are looked at for them: schemas that meet again at one place repeat theirs."""


class ArgumentValidator:
    """The check of one tool's arguments, built once, when the tool is registered.

    schema: a checked input schema (see schema.py). Nothing is ever fetched for it.
    keywords: what the handler can be given; an open schema lets more through.
    """

    def __init__(self, schema: dict[str, object], keywords: HandlerKeywords) -> None:
        self._schema = schema
        self._accept = compiled(schema)
        self._keywords = None if is_closed(schema) else keywords

    @functools.cached_property
    def _validator(self) -> Validator:
        return judge_for(enforced_part(self._schema))

    def check(self, arguments: object) -> tuple[dict[str, object], list[str]]:
        """The handler's own copy of the arguments, and all violations, each with its JSON path.

        With violations the copy is empty. An integral float is delivered as int where the schema
        says integer and not number. Never raises: what cannot be checked is a violation.
        """
        try:
            if self._accept is not None and (own := self._accept(arguments)) is not UNSURE:
                return own, []
            own, violations = self._judge(arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # arguments may be any object, which may raise anything
            own, violations = {}, [f"$: the arguments cannot be checked ({type(error).__name__})"]
        return ({} if violations else own), violations

    def _judge(self, arguments: object) -> tuple[object, list[str]]:
        if not isinstance(arguments, Mapping):
            return {}, [not_an_object(arguments)]
        walk = JsonWalk()
        own = walk.copy(arguments)
        if walk.faults:
            return {}, walk.faults[:MAX_VIOLATIONS]
        forget_verdicts()
        told = Explanation()
        lines = chain.from_iterable(map(told.of, self._validator.iter_errors(own)))
        if self._keywords is not None:
            known = declared_names(self._schema) or sorted(self._keywords.accepted or ())
            unknown = told.of_unknown("$", self._keywords.unknown(own), known)
            lines = chain(lines, map(missing_property, self._keywords.missing(own)), unknown)
        violations: dict[str, None] = {}
        for line in islice(lines, MAX_LINES):
            if len(violations) == MAX_VIOLATIONS and line not in violations:
                violations["and more"] = None
                break
            violations[line] = None
        if not violations and walk.integral_floats:
            places = _wanted_integers(self._validator, own, [self._validator.schema])
            for container, key in [*places]:  # all are found before one is changed
                container[key] = int(container[key])
        forget_verdicts()
        return own, list(violations)


def _wanted_integers(
    validator: Validator, value: object, schemas: list[dict]
) -> Iterator[tuple[dict | list, object]]:
    """The places of integral floats for which schemas that hold say integer, and none number.

    value: one that these schemas accept.
    """
    judged = defaultdict(list)
    for schema in in_place(validator, schemas, value):
        for key, inner in judged_parts(validator, schema, value):
            judged[key].append(inner)
    for key, inner in judged.items():
        part = value[key]
        if isinstance(part, (dict, list)):
            yield from _wanted_integers(validator, part, inner)
        elif isinstance(part, float) and part.is_integer():
            types = {t for s in in_place(validator, inner, part) for t in _types(s)}
            if "integer" in types and "number" not in types:
                yield value, key


def _types(schema: dict) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


_SUBSET_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def check_subset(schema: Mapping, value: object, path: str = "$") -> list[str]:
    """The course's own check: type, properties, required, additionalProperties, minimum.

    All violations of these keywords; every other keyword is silently ignored, which is the flaw
    that lesson 05 shows. dispatch does not use it.
    """
    kind = schema.get("type")
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind and not (
        isinstance(value, _SUBSET_TYPES[kind]) and is_number == (kind in ("integer", "number"))
    ):
        return [f"{path}: expected {kind}, got {type_name(value)}"]
    violations = []
    if is_number and value < schema.get("minimum", value):
        violations.append(f"{path}: expected at least {schema['minimum']}, got {value}")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                violations.append(f"{path}: {name} is missing")
        for name, item in value.items():
            if name in known:
                violations += check_subset(known[name], item, f"{path}.{name}")
            elif schema.get("additionalProperties") is False:
                violations.append(f"{path}: {name} is unknown")
    return violations

"""Can these arguments be passed to the handler? Asked for every call. Built in lesson 05.

What a simple schema plainly accepts goes through at once (compiled.py). For the rest a walk
(json_value.py) makes the handler's own copy and refuses what no schema can judge, and jsonschema
(Draft 2020-12) judges. The course's small subset stands beside them, to compare.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from harness_lib.binding import HandlerKeywords, is_closed
from harness_lib.compiled import UNSURE, compiled
from harness_lib.json_value import JsonWalk, type_name
from harness_lib.judge import NoInteger, TooManyAlternatives, judge_for, start_counting
from harness_lib.schema import enforced_part
from harness_lib.violations import (
    explain_error,
    missing_property,
    not_an_object,
    unknown_properties,
)

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_TRIES = 100
"""How many floats are tried one by one where alternatives hide which must be integers."""

MAX_VIOLATIONS = 100
"""How many violations are listed; nobody mends more at once."""


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
        if self._accept is not None and (own := self._accept(arguments)) is not UNSURE:
            return own, []
        try:
            own, violations = self._judge(arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # arguments may be any object, which may raise anything
            reason = error if isinstance(error, TooManyAlternatives) else type(error).__name__
            own, violations = {}, [f"$: the arguments cannot be checked ({reason})"]
        return ({} if violations else own), violations

    def _judge(self, arguments: object) -> tuple[object, list[str]]:
        if not isinstance(arguments, Mapping):
            return {}, [not_an_object(arguments)]
        walk = JsonWalk()
        own = walk.copy(arguments)
        if walk.faults:
            return {}, walk.faults[:MAX_VIOLATIONS]
        start_counting()
        lines = (
            line for error in self._validator.iter_errors(own) for line in explain_error(error)
        )
        violations = dict.fromkeys(islice(lines, MAX_VIOLATIONS))
        if self._keywords is not None:
            known = self._schema.get("properties") or sorted(self._keywords.accepted or ())
            violations |= dict.fromkeys(unknown_properties("$", self._keywords.unknown(own), known))
            violations |= dict.fromkeys(map(missing_property, self._keywords.missing(own)))
        if not violations and walk.integral_floats:
            self._deliver_integers(own, walk.integral_floats)
        return own, list(violations)

    def _deliver_integers(self, own: object, places: list[tuple]) -> None:
        """Make int of the floats that the schema accepts as integers only.

        Each is marked as a number that is no integer, and the schema is asked again. So its
        verdict decides, whatever keyword leads there, and no second reading of it is needed.
        """
        start_counting()
        for container, key in places:
            container[key] = NoInteger(container[key])
        errors = list(self._validator.iter_errors(own))
        refused = {id(error.instance) for error in errors if error.validator == "type"}
        doubtful = {id(leaf.instance) for error in errors for leaf in _leaves(error)} - refused
        open_places = []
        for container, key in places:
            mark = id(container[key])
            if mark in doubtful:
                open_places.append((container, key))
            container[key] = (int if mark in refused else float)(container[key])
        many = len(open_places) > MAX_TRIES  # then all that some alternative wants as integers
        for container, key in open_places:
            number = container[key]
            container[key] = NoInteger(number)
            container[key] = number if not many and self._accepts(own) else int(number)

    def _accepts(self, own: object) -> bool:
        try:
            return self._validator.is_valid(own)
        except TooManyAlternatives:  # as with too many floats: an alternative wants an integer
            return False


def _leaves(error: object) -> Iterator:
    """The type errors in the alternatives of an error, at any depth."""
    for inner in error.context:
        if inner.validator == "type":
            yield inner
        yield from _leaves(inner)


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

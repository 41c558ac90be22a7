"""Can these arguments be passed to the handler? Asked for every call. Built in lesson 05.

What a simple schema plainly accepts goes through at once (compiled.py). For the rest a walk
(json_value.py) makes the handler's own copy and refuses what no schema can judge, and jsonschema
(Draft 2020-12) judges. The course's small subset stands beside them, to compare.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness_lib.compiled import UNSURE, compiled
from harness_lib.json_value import JsonWalk, json_path, shown, type_name, typed
from harness_lib.schema import enforced_part

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_TRIES = 100
"""How many floats are tried one by one where alternatives hide which must be integers."""


class ArgumentValidator:
    """The check of one tool's arguments, built once, when the tool is registered.

    schema: a checked input schema (see schema.py). Nothing is ever fetched for it.
    """

    def __init__(self, schema: dict[str, object]) -> None:
        self._schema = schema
        self._accept = compiled(schema)

    @functools.cached_property
    def _validator(self) -> Validator:
        from referencing import Registry  # an empty one: the default would fetch over HTTP

        return _validator_class()(enforced_part(self._schema), registry=Registry())

    def check(self, arguments: object) -> tuple[dict[str, object], list[str]]:
        """The handler's own copy of the arguments, and all violations, each with its JSON path.

        With violations the copy is empty. An integral float is delivered as int where the schema
        says integer and not number. Never raises: what cannot be checked is a violation.
        """
        if self._accept is not None and (own := self._accept(arguments)) is not UNSURE:
            return own, []
        if not isinstance(arguments, Mapping):
            return {}, [_not_an_object(arguments)]
        try:
            walk = JsonWalk()
            own = walk.copy(arguments)
            violations = walk.faults or [
                line for error in self._validator.iter_errors(own) for line in _explain(error)
            ]
            if not violations and walk.integral_floats:
                self._deliver_integers(own, walk.integral_floats)
        except Exception as error:
            violations = [f"$: the arguments cannot be checked ({type(error).__name__})"]
        return ({} if violations else own), list(dict.fromkeys(violations))

    def _deliver_integers(self, own: object, places: list[tuple]) -> None:
        """Make int of the floats that the schema accepts as integers only.

        Each is marked as a number that is no integer, and the schema is asked again. So its
        verdict decides, whatever keyword leads there, and no second reading of it is needed.
        """
        for container, key in places:
            container[key] = _NoInteger(container[key])
        errors = list(self._validator.iter_errors(own))
        refused = {id(error.instance) for error in errors if error.validator == "type"}
        for container, key in places:
            if id(container[key]) in refused:
                container[key] = int(container[key])
        places = [place for place in places if isinstance(place[0][place[1]], _NoInteger)]
        settled = self._validator.is_valid(own)
        for container, key in places:
            container[key] = float(container[key])
        if settled:
            return
        if len(places) > MAX_TRIES:
            raise OverflowError("too many integral floats under anyOf, oneOf or the like")
        for container, key in places:
            number = container[key]
            container[key] = _NoInteger(number)
            container[key] = number if self._validator.is_valid(own) else int(number)


class _NoInteger(float):
    """An integral float that the schema is asked to take as a number, not as an integer."""


@functools.cache
def _validator_class() -> type:
    from jsonschema import Draft202012Validator, validators  # slow to import, so on first use

    integer = Draft202012Validator.TYPE_CHECKER.is_type
    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, v: not isinstance(v, _NoInteger) and integer(v, "integer")
    )
    return validators.extend(Draft202012Validator, type_checker=checker)


def _not_an_object(arguments: object) -> str:
    if not isinstance(arguments, str):
        return f"$: expected an object, got {typed(arguments)}"
    try:
        json.loads(arguments)
        fault = "send the object itself"
    except (ValueError, RecursionError) as error:
        fault = f"which is no valid JSON either ({error})"
    return f"$: expected an object, got text, {fault}: {shown(arguments)}"


_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "text that matches {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} properties",
    "maxProperties": "at most {} properties",
    "const": "{}",
    "enum": "one of {}",
    "uniqueItems": "no item twice",
}


def _explain(error: object) -> Iterator[str]:
    """One jsonschema error as lines for the model: where, what was expected, what came."""
    path, keyword, wanted = json_path(error.absolute_path), error.validator, error.validator_value
    value = error.instance
    if keyword == "required":
        for name in wanted:
            if name not in value:
                yield f"{path}: the required property {shown(name)} is missing"
    elif keyword == "additionalProperties":
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", ())
        for name in value:
            if name not in known and not any(re.search(p, name) for p in patterns):
                yield f"{path}: unknown property {shown(name)}{_hint(name, known)}"
    elif keyword == "type":
        types = wanted if isinstance(wanted, str) else " or ".join(wanted)
        yield f"{path}: expected {types}, got {typed(value)}"
    elif keyword in _LIMITS:
        yield f"{path}: expected {_LIMITS[keyword].format(shown(wanted))}, got {shown(value)}"
    elif keyword in ("anyOf", "oneOf") and error.context:
        forms = "; or ".join(line for inner in error.context for line in _explain(inner))
        yield f"{path}: fits none of the allowed forms ({forms})"
    elif keyword == "oneOf":
        yield f"{path}: fits more than one of the forms, of which it must fit exactly one"
    else:
        yield f"{path}: {shown(value)} is refused by {keyword or 'a schema that allows nothing'}"


def _hint(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean {shown(near[0])}?"
    return f"; known are {', '.join(map(shown, known))}" if known else "; none is allowed"


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

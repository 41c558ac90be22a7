"""jsonschema as the argument check uses it: exact, quick, and nothing fetched. Lesson 05.

The Draft 2020-12 validator on what schema.enforced_part gives, with some keywords done otherwise.
Those that ask whether another schema holds remember the answer: a recursive schema asks the same
again at each level, and a small text could keep it busy for days. Errors carry what violations.py
tells of them. uniqueItems compares by hash; multipleOf is exact.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

_check = threading.local()
"""What is known in this thread's check, by the ids of schema and value: both live on through it."""


def judge_for(schema: dict[str, object]) -> Validator:
    """A validator for a schema's enforced part. Slow to make: once a tool, and on first use."""
    from referencing import Registry  # an empty one: the default would fetch over HTTP

    return _validator_class()(schema, registry=Registry())


def forget_verdicts() -> None:
    """Begin or end a check: what is known of one's values says nothing of another's."""
    _check.verdicts = {}


def in_place(validator: Validator, schemas: Iterable[dict], value: object) -> list[dict]:
    """These schemas and all that they lead to for the same value, as far as they hold."""
    found: dict[int, dict] = {}
    waiting = [*schemas]
    while waiting:
        schema = waiting.pop()
        if id(schema) in found:
            continue
        found[id(schema)] = schema
        waiting += (schema[key].target for key in ("$ref", "$dynamicRef") if key in schema)
        waiting += schema.get("allOf", ())
        for forms in (schema.get("anyOf", ()), schema.get("oneOf", ())):
            # Where none holds, the value is refused for that: then all count, lest the names of
            # the form that was meant are refused as unknown too.
            waiting += [form for form in forms if _holds(validator, form, value)] or forms
        if "if" in schema:
            held = _holds(validator, schema["if"], value)
            waiting += [schema["if"]] if held else []
            waiting.append(schema.get("then" if held else "else", {}))
        if isinstance(value, dict):
            dependent = schema.get("dependentSchemas", {})
            waiting += (inner for name, inner in dependent.items() if name in value)
    return [*found.values()]


def judged_parts(validator: Validator, schema: dict, value: object) -> Iterator[tuple]:
    """The keys of a value that a schema's own keywords judge, each with the schema for it."""
    for keyword in _OF_PARTS.get(type(value), ()):
        if keyword in schema:
            yield from _parts(validator, keyword, value, schema)


_OF_PARTS = {
    dict: ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
    list: ("prefixItems", "items", "contains", "unevaluatedItems"),
}
"""The keywords with schemas for a value's parts. The last judges what no other did."""


def _parts(validator: Validator, keyword: str, value: object, schema: dict) -> Iterable[tuple]:
    inner = schema[keyword]
    if keyword == "properties":
        return [(name, inner[name]) for name in inner if name in value]
    if keyword == "patternProperties":
        return [(name, s) for p, s in inner.items() for name in value if p.search(name)]
    if keyword == "prefixItems":
        return zip(range(len(value)), inner, strict=False)
    if keyword == "items":
        keys = range(len(schema.get("prefixItems", ())), len(value))
    elif keyword == "contains":
        keys = (index for index, item in enumerate(value) if _holds(validator, inner, item))
    elif keyword == "additionalProperties":
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", ())
        keys = (n for n in value if n not in known and not any(p.search(n) for p in patterns))
    else:
        keys = _unevaluated(validator, value, schema)
    return ((key, inner) for key in keys)


def _unevaluated(validator: Validator, value: dict | list, schema: dict) -> list:
    """The keys that neither this schema judges, but for its rest, nor one that it leads to."""
    *own, rest = _OF_PARTS[type(value)]
    judged: set[object] = set()
    for other in in_place(validator, [schema], value):
        if rest in other and other is not schema:
            return []
        for keyword in filter(other.__contains__, own):
            judged.update(key for key, _ in _parts(validator, keyword, value, other))
    keys = value if isinstance(value, dict) else range(len(value))
    return [key for key in keys if key not in judged]


def _holds(validator: Validator, schema: dict, value: object) -> bool:
    verdicts, key = _check.verdicts, (id(schema), id(value))
    if key not in verdicts:  # next(): is_valid() would take one frame more at each level
        verdicts[key] = next(validator.evolve(schema=schema).iter_errors(value), None) is None
    return verdicts[key]


@functools.cache
def _validator_class() -> type:
    return _jsonschema().validators.extend(_jsonschema().Draft202012Validator, _KEYWORDS)


@functools.cache
def _jsonschema() -> ModuleType:
    return importlib.import_module("jsonschema")  # slow, so on first use


def _error(**told: object) -> ValidationError:
    """An error that violations.py puts into words, and what it needs for them."""
    error = _jsonschema().ValidationError("")
    vars(error).update(told)
    return error


def _error_where(is_wrong: Callable) -> Callable:
    """A keyword that makes one error, without its value as text: that may be large."""

    def keyword(validator, wanted, value, schema) -> Iterator:
        if is_wrong(validator, wanted, value):
            yield _error()

    return keyword


def _is_other_type(validator, types, value) -> bool:
    types = [types] if isinstance(types, str) else types
    return not any(validator.is_type(value, name) for name in types)


def _lacks_some(validator, names, value) -> bool:
    return isinstance(value, dict) and not value.keys() >= {*names}


def _lacks_dependent(validator, dependent, value) -> bool:
    return isinstance(value, dict) and any(
        not value.keys() >= {*names} for name, names in dependent.items() if name in value
    )


def _ref(validator, reference, value, schema) -> Iterator:
    key = (id(reference.target), id(value))
    if _check.verdicts.get(key):
        return
    error = None
    for error in validator.descend(value, reference.target):
        yield error
    _check.verdicts[key] = error is None


def _any_of(validator, forms, value, schema) -> Iterator:
    if not any(_holds(validator, form, value) for form in forms):
        # Generators: the errors of forms within forms multiply, and few of them are told.
        yield _error(forms=[validator.descend(value, form) for form in forms])


def _one_of(validator, forms, value, schema) -> Iterator:
    if sum(_holds(validator, form, value) for form in forms) > 1:
        yield _error(forms=[])
    yield from _any_of(validator, forms, value, schema)


def _if(validator, condition, value, schema) -> Iterator:
    branch = "then" if _holds(validator, condition, value) else "else"
    yield from validator.descend(value, schema.get(branch, {}))


def _contains(validator, inner, value, schema) -> Iterator:
    if isinstance(value, list):
        count = sum(1 for _ in _parts(validator, "contains", value, schema))
        if not schema.get("minContains", 1) <= count <= schema.get("maxContains", count):
            yield _error(count=count)


def _property_names(validator, inner, value, schema) -> Iterator:
    for name in value if isinstance(value, dict) else ():
        for error in validator.descend(name, inner):
            error.is_name = True
            yield error


def _of_parts(kind, keyword, validator, wanted, value, schema) -> Iterator:
    parts = _parts(validator, keyword, value, schema) if isinstance(value, kind) else ()
    of_rest = keyword.startswith(("additional", "items", "unevaluated"))
    if not of_rest or wanted != {"not": {}}:
        for key, inner in parts:
            yield from validator.descend(value[key], inner, path=key)
    elif refused := [key for key, _ in parts]:
        led_to = in_place(validator, [schema], value) if keyword.startswith("un") else [schema]
        yield _error(refused=refused, schemas=led_to)


def _has_twice(validator, unique, value) -> bool:
    return unique and isinstance(value, list) and len({*map(_hashable, value)}) < len(value)


def _hashable(value: object) -> object:
    """Equal for equal JSON values alone: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, list):
        return ("array", *map(_hashable, value))
    if isinstance(value, dict):
        return ("object", frozenset((name, _hashable(item)) for name, item in value.items()))
    return (type(value), value) if isinstance(value, bool) else value


def _is_no_multiple(validator, step, n) -> bool:
    # As decimals, which is what was written: in floats, 19.99 is no multiple of 0.01.
    return validator.is_type(n, "number") and Fraction(repr(n + 0)) % Fraction(repr(step)) != 0


_KEYWORDS = {
    "$ref": _ref,
    "$dynamicRef": _ref,  # only one $dynamicAnchor of a name is let in
    "anyOf": _any_of,
    "oneOf": _one_of,
    "type": _error_where(_is_other_type),
    "required": _error_where(_lacks_some),
    "dependentRequired": _error_where(_lacks_dependent),
    "not": _error_where(_holds),
    "if": _if,
    "pattern": _error_where(lambda _, p, value: isinstance(value, str) and not p.search(value)),
    "propertyNames": _property_names,
    "uniqueItems": _error_where(_has_twice),
    "multipleOf": _error_where(_is_no_multiple),
    **{
        keyword: functools.partial(_of_parts, kind, keyword)
        for kind, keywords in _OF_PARTS.items()
        for keyword in keywords
    },
    "contains": _contains,
}

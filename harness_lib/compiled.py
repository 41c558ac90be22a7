"""The fast way in: arguments that a simple schema plainly accepts. Built in lesson 05.

Most tools have simple schemas, and most calls are right. For these a check is built once, when
the tool is registered, and costs about a microsecond instead of thirty. It only ever accepts:
whatever it is not sure of goes to jsonschema, which says what is wrong, or that nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from harness_lib.pattern import Pattern

UNSURE = object()
"""What a check gives for a value that it does not accept."""

Check = Callable[[object], object]
"""Gives the handler's own copy of a value, or UNSURE."""

MAX_SURE_INTEGER = 10**18
"""Beyond it, plus or minus, the check leaves the judgement to others."""

_ANNOTATIONS = {"title", "description"}
_KEYWORDS = {
    "string": {"type", "minLength", "maxLength", "pattern"},
    "integer": {"type", "minimum", "maximum"},
    "number": {"type", "minimum", "maximum"},
    "boolean": {"type"},
    "object": {"type", "properties", "required", "additionalProperties"},
}


def compiled(schema: object) -> Check | None:
    """A check for a schema in the subset, or None: then the schema is not recognised.

    To be recognised is to be valid: the subset is small enough to be judged here, keyword by
    keyword. So a schema that is recognised needs no jsonschema at all until a call is refused.
    """
    if not isinstance(schema, Mapping) or not isinstance(schema.get("type"), str):
        return None
    kind = schema["type"]
    if not schema.keys() <= _KEYWORDS.get(kind, set()) | _ANNOTATIONS:
        return None
    if not all(isinstance(schema.get(name, ""), str) for name in _ANNOTATIONS):
        return None
    if kind == "object":
        return _object(schema)
    if kind == "string":
        return _string(schema)
    if kind == "boolean":
        return lambda value: value if value is True or value is False else UNSURE
    return _number(schema, kind)


def _object(schema: Mapping[str, object]) -> Check | None:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if schema.get("additionalProperties") is not False or not isinstance(properties, Mapping):
        return None
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return None
    if len(set(required)) != len(required) or not properties.keys() >= set(required):
        return None
    checks = {name: compiled(inner) for name, inner in properties.items()}
    if None in checks.values():
        return None
    check_of, needed = checks.get, len(required)
    needs = frozenset(required)

    def check(value: object) -> object:
        if type(value) is not dict:
            return UNSURE
        own = {}
        for name, item in value.items():
            check_item = check_of(name) if type(name) is str else None
            if check_item is None or (item := check_item(item)) is UNSURE:
                return UNSURE
            own[name] = item
        return own if len(own) >= needed and needs <= own.keys() else UNSURE

    return check


def _string(schema: Mapping[str, object]) -> Check | None:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 2**63)
    if not _is_count(shortest) or not _is_count(longest):
        return None
    pattern = schema.get("pattern", "")
    if not isinstance(pattern, str):
        return None
    try:
        search = Pattern(pattern).search if pattern else None
    except (re.error, OverflowError, RecursionError):
        return None

    def check(value: object) -> object:
        if type(value) is not str or not shortest <= len(value) <= longest:
            return UNSURE
        if not value.isascii() and not _is_unicode(value):
            return UNSURE
        return value if search is None or search(value) else UNSURE

    return check


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _number(schema: Mapping[str, object], kind: str) -> Check | None:
    low = schema.get("minimum", -MAX_SURE_INTEGER)
    high = schema.get("maximum", MAX_SURE_INTEGER)
    if not _is_bound(low) or not _is_bound(high):
        return None
    # type(), not isinstance(): True is an int to Python and none to JSON Schema. A float where
    # an integer is wanted is left to others: they make an int of 5.0.
    types = (int,) if kind == "integer" else (int, float)
    low, high = max(low, -MAX_SURE_INTEGER), min(high, MAX_SURE_INTEGER)

    # NaN is refused by both comparisons, and an infinity by one of them.
    return lambda value: value if type(value) in types and low <= value <= high else UNSURE


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_bound(value: object) -> bool:
    return type(value) in (int, float) and abs(value) <= MAX_SURE_INTEGER

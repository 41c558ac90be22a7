"""The fast way in: arguments that a simple schema plainly accepts. Built in lesson 05.

Most tools have simple schemas, and most calls are right. For these a check is built once, when
the tool is registered, and costs about a microsecond instead of thirty. It only ever accepts:
whatever it is not sure of goes to jsonschema, which says what is wrong, or that nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

UNSURE = object()
"""What a check gives for a value that it does not accept."""

Check = Callable[[object], object]
"""Gives the handler's own copy of a value, or UNSURE."""

MAX_SURE_INTEGER = 10**18
"""Beyond it, plus or minus, the check leaves the judgement to others."""

# What differs between ECMA-262 and Python: classes of characters, and `$` and `.` outside of
# them. In \w the "_" is not last: a "-" may follow, and would make a range of it.
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[$.]", re.DOTALL)
_IN_A_CLASS = {
    "d": "0-9",
    "w": "A-Z_a-z0-9",
    "s": r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
    "D": r"\x00-/:-\U0010ffff",
    "W": r"\x00-/:-@\[-\^`{-\U0010ffff",
    "S": r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e"
    r"\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff",
}
_ELSEWHERE = {"b": r"(?a:\b)", "B": r"(?a:\B)"} | {c: f"[{s}]" for c, s in _IN_A_CLASS.items()}
_BARE = {"$": r"\Z", ".": r"[^\n\r\u2028\u2029]"}

_ANNOTATIONS = {"title", "description"}
_KEYWORDS = {
    "string": {"type", "minLength", "maxLength", "pattern"},
    "integer": {"type", "minimum", "maximum"},
    "number": {"type", "minimum", "maximum"},
    "boolean": {"type"},
    "object": {"type", "properties", "required", "additionalProperties"},
}


class Pattern(str):
    """A pattern as it was written, which searches as JSON Schema means it: as ECMA-262 does.

    There `$` is the very end, where Python's lets a newline follow; \\d, \\w and \\b are ASCII;
    \\s and the dot differ in a few characters. What Python cannot read (\\p{L}) raises re.error.
    """

    def __init__(self, written: str) -> None:
        self.search = re.compile(_PIECE.sub(_in_python, written)).search


def _in_python(piece: re.Match) -> str:
    """An escape, a whole class, or a bare character, as Python spells what ECMA-262 means by it."""
    text = piece[0]
    if text in _BARE:
        return _BARE[text]
    if text[0] == "[":
        return re.sub(r"\\(.)", lambda escape: _IN_A_CLASS.get(escape[1], escape[0]), text)
    return _ELSEWHERE.get(text[1], text)


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

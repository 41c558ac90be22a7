"""What is a JSON value, and what is none? One walk that copies and says. Built in lesson 05."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping
from itertools import islice

MAX_DEPTH = 100
"""How deep a JSON value may nest: beyond it, walking it could exhaust the interpreter's stack."""

MAX_VALUES = 100_000
"""How many values it may hold in all."""

MAX_INTEGER_BITS = 14_000
"""About 4,200 decimal digits: past 4,300 Python itself refuses to print an int."""

MAX_SHOWN_CHARS = 60
"""How much of a value a message shows, in characters."""

MAX_NAME_CHARS = 80
"""How much of a name: each that the API allows is shown whole."""

MAX_COMPARED = 1_000
"""Among more names than that none is looked for that a misspelt one stands for: it takes long."""


def json_copy(value: object) -> tuple[object, list[str]]:
    """A detached copy of a JSON value, and what in it is no JSON, each with its path."""
    walk = JsonWalk()
    return walk.copy(value), walk.faults


class JsonWalk:
    """One walk over a value: copies it, collects its faults, notes whether it has integral floats.

    jsonschema alone lets NaN pass as a number and raises on infinities, huge integers and deep
    nesting. A path is a chain of (parent, key) pairs, written out only when it is needed.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.integral_floats = False
        self._room = MAX_VALUES

    def copy(self, value: object, at: tuple | None = None, depth: int = 0) -> object:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, at)
        if isinstance(value, int):
            if value.bit_length() > MAX_INTEGER_BITS:
                return self._fault(at, "the integer is too long to check")
            return int(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                return self._fault(at, f"{value} is no JSON")
            self.integral_floats |= value.is_integer()
            return float(value)
        if not isinstance(value, (dict, list, tuple, Mapping)):
            return self._fault(at, f"{type(value).__name__} is no JSON type")
        if depth == MAX_DEPTH:
            return self._fault(at, f"too deep ({MAX_DEPTH} levels are the most)")
        is_object = isinstance(value, Mapping)
        own: dict | list = {} if is_object else []
        for key, item in value.items() if is_object else enumerate(value):
            self._room -= 1  # by what comes: a mapping may yield more than its length, or for ever
            if self._room < 0:
                fault = f"too large ({MAX_VALUES} values are the most)"
                return self._fault(at, fault) if self._room == -1 else ""  # said once
            place = (at, key)
            if is_object:
                if not isinstance(key, str):
                    self._fault(at, f"a name must be text, not {type(key).__name__}")
                    continue
                key = self._text(key, place)
            copied = self.copy(item, place, depth + 1)
            if is_object:
                own[key] = copied
            else:
                own.append(copied)
        return own

    def _text(self, text: str, at: tuple | None) -> str:
        if not text.isascii():
            try:  # two halves of a character, which some parsers leave apart, become one
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
            except UnicodeDecodeError:
                return self._fault(at, "the text holds half of a surrogate pair")
        return str.__str__(text)

    def _fault(self, at: tuple | None, what: str) -> str:
        keys: list[object] = []
        while at is not None:
            at, key = at
            keys.append(key)
        self.faults.append(f"{json_path(reversed(keys))}: {what}")
        return ""


_PLAIN_NAME = re.compile(r"[A-Za-z_]\w{,63}", re.ASCII)
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def json_path(keys: Iterable[object]) -> str:
    """`$.name[0]['odd name']` for the keys and indexes that lead to a value."""
    path = "$"
    for key in keys:
        if isinstance(key, int):
            path += f"[{key}]"
        elif _PLAIN_NAME.fullmatch(key):
            path += f".{key}"
        else:
            path += f"[{shown(key, MAX_NAME_CHARS)}]"
    return path


def shown(value: object, most: int = MAX_SHOWN_CHARS) -> str:
    """A value as JSON on one line, clipped, for a message; its type where it is no JSON."""
    text = ""
    try:  # no further than it is shown: it may be large, and shown for many errors
        if isinstance(value, (dict, list, tuple)):
            for part in _ENCODER.iterencode(value):
                text += part
                if len(text) > most:
                    break
        else:
            cut = value[:most] if isinstance(value, str) else value
            text = _ENCODER.encode(cut)
    except (TypeError, ValueError, RecursionError):
        text = f"({type(value).__name__})"
    return text if len(text) <= most else f"{text[:most]}..."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one most likely stands for, whatever its case; or None."""
    by_lower = {other.lower(): other for other in islice(known, MAX_COMPARED + 1)}
    if len(by_lower) > MAX_COMPARED:
        return None
    name = name[:64].lower()
    letters = {*name}
    alike = [other for other in by_lower if not letters.isdisjoint(other)]  # cheap; the rest is not
    near = alike and difflib.get_close_matches(name, alike, n=1)
    return by_lower[near[0]] if near else None


def typed(value: object) -> str:
    """A value with its type's name before it, as in `string "5"`; null says it all."""
    return "null" if value is None else f"{type_name(value)} {shown(value)}"


def type_name(value: object) -> str:
    """JSON Schema's name for a value's type; Python's name where it is no JSON."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


_TYPE_NAMES = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}

"""How a violation reads: where, what was expected, what came, and what to do. Lesson 05.

The model mends its call from these lines alone. Values are clipped, so that none of them, and no
secret in them, comes back at length.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice

from harness_lib.json_value import MAX_NAME_CHARS, json_path, nearest, shown, typed

MAX_WANTED_CHARS = 500
"""How much is said of what was expected, in characters: of an enum, or of alternatives."""

MAX_ERRORS = 20
"""How many errors of an alternative are looked at."""

MAX_COMPARISONS = 10_000
"""How often names are compared with unknown ones, in all, for one that was meant."""

LIMITS = {
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
    "uniqueItems": "no item twice",
}


def explain_error(error: object) -> Iterator[str]:
    """One error of judge.py's validator as lines for the model."""
    path, keyword, wanted = json_path(error.absolute_path), error.validator, error.validator_value
    value = error.instance
    if hasattr(error, "is_name"):
        path += f", the name {_named(value)}"
    if keyword == "required":
        yield from (missing_property(name, path) for name in wanted if name not in value)
    elif keyword == "dependentRequired":
        for name in filter(value.__contains__, wanted):
            missing = (other for other in wanted[name] if other not in value)
            yield from (f"{missing_property(m, path)}; {_named(name)} requires it" for m in missing)
    elif hasattr(error, "refused") and keyword.endswith("Properties"):
        known = [name for schema in error.schemas for name in schema.get("properties", ())]
        patterns = [p for schema in error.schemas for p in schema.get("patternProperties", ())]
        yield from unknown_properties(path, error.refused, dict.fromkeys(known), patterns)
    elif hasattr(error, "refused"):
        for index in error.refused:
            yield f"{path}[{index}]: no item is allowed here, got {shown(value[index])}"
    elif keyword == "type":
        types = wanted if isinstance(wanted, str) else " or ".join(wanted)
        yield f"{path}: expected {types}, got {typed(value)}"
    elif keyword == "enum":
        near = nearest(value, filter(_is_text, wanted)) if isinstance(value, str) else None
        hint = f"; did you mean {_named(near)}?" if near else ""
        yield f"{path}: expected one of {_wanted(wanted)}, got {shown(value)}{hint}"
    elif keyword in LIMITS:
        yield f"{path}: expected {LIMITS[keyword].format(_wanted(wanted))}, got {shown(value)}"
    elif keyword == "contains":
        least, most = error.schema.get("minContains", 1), error.schema.get("maxContains")
        upper = "" if most is None else f" and at most {most}"
        fitting = f"at least {least}{upper} items that fit {_wanted(wanted)}"
        yield f"{path}: expected {fitting}, got {error.count}"
    elif keyword in ("anyOf", "oneOf") and error.forms:
        yield f"{path}: fits none of the allowed forms ({_forms(error)})"
    elif keyword == "oneOf":
        yield f"{path}: fits more than one of the forms, of which it must fit exactly one"
    elif wanted == {}:
        yield f"{path}: nothing is allowed here, got {shown(value)}"
    else:
        yield f"{path}: expected what does not fit {_wanted(wanted)}, got {shown(value)}"


def missing_property(name: str, path: str = "$") -> str:
    """The line for a required property that is not there."""
    return f"{path}: the required property {_named(name)} is missing"


def unknown_properties(
    path: str, names: Iterable[str], known: Collection[str], patterns: Collection[str] = ()
) -> Iterator[str]:
    """A line for each name that nobody declared, with the one that it may stand for."""
    declared = [", ".join(map(_named, known))] if known else []
    declared += [f"names that match {' or '.join(map(_wanted, patterns))}"] if patterns else []
    allowed = f"known are {_clipped(', and '.join(declared))}" if declared else "none is allowed"
    for count, name in enumerate(names, 1):
        near = nearest(name, known) if count * len(known) <= MAX_COMPARISONS else None
        hint = f"did you mean {_named(near)}?" if near else allowed
        yield f"{path}: unknown property {_named(name)}" + (f"; {hint}" if hint else "")
        allowed = allowed if near else ""  # said once


def not_an_object(arguments: object) -> str:
    """The line for arguments that are no object; for text, whether it was at least JSON."""
    if not isinstance(arguments, str):
        return f"$: expected an object, got {typed(arguments)}"
    try:
        json.loads(arguments)
        fault = "send the object itself"
    except (ValueError, RecursionError) as error:
        fault = f"which is no valid JSON either ({error})"
    return f"$: expected an object, got text, {fault}: {shown(arguments)}"


def _forms(error: object) -> str:
    """What each alternative that was meant finds wrong, as far as it is told."""
    said = ""
    for line in (line for inner in _closest(error) for line in explain_error(inner)):
        said += f"; or {line}" if said else line
        if len(said) > MAX_WANTED_CHARS:
            break  # forms within forms multiply
    return _clipped(said)


def _closest(error: object) -> list[object]:
    """The errors of the alternatives that were meant: of the value's type, and of its kind."""
    forms = [list(islice(form, MAX_ERRORS)) for form in error.forms]
    for inner in chain(*forms):
        inner.parent = error
    for is_other in (_is_other_type, _is_other_kind):
        forms = [form for form in forms if not any(map(is_other, form))] or forms
    return [*chain(*forms)]


def _is_other_type(error: object) -> bool:
    return error.validator in ("type", "const", "enum") and not error.relative_path


def _is_other_kind(error: object) -> bool:
    """True for a property of the value that tells forms apart, as `kind` often does."""
    keyword, wanted = error.validator, error.validator_value
    is_one = keyword == "const" or (keyword == "enum" and len(wanted) == 1)
    return is_one and len(error.relative_path) == 1


def _named(name: str) -> str:
    return shown(name, MAX_NAME_CHARS)


def _wanted(wanted: object) -> str:
    return shown(wanted, MAX_WANTED_CHARS)


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_WANTED_CHARS else f"{text[:MAX_WANTED_CHARS]}..."


def _is_text(value: object) -> bool:
    return isinstance(value, str)

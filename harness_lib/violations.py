"""How a violation reads: where, what was expected, what came, and what to do. Lesson 05.

The model mends its call from these lines alone. Values are clipped, so that none of them, and no
secret in them, comes back at length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator

from harness_lib.json_value import json_path, nearest, shown, typed

MAX_FORMS_CHARS = 500
"""How much is said about alternatives of which none fits, in characters."""

MAX_ALLOWED_CHARS = 500
"""How much of an enum is listed, in characters."""

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
    """One error of jsonschema as lines for the model."""
    path, keyword, wanted = json_path(error.absolute_path), error.validator, error.validator_value
    value = error.instance
    if keyword == "required":
        yield from (missing_property(name, path) for name in wanted if name not in value)
    elif keyword == "additionalProperties":
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", ())
        names = [n for n in value if n not in known and not any(re.search(p, n) for p in patterns)]
        yield from unknown_properties(path, names, known)
    elif keyword == "type":
        types = wanted if isinstance(wanted, str) else " or ".join(wanted)
        yield f"{path}: expected {types}, got {typed(value)}"
    elif keyword == "enum":
        near = nearest(value, filter(_is_text, wanted)) if isinstance(value, str) else None
        hint = f"; did you mean {shown(near)}?" if near else ""
        allowed = shown(wanted, MAX_ALLOWED_CHARS)
        yield f"{path}: expected one of {allowed}, got {shown(value)}{hint}"
    elif keyword in LIMITS:
        yield f"{path}: expected {LIMITS[keyword].format(shown(wanted))}, got {shown(value)}"
    elif keyword in ("anyOf", "oneOf") and error.context:
        forms = "; or ".join(line for inner in _closest(error) for line in explain_error(inner))
        clipped = forms if len(forms) <= MAX_FORMS_CHARS else f"{forms[:MAX_FORMS_CHARS]}..."
        yield f"{path}: fits none of the allowed forms ({clipped})"
    elif keyword == "oneOf":
        yield f"{path}: fits more than one of the forms, of which it must fit exactly one"
    elif keyword and keyword.startswith("unevaluated"):
        yield f"{path}: {error.message[:200]}"
    else:
        yield f"{path}: {shown(value)} is refused by {keyword or 'a schema that allows nothing'}"


def missing_property(name: str, path: str = "$") -> str:
    """The line for a required property that is not there."""
    return f"{path}: the required property {shown(name)} is missing"


def unknown_properties(path: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """A line for each name that nobody declared, with the one that it may stand for."""
    for name in names:
        if near := nearest(name, known):
            hint = f"did you mean {shown(near)}?"
        else:
            hint = f"known are {', '.join(map(shown, known))}" if known else "none is allowed"
        yield f"{path}: unknown property {shown(name)}; {hint}"


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


def _closest(error: object) -> list[object]:
    """The errors of the alternatives that were meant: those whose constants fit, if any do."""
    by_form: dict[object, list[object]] = {}
    for inner in error.context:
        by_form.setdefault(inner.schema_path[0], []).append(inner)
    meant = [form for form in by_form.values() if all(e.validator != "const" for e in form)]
    return [inner for form in meant or by_form.values() for inner in form]


def _is_text(value: object) -> bool:
    return isinstance(value, str)

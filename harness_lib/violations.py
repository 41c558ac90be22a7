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

MAX_FORMS = 1_000
"""How often alternatives are looked at in one check: those within others multiply."""

MAX_COMPARISONS = 2_000
"""How often names and enums are compared with what came, in one check, for one that was meant."""

NOTHING = {"not": {}}
"""What judge.py has for the schema `false`."""

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


class Explanation:
    """What is told of one check: its lines, and how much has been looked at for them."""

    def __init__(self) -> None:
        self.refused: set[str] = set()  # unknown names at the root, which are told once
        self._comparisons = MAX_COMPARISONS
        self._forms = MAX_FORMS

    def of(self, error: object) -> Iterator[str]:
        """One error of judge.py's validator as lines for the model."""
        keyword, wanted, value = error.validator, error.validator_value, error.instance
        path = json_path(error.absolute_path)
        if hasattr(error, "is_name"):
            path += f", the name {_named(value)}"
        if keyword == "required":
            yield from (missing_property(name, path) for name in wanted if name not in value)
        elif keyword == "dependentRequired":
            for name in filter(value.__contains__, wanted):
                lines = (missing_property(m, path) for m in wanted[name] if m not in value)
                yield from (f"{line}; {_named(name)} requires it" for line in lines)
        elif hasattr(error, "refused") and keyword.endswith("Properties"):
            known = chain.from_iterable(map(declared_names, error.schemas))
            patterns = [p for schema in error.schemas for p in schema.get("patternProperties", ())]
            yield from self.of_unknown(path, error.refused, dict.fromkeys(known), patterns)
        elif hasattr(error, "refused"):
            for index in error.refused:
                yield f"{path}[{index}]: no item is allowed here, got {shown(value[index])}"
        elif keyword == "type":
            types = wanted if isinstance(wanted, str) else " or ".join(wanted)
            yield f"{path}: expected {types}, got {typed(value)}"
        elif keyword == "enum":
            yield self._of_enum(path, wanted, value)
        elif keyword in LIMITS:
            yield f"{path}: expected {LIMITS[keyword].format(_wanted(wanted))}, got {shown(value)}"
        elif keyword == "contains":
            least, most = error.schema.get("minContains", 1), error.schema.get("maxContains")
            upper = "" if most is None else f" and at most {most}"
            fitting = f"at least {least}{upper} items that fit {_wanted(wanted)}"
            yield f"{path}: expected {fitting}, got {error.count}"
        elif keyword in ("anyOf", "oneOf") and error.forms:
            yield from self._of_forms(path, error)
        elif keyword == "oneOf":
            yield f"{path}: fits more than one of the forms, of which it must fit exactly one"
        elif wanted == {}:
            yield f"{path}: nothing is allowed here, got {shown(value)}"
        else:
            yield f"{path}: expected what does not fit {_wanted(wanted)}, got {shown(value)}"

    def of_unknown(
        self,
        path: str,
        names: Iterable[str],
        known: Collection[str],
        patterns: Collection[str] = (),
    ) -> Iterator[str]:
        """A line for each name that nobody declared, with the one that it may stand for."""
        some = [*islice(known, MAX_WANTED_CHARS)]
        declared = [", ".join(map(_named, some))] if some else []
        declared += [f"names that match {' or '.join(map(_wanted, patterns))}"] if patterns else []
        allowed = (
            f"known are {_clipped(', and '.join(declared))}" if declared else "none is allowed"
        )
        for name in names:
            if path == "$":
                if name in self.refused:
                    continue
                self.refused.add(name)
            near = self._nearest(name, known)
            hint = f"did you mean {_named(near)}?" if near else allowed
            yield f"{path}: unknown property {_named(name)}" + (f"; {hint}" if hint else "")
            allowed = allowed if near else ""  # said once

    def _of_enum(self, path: str, wanted: list, value: object) -> str:
        near = None
        if isinstance(value, str):
            near = self._nearest(value, [other for other in wanted if isinstance(other, str)])
        hint = f"; did you mean {_named(near)}?" if near else ""
        return f"{path}: expected one of {_wanted(wanted)}, got {shown(value)}{hint}"

    def _nearest(self, name: str, known: Collection[str]) -> str | None:
        self._comparisons -= len(known)
        return nearest(name, known) if self._comparisons >= 0 else None

    def _of_forms(self, path: str, error: object) -> Iterator[str]:
        """What the alternatives that were meant find wrong: of one alone, all as of no form."""
        self._forms -= 1
        if self._forms < 0:
            yield f"{path}: fits none of the allowed forms"
            return
        forms = _closest(error)
        if len(forms) == 1:
            yield from chain.from_iterable(map(self.of, chain(*forms[0])))
        elif kinds := _kinds(forms):
            place = json_path(kinds[0].absolute_path)
            yield self._of_enum(place, [*map(_kind, kinds)], kinds[0].instance)
        else:
            said, length = {}, 0
            for line in chain.from_iterable(map(self.of, chain(*(first for first, _ in forms)))):
                said[line] = None
                length += len(line)
                if length > MAX_WANTED_CHARS:
                    break
            yield f"{path}: fits none of the allowed forms ({_clipped('; or '.join(said))})"


def declared_names(schema: dict) -> list[str]:
    """The properties of a schema that may be there: all but those that it declares `false`."""
    properties = schema.get("properties", {})
    return [name for name, inner in properties.items() if inner is not False and inner != NOTHING]


def missing_property(name: str, path: str = "$") -> str:
    """The line for a required property that is not there."""
    return f"{path}: the required property {_named(name)} is missing"


def not_an_object(arguments: object) -> str:
    """The line for arguments that are no object; for text, whether it was at least JSON."""
    if not isinstance(arguments, str):
        return f"$: expected an object, got {typed(arguments)}"
    fault = "send the object itself"
    try:
        json.loads(arguments)
    except json.JSONDecodeError as error:
        fault = f"which is no valid JSON either ({error})"
    except (ValueError, RecursionError):  # JSON that Python does not read, by its own limits
        pass
    return f"$: expected an object, got text, {fault}: {shown(arguments)}"


Form = tuple[list[object], Iterator[object]]
"""The errors of an alternative: the first, and the rest, which are found when they are told."""


def _closest(error: object) -> list[Form]:
    """The alternatives that were meant, by the value's type and kind, the nearest first."""
    forms = []
    for form in error.forms:
        errors = _within(error, form)
        forms.append(([*islice(errors, MAX_ERRORS)], errors))
    for is_other in (_is_nothing, _is_other_type, _is_other_kind):
        forms = [form for form in forms if not any(map(is_other, form[0]))] or forms
    return sorted(forms, key=lambda form: sum(map(_weight, form[0])))


def _weight(error: object) -> int:
    """How many faults an error stands for, as far as it is easily said."""
    if error.validator == "required":
        return sum(name not in error.instance for name in error.validator_value)
    return len(getattr(error, "refused", "1"))


def _within(outer: object, errors: Iterable[object]) -> Iterator[object]:
    for error in errors:
        error.parent = outer
        if hasattr(outer, "is_name"):
            error.is_name = True
        yield error


def _kinds(forms: list[Form]) -> list[object]:
    """The errors of a property that tells all these forms apart, and fits none; or no errors."""
    by_name: dict[object, list[object]] = {}
    for first, _ in forms:
        for error in filter(_is_other_kind, first):
            by_name.setdefault(error.relative_path[0], []).append(error)
    return next((kinds for kinds in by_name.values() if len(kinds) == len(forms)), [])


def _kind(error: object) -> object:
    return error.validator_value if error.validator == "const" else error.validator_value[0]


def _is_nothing(error: object) -> bool:
    return error.validator == "not" and error.validator_value == {} and not error.relative_path


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

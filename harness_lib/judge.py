"""jsonschema as the argument check uses it: exact, bounded, and nothing fetched. Lesson 05.

The Draft 2020-12 validator with four keywords done otherwise: alternatives are counted, so that
a small text cannot keep it busy for minutes; uniqueItems compares by hash; multipleOf is exact.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_ALTERNATIVES = 10_000
"""How many anyOf and oneOf one check may go through: nested in each other, they multiply."""

_spent = threading.local()


class TooManyAlternatives(Exception):
    """The alternatives of a schema multiply on this value: it is refused, not waited for."""

    def __str__(self) -> str:
        return "its alternatives are nested too deep to be tried"


class NoInteger(float):
    """An integral float that the schema is asked to take as a number, not as an integer."""


def judge_for(schema: dict[str, object]) -> Validator:
    """A validator for a checked schema. Slow to make: once a tool, and on first use."""
    from referencing import Registry  # an empty one: the default would fetch over HTTP

    return _validator_class()(schema, registry=Registry())


def start_counting() -> None:
    """Begin a check: what alternatives cost is counted from here on, in this thread."""
    _spent.alternatives = 0


@functools.cache
def _validator_class() -> type:
    from jsonschema import Draft202012Validator, validators  # slow to import, so on first use

    keywords = Draft202012Validator.VALIDATORS
    integer = Draft202012Validator.TYPE_CHECKER.is_type
    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, v: not isinstance(v, NoInteger) and integer(v, "integer")
    )
    changed = {
        "anyOf": _counted(keywords["anyOf"]),
        "oneOf": _counted(keywords["oneOf"]),
        "uniqueItems": _unique_items,
        "multipleOf": _multiple_of,
    }
    return validators.extend(Draft202012Validator, changed, type_checker=checker)


def _counted(keyword: Callable) -> Callable:
    def judge(validator, alternatives, value, schema) -> Iterator:
        _spent.alternatives = getattr(_spent, "alternatives", 0) + 1
        if _spent.alternatives > MAX_ALTERNATIVES:
            raise TooManyAlternatives
        return keyword(validator, alternatives, value, schema)

    return judge


def _unique_items(validator, unique, value, schema) -> Iterator:
    from jsonschema import ValidationError

    if unique and isinstance(value, list) and len({*map(_hashable, value)}) < len(value):
        yield ValidationError("an item comes twice")


def _hashable(value: object) -> object:
    """Equal for equal JSON values alone: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, list):
        return ("array", *map(_hashable, value))
    if isinstance(value, dict):
        return ("object", frozenset((name, _hashable(item)) for name, item in value.items()))
    return (type(value), value) if isinstance(value, bool) else value


def _multiple_of(validator, step, value, schema) -> Iterator:
    from jsonschema import ValidationError

    # As decimals, which is what was written: in floats, 19.99 is no multiple of 0.01.
    if validator.is_type(value, "number") and Fraction(repr(value + 0)) % Fraction(repr(step)):
        yield ValidationError("not a multiple")

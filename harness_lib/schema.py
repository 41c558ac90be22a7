"""Is this JSON Schema fit to guard a tool? Asked once, at registration. Built in lesson 05.

A schema that is only shown to the model guards nothing, and one that is half understood guards
half. So registration fails closed: what nobody would enforce is refused, not ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness_lib.binding import is_closed
from harness_lib.compiled import compiled
from harness_lib.json_value import json_copy, json_path, nearest
from harness_lib.pattern import Pattern

ENFORCED = frozenset(
    "$ref $dynamicRef $dynamicAnchor additionalProperties allOf anyOf const contains"
    " dependentRequired dependentSchemas else enum exclusiveMaximum exclusiveMinimum if items"
    " maxContains maxItems maxLength maxProperties maximum minContains minItems minLength"
    " minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems properties"
    " propertyNames required then type unevaluatedItems unevaluatedProperties uniqueItems".split()
)
"""The keywords that jsonschema's Draft 2020-12 validator enforces."""

ANNOTATIONS = frozenset(
    "title description default examples example deprecated readOnly writeOnly format"
    " contentEncoding contentMediaType contentSchema discriminator externalDocs xml"
    " $comment $schema $id $anchor $defs definitions".split()
)
"""The keywords that constrain nothing by design; `x-...` is one too."""

MODERN = {
    "nullable": '"type": ["string", "null"]',
    "dependencies": "dependentRequired or dependentSchemas",
    "additionalItems": "prefixItems and items",
    "$recursiveRef": "$dynamicRef",
    "$recursiveAnchor": "$dynamicAnchor",
    "id": "$id",
}
"""Older spellings that look like a constraint and are none in Draft 2020-12."""

PARTNERS = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
"""Keywords that mean nothing without another one."""

PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The API refuses a whole request in which one tool has another name at the top level."""

_MAPS_OF_SCHEMAS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
_LISTS_OF_SCHEMAS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_SCHEMAS = {
    *("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
}
_IN_PLACE = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}


def checked_schema(schema: object) -> dict[str, object]:
    """A detached copy of an input schema that can be shown to the model and enforced.

    Raises ValueError, naming the place and the fault, for what is not plain JSON with finite
    numbers, not an object schema, not valid Draft 2020-12, holds a keyword that nobody enforces,
    or a `$ref` that leads nowhere, outside, or round in a circle.
    """
    own, faults = json_copy(schema)
    if faults:
        raise ValueError(f"the schema is not plain JSON: {faults[0]}")
    if not isinstance(own, dict) or own.get("type") != "object":
        raise ValueError('the schema is not an object schema: its root needs "type": "object"')
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in own:
            raise ValueError(f"the API refuses {keyword!r} at the root: move it into a property")
    if not compiled(own):  # what is recognised there is valid, and slow to ask jsonschema about
        for path, subschema in _subschemas(own):
            _check_keywords(json_path(path), subschema)
        _check_validity(own)
        enforced_part(own)
    for name in own.get("properties", ()):
        if not PROPERTY_NAME.fullmatch(name):
            raise ValueError(
                f"the API refuses the property name {name[:80]!r}: "
                f"1 to 64 of letters, digits, '_', '.', '-'"
            )
    if is_closed(own):
        for name in own.get("required", ()):
            if name not in own.get("properties", ()):
                raise ValueError(f"it requires {name[:80]!r}, which it does not allow")
    return own


class Reference(str):
    """A `$ref` as it was written, with the schema that it leads to."""

    target: dict[str, object]


def enforced_part(schema: dict[str, object]) -> dict[str, object]:
    """A copy for judge.py, which reads no pattern, follows no reference and meets no boolean.

    Without `$schema`, for which jsonschema would change to an older draft's rules. Raises
    ValueError for a pattern that Python cannot read and a `$ref` that leads to no schema in it.
    """
    own, _ = json_copy(schema)
    for path, inner in _subschemas(own):
        inner.pop("$schema", None)
        for (*outer, key), child in list(_children((), inner)):
            if isinstance(child, bool):  # as a schema with a keyword, which an error can name
                (inner[outer[0]] if outer else inner)[key] = {} if child else {"not": {}}
        if "pattern" in inner:
            inner["pattern"] = _pattern(path, inner["pattern"])
        if by_pattern := inner.get("patternProperties"):
            inner["patternProperties"] = {_pattern(path, p): s for p, s in by_pattern.items()}
    _link_references(own)
    return own


def _pattern(path: tuple, written: str) -> Pattern:
    try:
        return Pattern(written)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(
            f"{json_path(path)}: Python cannot read the pattern {written[:80]!r}: "
            f"{getattr(error, 'msg', error)}"
        ) from None


def _subschemas(root: dict[str, object]) -> Iterator[tuple[tuple, dict[str, object]]]:
    """Every object in a schema position, with its path. Values of enum, default, ... are none."""
    waiting: list[tuple[tuple, object]] = [((), root)]
    while waiting:
        path, schema = waiting.pop()
        if isinstance(schema, dict):
            yield path, schema
            waiting += reversed(list(_children(path, schema)))


def _children(path: tuple, schema: dict[str, object]) -> Iterator[tuple[tuple, object]]:
    for keyword, value in schema.items():
        if keyword in _MAPS_OF_SCHEMAS and isinstance(value, dict):
            yield from (((*path, keyword, name), child) for name, child in value.items())
        elif keyword in _LISTS_OF_SCHEMAS and isinstance(value, list):
            yield from (((*path, keyword, index), child) for index, child in enumerate(value))
        elif keyword in _SCHEMAS:
            yield (*path, keyword), value


def _check_keywords(place: str, schema: dict[str, object]) -> None:
    for keyword in schema:
        if keyword in MODERN:
            raise ValueError(
                f"{place}: {keyword!r} is not enforced in Draft 2020-12; write {MODERN[keyword]}"
            )
        partner = PARTNERS.get(keyword)
        if partner and partner not in schema:
            raise ValueError(f"{place}: {keyword!r} means nothing without {partner!r}")
        if keyword in ENFORCED or keyword in ANNOTATIONS or keyword.startswith("x-"):
            continue
        near = nearest(keyword, sorted(ENFORCED | ANNOTATIONS))
        hint = f"; did you mean {near!r}?" if near else "; an annotation of your own is 'x-...'"
        raise ValueError(f"{place}: nobody enforces the keyword {keyword[:80]!r}{hint}")


def _check_validity(own: dict[str, object]) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(own, format_checker=None)
    except SchemaError as error:
        raise ValueError(
            f"not a valid schema: {json_path(error.absolute_path)}: {error.message[:200]}"
        ) from None


def _link_references(own: dict[str, object]) -> None:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    schemas = {id(schema): path for path, schema in _subschemas(own)}
    anchors = [s["$dynamicAnchor"] for _, s in _subschemas(own) if "$dynamicAnchor" in s]
    if len({*anchors}) < len(anchors):
        raise ValueError("two schemas have the same $dynamicAnchor: which is meant would vary")
    targets: dict[int, list[object]] = {}  # which schemas judge the same value as this one
    links: list[tuple[dict, str, Reference]] = []
    root = Registry().resolver_with_root(DRAFT202012.create_resource(own))
    waiting: list[tuple[tuple, object, object]] = [((), own, root)]
    while waiting:
        path, schema, resolver = waiting.pop()
        if "$id" in schema and path:
            resolver = resolver.in_subresource(DRAFT202012.create_resource(schema))
        same_value = targets[id(schema)] = []
        for keyword in ("$ref", "$dynamicRef"):
            if keyword not in schema:
                continue
            try:
                target = resolver.lookup(schema[keyword]).contents
            except Exception:  # a pointer may lead into anything, and raise anything there
                target = None
            if id(target) not in schemas:
                raise ValueError(
                    f"{json_path(path)}: {keyword} {schema[keyword][:80]!r} "
                    f"leads to no schema inside this one (nothing is ever fetched)"
                )
            same_value.append(target)
            links.append((schema, keyword, Reference(schema[keyword])))
            links[-1][2].target = target
        for child_path, child in _children(path, schema):
            waiting.append((child_path, child, resolver))
            if child_path[len(path)] in _IN_PLACE:
                same_value.append(child)
    _check_circles(own, schemas, targets)
    for schema, keyword, reference in links:
        schema[keyword] = reference


def _check_circles(own: dict, schemas: dict[int, tuple], targets: dict[int, list]) -> None:
    """A schema may lead back to itself for a part of the value, never for the same value."""
    finished: set[int] = set()
    for start in targets:
        trail: list[tuple[int, Iterator]] = [(start, iter(targets[start]))]
        on_trail = {start}
        while trail:
            here, rest = trail[-1]
            following = next((t for t in rest if id(t) in targets and id(t) not in finished), None)
            if following is None:
                finished.add(here)
                on_trail.discard(here)
                trail.pop()
            elif id(following) in on_trail:
                raise ValueError(f"{json_path(schemas[here])}: leads back to itself in a circle")
            else:
                on_trail.add(id(following))
                trail.append((id(following), iter(targets[id(following)])))

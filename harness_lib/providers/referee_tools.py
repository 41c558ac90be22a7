"""Would the API accept a request's tools? The part of the referee that judges them.

Judged are entries of type "custom" or of none; the others are the API's own tools, of which only
the names are looked at.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

TOOL_FIELDS = frozenset(
    "type name description input_schema allowed_callers cache_control defer_loading "
    "eager_input_streaming input_examples strict".split()
)


def tool_faults(tools: object) -> Iterator[str]:
    names: set[str] = set()
    if not isinstance(tools, list):
        yield "tools: must be a list"
        return
    for index, tool in enumerate(tools):
        place = f"tools.{index}"
        kind = tool.get("type") or "custom" if isinstance(tool, dict) else None
        if not isinstance(kind, str):
            yield f"{place}: must be a tool with a `type` that is text, or without one"
            continue
        name = tool.get("name")
        if isinstance(name, str) and name in names:
            yield f"{place}.name: tool names must be unique: {name}"
        names.add(str(name))
        if kind == "custom":
            yield from _custom_faults(f"{place}.custom", tool)


def _custom_faults(place: str, tool: dict) -> Iterator[str]:
    name = tool.get("name")
    if not isinstance(name, str):
        yield f"{place}.name: field required"
    elif not TOOL_NAME.fullmatch(name):
        yield f"{place}.name: must match the pattern '^{TOOL_NAME.pattern}$'"
    for field in sorted(tool.keys() - TOOL_FIELDS):
        yield f"{place}.{field}: extra inputs are not permitted"
    if not isinstance(tool.get("description", ""), str):
        yield f"{place}.description: must be text"
    yield from _schema_faults(f"{place}.input_schema", tool.get("input_schema"))


def _schema_faults(place: str, schema: object) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{place}: field required"
        return
    if schema.get("type") != "object":
        yield f'{place}.type: must be "object"'
    if {"oneOf", "allOf", "anyOf"} & set(schema):
        yield f"{place}: does not support oneOf, allOf, or anyOf at the top level"
    if fault := _validity_fault(json.dumps(schema)):
        yield f"{place}: is no valid JSON Schema of draft 2020-12: {fault}"
        return
    for name in schema.get("properties", ()):
        if not PROPERTY_NAME.fullmatch(name):
            yield f"{place}.properties: keys must match the pattern '^{PROPERTY_NAME.pattern}$'"


@functools.lru_cache(maxsize=256)  # every request carries all the tools again
def _validity_fault(schema: str) -> str:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(json.loads(schema), format_checker=None)
    except SchemaError as error:
        return error.message[:200]
    return ""

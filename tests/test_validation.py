"""The course's subset against the boundary with jsonschema behind it: the same verdict."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness_lib import ToolCall, ToolRegistry, ToolSpec
from harness_lib.json_value import json_copy, json_path
from harness_lib.validation import check_subset

NAMES = ["a", "b", "limit", "self"]
scalars = st.sampled_from(["string", "integer", "number", "boolean", "array", "object"])


@st.composite
def subset_schemas(draw, depth=2):
    """An object schema that uses the subset's keywords and no other."""
    schema = {"type": "object"}
    properties = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        kind = draw(scalars)
        inner = {"type": kind}
        if kind in ("integer", "number") and draw(st.booleans()):
            inner["minimum"] = draw(st.integers(-3, 3) | st.floats(-3, 3))
        if kind == "object" and depth and draw(st.booleans()):
            inner = draw(subset_schemas(depth=depth - 1))
        properties[name] = inner
    if properties or draw(st.booleans()):
        schema["properties"] = properties
    if draw(st.booleans()):
        schema["required"] = draw(st.lists(st.sampled_from(NAMES), unique=True))
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    return schema


numbers = (
    st.integers(-5, 5)
    | st.floats(-5, 5)
    | st.integers(-5, 5).map(float)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=3),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, "x"]), v, max_size=4),
    max_leaves=8,
)  # fmt: skip


@st.composite
def near_misses(draw, schema):
    """Arguments made after the schema, so that many are valid, with a few slips."""
    kind = schema.get("type")
    if kind != "object" or draw(st.integers(0, 9)) == 0:
        fitting = {
            "string": st.text(max_size=3),
            "integer": st.integers(-5, 5) | st.integers(-5, 5).map(float),
            "number": numbers,
            "boolean": st.booleans(),
            "array": st.lists(st.integers(), max_size=2),
        }.get(str(kind), values)
        return draw(fitting if draw(st.integers(0, 9)) else values)
    made = {}
    for name, inner in schema.get("properties", {}).items():
        if name in schema.get("required", ()) or draw(st.booleans()):
            made[name] = draw(near_misses(inner))
    if draw(st.integers(0, 4)) == 0:
        made[draw(st.sampled_from([*NAMES, "x"]))] = draw(values)
    return made


cases = subset_schemas().flatmap(lambda s: st.tuples(st.just(s), near_misses(s) | values))


@given(cases)
def test_same_verdict(case):
    schema, arguments = case
    if "required" in schema:
        known = schema.get("properties", {})
        schema = {**schema, "properties": {**{n: {} for n in schema["required"]}, **known}}
    registry = ToolRegistry([ToolSpec("t", "", schema, lambda **kw: "ran")])
    result = registry.dispatch(ToolCall("1", "t", arguments))
    assert result.error_code in (None, "invalid_arguments")
    assert result.ok == (check_subset(schema, arguments) == []), result.content


def test_the_subset_ignores_what_it_does_not_know():
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^x"}}}
    assert check_subset(schema, {"a": "y"}) == []


def test_the_subset_lists_all_violations():
    inner = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    schema = {"type": "object", "properties": {"a": inner}, "required": ["b"]}
    schema["additionalProperties"] = False
    assert check_subset(schema, {"a": {"n": 0}, "x": 1}) == [
        "$: b is missing",
        "$.a.n: expected at least 1, got 0",
        "$: x is unknown",
    ]


@given(values)
def test_a_copy_is_equal_and_detached(value):
    copy, faults = json_copy(value)
    assert faults == []
    assert json.dumps(copy) == json.dumps(value)
    assert copy is not value or not isinstance(value, (dict, list))


def test_paths():
    assert json_path(["a", 0, "cik-A", "b_2", "é", '"']) == '$.a[0]["cik-A"].b_2["é"]["\\""]'
    assert json_path([]) == "$"

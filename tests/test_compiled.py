"""The compiled check against jsonschema: it may only accept what jsonschema accepts.

A second verdict on the accepting side is the dangerous one, so the two are held together on
generated schemas and arguments, and the property is shown to notice a wrong check.
"""

import json
import subprocess
import sys

import pytest
from hypothesis import Phase, event, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from jsonschema import Draft202012Validator

from harness_lib import ToolCall, ToolRegistry, ToolSpec, compiled
from harness_lib.binding import HandlerKeywords
from harness_lib.compiled import UNSURE
from harness_lib.json_value import json_copy
from harness_lib.validation import ArgumentValidator
from tests.test_validation import values

NAMES = ["a", "b", "self"]
bounds = st.integers(-3, 3) | st.floats(-3, 3)


@st.composite
def schemas(draw, depth=2, kind=None):
    """Schemas mostly within the compiled subset, some a step outside of it."""
    kinds = ["string", "integer", "number", "boolean", "object", "object", "object", "array"]
    is_root = kind is not None
    kind = kind or draw(st.sampled_from(kinds))
    schema = {"type": kind}
    if draw(st.integers(0, 5)) == 0:
        schema["description"] = draw(st.text(max_size=3))
    if draw(st.integers(0, 12)) == 0:
        schema |= draw(st.sampled_from([{"enum": [1, "a"]}, {"multipleOf": 2}, {"type": ["null"]}]))
    if kind in ("integer", "number"):
        for keyword in draw(st.lists(st.sampled_from(["minimum", "maximum"]), unique=True)):
            schema[keyword] = draw(bounds)
    elif kind == "string":
        for keyword in draw(st.lists(st.sampled_from(["minLength", "maxLength"]), unique=True)):
            schema[keyword] = draw(st.integers(0, 3))
        if draw(st.integers(0, 2)) == 0:
            schema["pattern"] = draw(st.sampled_from(["^a", "b$", "^[^\\x00]*$", "."]))
    elif kind == "object":
        names = (
            draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=is_root)) if depth else []
        )
        schema["properties"] = {name: draw(schemas(depth=depth - 1)) for name in names}
        schema["required"] = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
        if draw(st.integers(0, 5)):
            schema["additionalProperties"] = False
    return schema


strange = st.sampled_from(
    [float("nan"), float("inf"), 10**30, -(10**30), "\ud800", "\x00", (), b""]
)
OF_TYPE = {
    "string": st.sampled_from(["", "a", "ab", "abc", "b", "b\n", "é"]),
    "integer": st.integers(-4, 4) | st.sampled_from([2.0, True]),
    "number": bounds,
    "boolean": st.booleans(),
}


@st.composite
def arguments_for(draw, schema):
    """Mostly what the schema wants, so that much is accepted, with slips at any depth."""
    if draw(st.integers(0, 15)) == 0:
        return draw(values | strange)
    if schema["type"] != "object":
        return draw(OF_TYPE.get(str(schema["type"]), values))
    made = {
        name: draw(arguments_for(inner))
        for name, inner in schema["properties"].items()
        if draw(st.integers(0, 4))
    }
    if draw(st.integers(0, 9)) == 0:
        made["x"] = draw(values)
    return made


pairs = (schemas(kind="object") | schemas()).flatmap(
    lambda schema: st.tuples(st.just(schema), arguments_for(schema))
)


def agrees(schema, value, compile=compiled.compiled):
    """What is recognised is valid; what is accepted is accepted by jsonschema, copied, equal."""
    check = compile(schema)
    if check is None:
        event("not recognised")
        return True
    Draft202012Validator.check_schema(schema)
    own = check(value)
    event("unsure" if own is UNSURE else "accepted")
    if own is UNSURE:
        return True
    walked, faults = json_copy(value)
    return (
        faults == []
        and Draft202012Validator(schema).is_valid(value)
        and repr(own) == repr(walked)
        and (own is not value or not isinstance(value, dict))
    )


@given(pairs)
@settings(max_examples=300)
def test_it_accepts_only_what_jsonschema_accepts(pair):
    assert agrees(*pair)


@given(pairs)
@settings(max_examples=200)
def test_with_and_without_it_dispatch_says_the_same(pair):
    inner, value = pair
    schema = {"type": "object", "properties": {"v": inner}, "required": ["v"]}
    schema["additionalProperties"] = False
    keywords = HandlerKeywords.of(lambda **kw: None, schema)
    fast, slow = ArgumentValidator(schema, keywords), ArgumentValidator(schema, keywords)
    slow._accept = None
    assert repr(fast.check({"v": value})) == repr(slow.check({"v": value}))


def takes_true_for_an_integer(schema):
    check = compiled.compiled(schema)
    if schema.get("type") != "integer" or check is None:
        return check
    return lambda value: value if isinstance(value, bool) else check(value)


def forgets_required(schema):
    return compiled.compiled({**schema, "required": []} if "required" in schema else schema)


def forgets_the_end_of_a_range(schema):
    return compiled.compiled({k: v for k, v in schema.items() if k != "maximum"})


def hands_the_value_on(schema):
    check = compiled.compiled(schema)
    return check and (lambda value: UNSURE if check(value) is UNSURE else value)


@pytest.mark.parametrize(
    "wrong",
    [takes_true_for_an_integer, forgets_required, forgets_the_end_of_a_range, hands_the_value_on],
)
def test_a_wrong_check_is_noticed(wrong):
    try:
        find(
            pairs,
            lambda pair: not agrees(*pair, compile=wrong),
            settings=settings(max_examples=3000, database=None, phases=[Phase.generate]),
        )
    except NoSuchExample:
        pytest.fail(f"nobody noticed {wrong.__name__}")


NOT_RECOGNISED = {
    "open": {"type": "object"},
    "a type list": {"type": ["string", "null"]},
    "an unknown keyword": {"type": "string", "types": "x"},
    "a known one elsewhere": {"type": "string", "minimum": 3},
    "a bad bound": {"type": "integer", "minimum": "1"},
    "a true bound": {"type": "integer", "minimum": True},
    "a bad length": {"type": "string", "minLength": -1},
    "a bad pattern": {"type": "string", "pattern": "("},
    "required twice": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "a"], "additionalProperties": False},
    "required, not a property": {"type": "object", "required": ["a"], "additionalProperties": False},
    "required as text": {"type": "object", "properties": {}, "required": "a", "additionalProperties": False},
    "a title that is no text": {"type": "string", "title": 7},
    "an array": {"type": "array"},
    "true": True,
    "a bad inner one": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
}  # fmt: skip


@pytest.mark.parametrize("schema", NOT_RECOGNISED.values(), ids=NOT_RECOGNISED)
def test_what_is_not_recognised(schema):
    assert compiled.compiled(schema) is None


UNSURE_OF = [5.0, True, "5", None, 10**19, float("nan"), [5], {"n": 5}]


@pytest.mark.parametrize("value", UNSURE_OF, ids=repr)
def test_what_it_leaves_to_others(value):
    assert compiled.compiled({"type": "integer"})(value) is UNSURE


def test_the_five_tools_import_nothing_heavy_until_a_call_is_refused():
    code = """
import sys, tempfile
from harness_lib import ToolCall, ToolRegistry, workspace_tools
heavy = {"anthropic", "jsonschema", "referencing", "ipywidgets", "IPython"}
with tempfile.TemporaryDirectory() as folder:
    registry = ToolRegistry(workspace_tools(folder))
    registry.model_schemas()
    written = registry.dispatch(ToolCall("1", "write_file", {"path": "a", "content": "\\u00e9"}))
    assert written.ok
    assert registry.dispatch(ToolCall("2", "read_file", {"path": "a", "limit": 1})).ok
    print(sorted(heavy & set(sys.modules)))
    assert not registry.dispatch(ToolCall("3", "read_file", {})).ok
    print("jsonschema" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nTrue\n"


def test_a_refusal_reads_the_same_on_both_ways():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}  # fmt: skip
    registry = ToolRegistry([ToolSpec("t", "", schema, lambda n: n)])
    content = registry.dispatch(ToolCall("1", "t", {"n": "5", "m": 1})).content
    assert content.splitlines() == [
        'Error [invalid_arguments]: $.n: expected integer, got string "5"',
        '$: unknown property "m"; known are "n"',
    ]
    assert json.loads(registry.dispatch(ToolCall("1", "t", {"n": 5.0})).content) == 5

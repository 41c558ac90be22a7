"""dispatch: look up, validate, run; exactly one result for any call and any handler."""

import asyncio
import json
import math
import threading
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_lib import ToolCall, ToolError, ToolRegistry, ToolSpec, object_schema
from harness_lib.result import MAX_CONTENT_CHARS


def registry_of(handler, schema=None, **more):
    schema = {"type": "object"} if schema is None else schema
    return ToolRegistry([ToolSpec("tool", "A tool.", schema, handler, **more)])


def dispatch(handler, arguments=None, schema=None):
    return registry_of(handler, schema).dispatch(ToolCall("id", "tool", arguments or {}))


# --- look up -----------------------------------------------------------------------------------


class EvilName(str):
    def __hash__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError


@pytest.mark.parametrize("name", ["tol", "", "x" * 10_000, None, 7, [], {}, {1}, b"tool", "\ud800"])
def test_unknown_tool(name):
    result = registry_of(lambda **kw: "ran").dispatch(ToolCall("id", name, {}))
    assert result.error_code == "unknown_tool"
    assert result.content.startswith("Error [unknown_tool]: ")
    assert len(result.content) < 300


def test_an_unknown_name_gets_the_nearest_known_one():
    assert "did you mean 'tool'?" in registry_of(dict).dispatch(ToolCall("1", "tol", {})).content


def test_a_name_is_looked_up_by_its_text():
    assert registry_of(lambda **kw: "ran").dispatch(ToolCall("1", EvilName("tool"), {})).ok


def test_unknown_comes_before_invalid_and_invalid_before_running():
    ran = []
    registry = registry_of(lambda **kw: ran.append(kw), object_schema({}))
    assert registry.dispatch(ToolCall("1", "other", "no object")).error_code == "unknown_tool"
    assert registry.dispatch(ToolCall("1", "tool", "no object")).error_code == "invalid_arguments"
    assert registry.dispatch(ToolCall("1", "tool", {"x": 1})).error_code == "invalid_arguments"
    assert ran == []


def test_one_envelope_for_every_failure():
    def fail(**kw):
        raise TimeoutError("too slow")

    registry = registry_of(fail)
    calls = [ToolCall("1", "x", {}), ToolCall("2", "tool", []), ToolCall("3", "tool", {})]
    results = registry.dispatch_many(calls)
    codes = ["unknown_tool", "invalid_arguments", "execution_error"]
    assert [r.error_code for r in results] == codes
    for call, code, block in zip(
        calls, codes, [r.to_protocol_block() for r in results], strict=True
    ):
        assert block.pop("content").startswith(f"Error [{code}]: ")
        assert block == {"type": "tool_result", "tool_use_id": call.tool_use_id, "is_error": True}


# --- arguments ---------------------------------------------------------------------------------

STRICT = object_schema(
    {
        "path": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1},
        "ratio": {"type": "number"},
        "deep": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
        "flag": {"type": "boolean"},
        "user": {"type": "object"},
        "mode": {"enum": ["r", "w"]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    ["path"],
)


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({}, ['$: the required property "path" is missing']),
        (
            {"pth": "a"},
            ['property "path" is missing', 'unknown property "pth"; did you mean "path"?'],
        ),
        ({"path": "a", "zz": 1}, ['unknown property "zz"; known are "path", "limit"']),
        (
            {"path": 1, "limit": "5"},
            ["$.path: expected string, got integer 1", '$.limit: expected integer, got string "5"'],
        ),
        ({"path": "a", "limit": True}, ["$.limit: expected integer, got boolean true"]),
        ({"path": "a", "ratio": True}, ["$.ratio: expected number, got boolean true"]),
        ({"path": "a", "limit": 0}, ["$.limit: expected at least 1, got 0"]),
        ({"path": "a", "limit": 1.5}, ["$.limit: expected integer, got number 1.5"]),
        ({"path": "a", "limit": None}, ["$.limit: expected integer, got null"]),
        ({"path": "a", "flag": "false"}, ['$.flag: expected boolean, got string "false"']),
        ({"path": "a", "flag": None}, ["$.flag: expected boolean, got null"]),
        ({"path": "a", "user": '{"username": "t"}'}, ["$.user: expected object, got string"]),
        ({"path": ""}, ['$.path: expected at least 1 characters, got ""']),
        ({"path": "a", "mode": "x"}, ['$.mode: expected one of ["r", "w"], got "x"']),
        (
            {"path": "a", "either": "x"},
            ["$.either: fits none of the allowed forms ($.either: expected integer"],
        ),
        ({"path": "a", "deep": [{}, {"n": "x"}]}, ["$.deep[1].n: expected integer"]),
        ({"path": "a", "ratio": math.nan}, ["$.ratio: nan is no JSON"]),
        ({"path": "a", "deep": [{"n": math.inf}]}, ["$.deep[0].n: inf is no JSON"]),
        ({"path": "\ud800"}, ["$.path: the text holds half of a surrogate pair"]),
        ({"path": "a", "limit": 10**5000}, ["$.limit: the integer is too long"]),
        ({"path": b"a"}, ["$.path: bytes is no JSON type"]),
        ({1: "a"}, ["$: a name must be text, not int"]),
        (
            {"path": "x" * 9_000, "limit": "y" * 9_000},
            ['$.limit: expected integer, got string "yyy'],
        ),
    ],
)
def test_every_violation_is_listed_with_its_path(arguments, lines):
    entered = []
    result = dispatch(lambda **kw: entered.append(kw), arguments, STRICT)
    assert result.error_code == "invalid_arguments"
    for line in lines:
        assert line in result.content
    assert len(result.content) < 500
    assert entered == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["oops"], 'expected an object, got array ["oops"]'),
        (None, "expected an object, got null"),
        ("", "expected an object, got text"),
        ('{"path": "a"}', "got text, send the object itself: "),
        ('{"path": "a.py", "content": "', "which is no valid JSON either"),
        (7, "expected an object, got integer 7"),
        (object(), "expected an object, got object"),
    ],
)
def test_arguments_that_are_no_object(arguments, line):
    result = registry_of(lambda **kw: "ran").dispatch(ToolCall("1", "tool", arguments))
    assert result.error_code == "invalid_arguments"
    assert line in result.content


def deep(levels, value="x"):
    for _ in range(levels):
        value = [value]
    return {"a": value}


def circle():
    value = []
    value.append(value)
    return {"a": value}


def bomb():
    value = []
    for _ in range(90):
        value = [value, value]
    return {"a": value}


@pytest.mark.parametrize("arguments", [deep(101), deep(100_000), circle(), bomb()])
def test_what_cannot_be_walked_is_refused(arguments):
    assert dispatch(lambda **kw: "ran", arguments).error_code == "invalid_arguments"


def test_nesting_within_the_bound_is_fine_for_a_recursive_schema():
    tree = {"type": "array", "items": {"$ref": "#/$defs/tree"}}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/tree"}},
        "$defs": {"tree": tree},
    }
    assert dispatch(lambda a=None: "ok", deep(50, value=[]), schema).ok
    assert dispatch(lambda a=None: "ok", deep(50), schema).error_code == "invalid_arguments"


@pytest.mark.parametrize("value", [1e308, 1e-308, 10**400, -(10**400), 0.1])
def test_multiple_of_never_raises(value):
    for step in (0.01, 3, 1e-300):
        schema = object_schema({"n": {"type": "number", "multipleOf": step}})
        assert dispatch(lambda n=None: "ok", {"n": value}, schema).error_code in (
            None,
            "invalid_arguments",
        )


INTEGERS = {
    "integer": ({"type": "integer"}, 5.0, 5),
    "number": ({"type": "number"}, 5.0, 5.0),
    "either": ({"type": ["integer", "number"]}, 5.0, 5.0),
    "integer or text": ({"type": ["integer", "string"]}, 5.0, 5),
    "any": ({}, 5.0, 5.0),
    "huge": ({"type": "integer"}, 1e300, int(1e300)),
    "items": ({"type": "array", "items": {"type": "integer"}}, [1.0, 2, -3.0], [1, 2, -3]),
    "tuple": ({"prefixItems": [{"type": "integer"}, {"type": "number"}]}, [1.0, 1.0], [1, 1.0]),
    "$ref": ({"$ref": "#/$defs/i"}, 7.0, 7),
    "tree": ({"$ref": "#/$defs/tree"}, [[1.0], [[2.0]]], [[1], [[2]]]),
    "nullable": ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5.0, 5),
    "both branches": ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, 5.0, 5.0),
    "additional": ({"additionalProperties": {"type": "integer"}}, {"x": 1.0}, {"x": 1}),
    "pattern": ({"patternProperties": {"^i": {"type": "integer"}}}, {"i": 1.0, "n": 1.0}, {"i": 1, "n": 1.0}),
    "if then": ({"if": {"minimum": 3}, "then": {"type": "integer"}}, 5.0, 5),
    "if else": ({"if": {"minimum": 9}, "then": {"type": "integer"}}, 5.0, 5.0),
    "union, first": (
        {"oneOf": [
            {"properties": {"k": {"const": "i"}, "v": {"type": "integer"}}},
            {"properties": {"k": {"const": "n"}, "v": {"type": "number"}, "i": {"type": "integer"}}},
        ]},
        {"k": "i", "v": 5.0},
        {"k": "i", "v": 5},
    ),
    "union, second": (
        {"oneOf": [
            {"properties": {"k": {"const": "i"}, "v": {"type": "integer"}}},
            {"properties": {"k": {"const": "n"}, "v": {"type": "number"}, "i": {"type": "integer"}}},
        ]},
        {"k": "n", "v": 5.0, "i": 6.0},
        {"k": "n", "v": 5.0, "i": 6},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "sent", "expected"), INTEGERS.values(), ids=INTEGERS)
def test_an_integral_float_arrives_as_the_schema_says(schema, sent, expected):
    tree = {"type": ["array", "integer"], "items": {"$ref": "#/$defs/tree"}}
    whole = {"type": "object", "properties": {"a": schema}}
    whole["$defs"] = {"i": {"type": "integer"}, "tree": tree}
    got = []
    result = dispatch(lambda a=None: got.append(a), {"a": sent}, whole)
    assert result.ok, result.content
    assert repr(got) == repr([expected])


def test_handlers_get_their_own_copy():
    sent = {"a": {"b": [1]}}
    kept = []

    def spoil(a=None):
        kept.append(a)
        a["b"].append(2)

    registry = registry_of(spoil)
    registry.dispatch(ToolCall("1", "tool", sent))
    assert sent == {"a": {"b": [1]}}
    assert kept == [{"b": [1, 2]}]


def test_a_mapping_is_an_object():
    assert (
        dispatch(
            lambda a=None: json.dumps(a), MappingProxyType({"a": MappingProxyType({})})
        ).content
        == "{}"
    )


NAMES = ["self", "name", "config", "from", "cik-A", "cls", "args", "kwargs", "model_config", "call"]


@pytest.mark.parametrize("name", NAMES)
def test_json_names_need_not_be_python_names(name):
    schema = object_schema({name: {"type": "string"}}, [name])
    assert dispatch(lambda **kw: kw[name], {name: "v"}, schema).content == "v"


def test_a_handler_may_call_its_parameter_self():
    def handler(self, config):
        return self + config

    schema = object_schema({"self": {}, "config": {}}, ["self", "config"])
    assert dispatch(handler, {"self": "a", "config": "b"}, schema).content == "ab"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [({"a": 1, "zz": 2}, "takes no property 'zz'"), ({}, "needs the property 'a'")],
)
def test_arguments_that_an_open_schema_lets_through_must_still_bind(arguments, line):
    registry = registry_of(lambda a="x": a)
    schema = {"type": "object", "minProperties": 0, "required": ["a"]}
    needs = ToolRegistry([ToolSpec("tool", "", schema, lambda a: a)])
    open_needs = [registry, needs]["zz" not in arguments]
    result = open_needs.dispatch(ToolCall("1", "tool", arguments))
    assert result.error_code == "invalid_arguments"
    assert line in result.content or '"a" is missing' in result.content


def test_remote_references_are_never_fetched(monkeypatch):
    import socket

    def no_network(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", no_network)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    schema = object_schema({"a": {"$ref": "http://localhost/s.json"}})
    with pytest.raises(ValueError, match="nothing is ever fetched"):
        registry_of(lambda a: a, schema)


def test_an_older_drafts_name_does_not_switch_its_rules_on():
    old = "http://json-schema.org/draft-07/schema#"
    child = {"$schema": old, "prefixItems": [{"type": "integer"}]}
    schema = {"$schema": old, "type": "object", "properties": {"a": child}}
    assert dispatch(lambda a=None: "ok", {"a": ["x"]}, schema).error_code == "invalid_arguments"


# --- handlers ----------------------------------------------------------------------------------


def raises(error):
    def handler(**kw):
        raise error

    return handler


def recurse(**kw):
    return recurse(**kw)


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


async def awaited():
    return 1


async def async_generator():
    yield 1


FAILURES = {
    "exception": (raises(ValueError("bad")), "ValueError: bad"),
    "no message": (raises(ValueError()), "ValueError"),
    "ToolError": (raises(ToolError("in my words")), "Error [execution_error]: in my words"),
    "SystemExit": (raises(SystemExit(3)), "SystemExit: 3"),
    "CancelledError": (raises(asyncio.CancelledError()), "CancelledError"),
    "StopIteration": (raises(StopIteration(1)), "StopIteration: 1"),
    "GeneratorExit": (raises(GeneratorExit()), "GeneratorExit"),
    "MemoryError": (raises(MemoryError()), "MemoryError"),
    "RecursionError": (recurse, "RecursionError"),
    "broken str": (
        raises(Unspeakable()),
        "Unspeakable: (its message cannot be read: RuntimeError)",
    ),
    "group": (raises(ExceptionGroup("g", [ValueError("x")])), "ExceptionGroup: g"),
    "surrogate": (raises(ValueError("\ud800")), "ValueError: \ufffd"),
    "bytes": (lambda **kw: b"x", "returned bytes"),
    "set": (lambda **kw: {1}, "returned set"),
    "class": (lambda **kw: dict, "returned type"),
    "coroutine": (lambda **kw: awaited(), "returned coroutine"),
    "async generator": (lambda **kw: async_generator(), "returned async_generator"),
    "generator": (lambda **kw: (i for i in ()), "returned generator"),
    "NaN": (lambda **kw: math.nan, "returned float"),
    "circle": (lambda **kw: circle(), "returned dict"),
    "deep": (lambda **kw: deep(100_000), "returned dict"),
}


@pytest.mark.parametrize(("handler", "text"), FAILURES.values(), ids=FAILURES)
@pytest.mark.filterwarnings("error")
def test_whatever_a_handler_does_is_a_result(handler, text):
    result = dispatch(handler)
    assert result.error_code == "execution_error"
    assert text in result.content
    assert "Traceback" not in result.content
    assert isinstance(result.exception, BaseException)


def test_an_interrupt_passes():
    with pytest.raises(KeyboardInterrupt):
        dispatch(raises(KeyboardInterrupt()))


def test_text_that_looks_like_an_error_is_a_success():
    result = dispatch(lambda: "Error: 0 found")
    assert result.ok
    assert "is_error" not in result.to_protocol_block()


def test_a_long_result_keeps_head_and_tail():
    content = dispatch(lambda: "HEAD" + "x" * 200_000 + "FINAL-ERROR").content
    assert len(content) == MAX_CONTENT_CHARS
    assert content.startswith("HEAD")
    assert content.endswith("FINAL-ERROR")
    assert "characters left out" in content


# --- totality ----------------------------------------------------------------------------------

json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
any_name = st.sampled_from(["safe", "unsafe", "strict"]) | json_like | st.binary()
outcomes = st.one_of(
    json_like.map(lambda value: lambda: value),
    st.sampled_from([b"", set(), object(), dict, awaited, iter(())]).map(lambda v: lambda: v),
    st.sampled_from(
        [SystemExit, asyncio.CancelledError, StopIteration, RecursionError, Unspeakable, ValueError]
        + [GeneratorExit, ToolError, OSError, BaseException, MemoryError, AssertionError]
    ).map(lambda kind: lambda: (_ for _ in ()).throw(kind())),
)


@given(
    st.lists(st.tuples(any_name, json_like), max_size=6), st.lists(outcomes, min_size=1, max_size=6)
)
def test_totality(proposals, script):
    lock = threading.Lock()

    def handler(**kw):
        with lock:
            script.append(script.pop(0))
            outcome = script[-1]
        return outcome()

    strict = object_schema({"n": {"type": "integer"}}, ["n"])
    registry = ToolRegistry(
        [
            ToolSpec("safe", "", {"type": "object"}, handler, concurrent_safe=True),
            ToolSpec("unsafe", "", {"type": "object"}, handler),
            ToolSpec("strict", "", strict, handler, concurrent_safe=True),
        ]
    )
    calls = [ToolCall(f"id{i}", name, value) for i, (name, value) in enumerate(proposals)]
    seen = {}
    results = registry.dispatch_many(calls, on_result=seen.__setitem__)
    assert len(results) == len(calls)
    assert seen == dict(enumerate(results))
    for call, result in zip(calls, results, strict=True):
        assert result.call is call
        assert 0 < len(result.content) <= MAX_CONTENT_CHARS
        block = result.to_protocol_block()
        json.dumps(block, ensure_ascii=False).encode()
        assert block["tool_use_id"] == call.tool_use_id
        assert ("is_error" in block) == (result.error_code is not None)

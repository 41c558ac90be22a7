"""dispatch: look up, validate, run; exactly one result for any call and any handler."""

import asyncio
import functools
import json
import math
import threading
import time
from collections.abc import Mapping
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


def limited(path, limit=1):
    return path


OPEN = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}
OPEN["required"] = ["path"]


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"pth": "x"}, ['the required property "path" is missing', '"pth"; did you mean "path"?']),
        ({"path": "x", "limt": 3}, ['unknown property "limt"; did you mean "limit"?']),
        ({"path": "x", "LIMIT": 3}, ['unknown property "LIMIT"; did you mean "limit"?']),
        (
            {"path": "x", "zz": 3, "limit": "q"},
            ['"zz"; known are "path", "limit"', "$.limit: expected"],
        ),
    ],
)
def test_an_open_schema_lists_what_cannot_be_bound_too(arguments, lines):
    result = dispatch(limited, arguments, OPEN)
    assert result.error_code == "invalid_arguments"
    for line in lines:
        assert line in result.content
    assert result.content.count("is missing") <= 1


class Box:
    def method(self, **kw):
        return sorted(kw)

    def __call__(self, **kw):
        return sorted(kw)


def two(x, y=1, **kw):
    return sorted(kw)


def passes_on(handler):
    @functools.wraps(handler)
    def wrapper(*args, **kwargs):
        return handler(*args, **kwargs)

    return wrapper


def takes_a_context(handler):
    @functools.wraps(handler)
    def wrapper(ctx):
        return handler(ctx)

    return wrapper


FILLED = {
    "a method": (Box().method, "self"),
    "an object": (Box(), "self"),
    "a partial": (functools.partial(two, 1), "x"),
}


@pytest.mark.parametrize(("handler", "name"), FILLED.values(), ids=FILLED)
def test_a_name_that_is_filled_by_position_cannot_be_given_again(handler, name):
    with pytest.raises(ValueError, match=f"takes no {name!r}"):
        registry_of(handler, object_schema({name: {}}))
    result = dispatch(handler, {name: 1})
    assert result.error_code == "invalid_arguments"
    assert dispatch(handler, {"other": 1}).content == '["other"]'


def test_a_wrapper_is_judged_by_what_it_takes_itself():
    schema = object_schema({"path": {}}, ["path"])
    assert dispatch(passes_on(limited), {"path": "a"}, schema).content == "a"
    with pytest.raises(ValueError, match="takes no 'path'"):
        registry_of(takes_a_context(limited), schema)


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


class Raising:
    """An object that raises whatever is asked of it."""

    def __init__(self, error):
        object.__setattr__(self, "error", error)

    def __getattribute__(self, name):
        raise object.__getattribute__(self, "error")


class RaisingMapping(Mapping):
    def __init__(self, error):
        self.error = error

    def __getitem__(self, name):
        raise self.error

    def __iter__(self):
        raise self.error

    def __len__(self):
        return 1


class RaisingName(str):
    def __getitem__(self, index):
        raise RuntimeError

    __format__ = __repr__ = __getitem__


@pytest.mark.parametrize(
    "error", [RuntimeError(), SystemExit(), asyncio.CancelledError()], ids=repr
)
def test_arguments_that_raise_are_a_result(error):
    for arguments in (Raising(error), RaisingMapping(error), {"a": RaisingMapping(error)}):
        result = registry_of(lambda **kw: "ran").dispatch(ToolCall("1", "tool", arguments))
        assert result.error_code == "invalid_arguments"
    with pytest.raises(KeyboardInterrupt):
        registry_of(dict).dispatch(ToolCall("1", "tool", RaisingMapping(KeyboardInterrupt())))


class NoClass:
    """An object that raises when it is asked for its class."""

    @property
    def __class__(self):
        raise RuntimeError("no class")


def test_a_name_that_raises_is_unknown():
    registry = registry_of(lambda **kw: "ran")
    result = registry.dispatch(ToolCall("1", RaisingName("tol"), {}))
    assert "did you mean 'tool'?" in result.content
    batch = [ToolCall("1", "tool", {}), ToolCall("2", NoClass(), {})]
    for results in (registry.dispatch_many(batch), map(registry.dispatch, batch)):
        ran, unknown = results
        assert ran.content == "ran"
        assert "a tool's name is text, not NoClass" in unknown.content


def chain(levels):
    value = {"kind": "not", "args": []}
    for _ in range(levels):
        value = {"kind": "not", "args": [value]}
    return value


def test_alternatives_that_multiply_are_not_waited_for():
    forms = [
        {
            "type": "object",
            "properties": {
                "kind": {"const": kind},
                "args": {"type": "array", "items": {"$ref": "#/$defs/e"}},
            },
        }
        for kind in ("and", "or", "not")
    ]
    schema = {
        "type": "object",
        "properties": {"e": {"$ref": "#/$defs/e"}},
        "$defs": {"e": {"anyOf": forms}},
    }
    deep = chain(20)
    began = time.perf_counter()
    assert dispatch(lambda e=None: "ok", {"e": deep}, schema).ok
    innermost = deep
    while innermost["args"]:
        innermost = innermost["args"][0]
    innermost["args"] = "x"
    refused = dispatch(lambda e=None: "ok", {"e": deep}, schema)
    assert ': expected array, got string "x"' in refused.content
    assert time.perf_counter() - began < 2


def test_unique_items_are_compared_quickly_and_exactly():
    schema = object_schema({"a": {"type": "array", "uniqueItems": True}})
    many = [{"n": i, "m": [i]} for i in range(20_000)]
    assert dispatch(lambda a=None: "ok", {"a": many}, schema).ok
    for items, unique in {
        ((1, True, 0, False, "1", None, (1,), (True,)), True),
        ((1, 1.0), False),
        (((1, (2,)), (1, (2.0,))), False),
    }:
        code = dispatch(lambda a=None: "ok", {"a": list(items)}, schema).error_code
        assert (code is None) == unique


@pytest.mark.parametrize(
    ("value", "step", "fits"),
    [(19.99, 0.01, True), (0.07, 0.01, True), (4.35, 0.01, True), (0.075, 0.01, False)]
    + [(1e300, 3, False), (10**300, 10, True), (9, 3, True), (9.0, 3, True), (True, 2, True)],
)
def test_multiple_of_is_exact(value, step, fits):
    schema = object_schema({"n": {"multipleOf": step}})
    assert dispatch(lambda n=None: "ok", {"n": value}, schema).ok == fits


@pytest.mark.parametrize("count", [1, 99, 100, 101, 300, 6_000])
def test_many_integral_floats_among_alternatives_are_delivered(count):
    schema = object_schema(
        {"a": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}
    )
    got = []
    assert dispatch(
        lambda a=None: got.extend(a), {"a": [float(i) for i in range(count)]}, schema
    ).ok
    assert all(type(n) is int for n in got)


@pytest.mark.parametrize(
    ("inner", "value", "line"),
    [
        ({"enum": [f"mode_{i:02}" for i in range(12)]}, "mode_1", 'did you mean "mode_'),
        ({"enum": [f"mode_{i:02}" for i in range(12)]}, "x", '"mode_11"]'),
        (
            {"anyOf": [
                {"properties": {"k": {"const": "cat"}, "n": {"type": "integer"}}},
                {"properties": {"k": {"const": "dog"}, "n": {"type": "string"}}},
            ]},
            {"k": "cat", "n": "x"},
            '$.v.n: expected integer, got string "x"',
        ),
        ({"type": "object", "unevaluatedProperties": False}, {"zz": 1}, 'unknown property "zz"'),
    ],
)  # fmt: skip
def test_messages_say_what_to_do(inner, value, line):
    content = dispatch(lambda v=None: "ok", {"v": value}, object_schema({"v": inner})).content
    assert line in content
    assert len(content) < 900


def test_a_flood_of_violations_is_bounded():
    schema = object_schema({"a" * 60: {"type": "array", "items": {"type": "integer"}}})
    content = dispatch(lambda **kw: "ok", {"a" * 60: ["x"] * 50_000}, schema).content
    assert content.count("expected integer") == 100


def test_two_halves_of_a_character_become_one():
    assert dispatch(lambda a=None: a, {"a": "\ud83c\udf78"}).content == "\U0001f378"


def test_an_unknown_name_among_very_many_tools_is_answered_at_once():
    specs = [ToolSpec(f"{'x' * 50}_{i}", "", {"type": "object"}, dict) for i in range(3_000)]
    registry = ToolRegistry(specs)
    began = time.perf_counter()
    content = registry.dispatch(ToolCall("1", "y" * 56, {})).content
    assert time.perf_counter() - began < 0.5
    assert content.endswith("and 2950 more")


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


class SlyText(str):
    def __len__(self):
        raise RuntimeError

    __getitem__ = __len__


class Sly(Exception):
    def __str__(self):
        return SlyText("said")

    @property
    def __class__(self):
        raise RuntimeError


class SlyMeta(type):
    @property
    def __name__(cls):
        raise RuntimeError


class SlyKind(Exception, metaclass=SlyMeta):
    pass


FAILURES = {
    "sly": (raises(Sly()), "Sly: said"),
    "sly kind": (raises(SlyKind("x")), "SlyKind: x"),
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
        "Unspeakable: (its message cannot be read)",
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

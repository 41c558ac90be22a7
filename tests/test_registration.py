"""Registration fails closed: what would fail later, at the API or in a call, is refused now."""

import asyncio
import functools
import math

import pytest
from jsonschema import Draft202012Validator

from harness_lib import ToolCall, ToolRegistry, ToolSpec, object_schema
from harness_lib.schema import ANNOTATIONS, ENFORCED


def spec(schema=None, handler=lambda **kw: "ok", name="tool", **more):
    return ToolSpec(
        name, "A tool.", object_schema({}) if schema is None else schema, handler, **more
    )


def with_property(schema):
    return {"type": "object", "properties": {"a": schema}}


@pytest.mark.parametrize(
    ("name", "legal"),
    [("a", True), ("A-b_9", True), ("x" * 64, True), ("mcp__server__tool", True)]
    + [(name, False) for name in ("", "x" * 65, "a.b", "a b", "a\n", "é", "１", None, 7, ["a"])],
)
def test_names(name, legal):
    registry = ToolRegistry()
    if legal:
        registry.register(spec(name=name))
        assert name in registry
    else:
        with pytest.raises(ValueError, match="1 to 64"):
            registry.register(spec(name=name))


def test_a_name_is_registered_once():
    registry = ToolRegistry([spec()])
    with pytest.raises(ValueError, match=r"tool 'tool': .*already"):
        registry.register(spec())
    assert len(registry) == 1


def test_two_origins_that_make_one_name_collide():
    registry = ToolRegistry([spec(name="acme_" + "status")])
    with pytest.raises(ValueError, match="already"):
        registry.register(spec(name="acme" + "_status"))


REFUSED = {
    "no schema": ("text", "not an object schema"),
    "boolean schema": (True, "not an object schema"),
    "no type": ({}, "not an object schema"),
    "wrong type": ({"type": "string"}, "not an object schema"),
    "list of types": ({"type": ["object"]}, "not an object schema"),
    "anyOf at the root": ({"type": "object", "anyOf": [{}]}, "'anyOf' at the root"),
    "oneOf at the root": ({"type": "object", "oneOf": [{}]}, "'oneOf' at the root"),
    "allOf at the root": ({"type": "object", "allOf": [{}]}, "'allOf' at the root"),
    "property name": (object_schema({"a b": {}}), "property name 'a b'"),
    "long property name": (object_schema({"a" * 65: {}}), "property name"),
    "empty property name": (object_schema({"": {}}), "property name"),
    "types": (with_property({"types": "string"}), r"\$\.properties\.a: .*did you mean 'type'"),
    "Required": ({"type": "object", "Required": []}, "did you mean 'required'"),
    "maximun": (with_property({"maximun": 3}), "did you mean 'maximum'"),
    "unknown": (with_property({"zzzzzz": 3}), "x-"),
    "nested unknown": (with_property({"items": {"anyOf": [{"typ": 1}]}}), r"items\.anyOf\[0\]"),
    "unknown in $defs": ({"type": "object", "$defs": {"d": {"optional": 1}}}, "optional"),
    "nullable": (with_property({"type": "string", "nullable": True}), '"null"'),
    "dependencies": ({"type": "object", "dependencies": {}}, "dependentRequired"),
    "$recursiveRef": (with_property({"$recursiveRef": "#"}), "dynamicRef"),
    "additionalItems": (with_property({"additionalItems": False}), "prefixItems"),
    "id": (with_property({"id": "x"}), "id"),
    "then alone": (with_property({"then": {}}), "'if'"),
    "minContains alone": (with_property({"minContains": 2}), "'contains'"),
    "unknown type": (with_property({"type": "strin"}), "not a valid schema"),
    "required: true": (with_property({"required": True}), "not a valid schema"),
    "negative minLength": (with_property({"minLength": -1}), "not a valid schema"),
    "draft-04 bound": (with_property({"exclusiveMinimum": True}), "not a valid schema"),
    "items as a list": (with_property({"items": [{}]}), "not a valid schema"),
    "pattern": (with_property({"pattern": "["}), "pattern"),
    "patternProperties": ({"type": "object", "patternProperties": {"(": {}}}, "pattern"),
    "a pattern that is too large": (
        with_property({"pattern": "a{99999999999999999999}"}),
        "pattern",
    ),
    "a pattern that is too deep": (with_property({"pattern": "(" * 3000 + ")" * 3000}), "pattern"),
    "required, not allowed": (
        object_schema({}, ["pth"]),
        "requires 'pth', which it does not allow",
    ),
    "NaN": (with_property({"minimum": math.nan}), "no JSON"),
    "infinity in default": (with_property({"default": [math.inf]}), r"default\[0\]"),
    "a set": (with_property({"enum": {1}}), "set is no JSON"),
    "a number as a name": ({"type": "object", "properties": {1: {}}}, "a name must be text"),
    "surrogate": (with_property({"title": "\ud800"}), "surrogate"),
    "$ref to nothing": (with_property({"$ref": "#/$defs/x"}), "leads to no schema"),
    "$ref outside": (with_property({"$ref": "http://example.com/s.json"}), "leads to no schema"),
    "$ref to the meta-schema": (
        with_property({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        "leads to no schema",
    ),
    "$ref to a literal": (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/properties/b/const"}, "b": {"const": {}}},
        },
        "leads to no schema",
    ),
    "$ref to no anchor": (with_property({"$ref": "#missing"}), "leads to no schema"),
    "$ref to itself": ({"type": "object", "$ref": "#"}, "circle"),
    "a circle of two": (
        with_property({"$ref": "#/$defs/x"})
        | {"$defs": {"x": {"anyOf": [{"$ref": "#/$defs/y"}]}, "y": {"$ref": "#/$defs/x"}}},
        "circle",
    ),
}


@pytest.mark.parametrize(("schema", "fault"), REFUSED.values(), ids=REFUSED)
def test_refused_schemas(schema, fault):
    registry = ToolRegistry()
    with pytest.raises(ValueError, match=f"tool 'tool': .*{fault}"):
        registry.register(spec(schema))
    assert len(registry) == 0


ACCEPTED = {
    "open": {"type": "object"},
    "annotations": with_property(
        {"title": "A", "description": "", "default": {"types": 1}, "examples": [{"typ": 1}]}
        | {"example": 1, "deprecated": False, "readOnly": True, "writeOnly": False}
        | {"format": "date", "contentEncoding": "base64", "contentMediaType": "text/plain"}
        | {"contentSchema": {"type": "object"}, "discriminator": {"propertyName": "k"}}
        | {"externalDocs": {"url": "x"}, "xml": {}, "$comment": "c", "x-mine": {"types": 1}}
    ),
    "values that look like schemas": with_property({"enum": [{"types": 1}], "const": {"nul": 1}}),
    "a property called types": object_schema({"types": {"type": "string"}}),
    "$ref": with_property({"$ref": "#/$defs/d"}) | {"$defs": {"d": {"type": "string"}}},
    "definitions": with_property({"$ref": "#/definitions/d"}) | {"definitions": {"d": True}},
    "$anchor": with_property({"$ref": "#here"}) | {"$defs": {"d": {"$anchor": "here"}}},
    "$id": {
        "$id": "https://example.com/s",
        **with_property({"$ref": "#/$defs/d"}),
        "$defs": {"d": {}},
    },
    "embedded $id": {
        "type": "object",
        "properties": {"a": {"$ref": "other#/$defs/e"}},
        "$defs": {"d": {"$id": "other", "$defs": {"e": {"type": "integer"}}}},
    },
    "a tree": with_property({"$ref": "#/$defs/n"})
    | {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}},
    "a tree of itself": {"type": "object", "properties": {"child": {"$ref": "#"}}},
    "older $schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
    "all applicators": with_property(
        {"if": {"minimum": 3}, "then": {"maximum": 9}, "else": True, "not": {"const": 4}}
        | {"contains": {}, "minContains": 0, "prefixItems": [{}], "unevaluatedItems": False}
        | {"propertyNames": {"pattern": "^a"}, "dependentSchemas": {"a": {}}}
    ),
}


@pytest.mark.parametrize("schema", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted_schemas(schema):
    registry = ToolRegistry([spec(schema)])
    assert registry.model_schemas()[0]["input_schema"] == schema


def test_known_keywords_are_what_the_validator_enforces():
    by_partner = {"then", "else", "minContains", "maxContains", "$dynamicAnchor"}
    assert set(Draft202012Validator.VALIDATORS) - {"format"} | by_partner == ENFORCED
    assert not ENFORCED & ANNOTATIONS


def test_format_is_a_note_and_refuses_nothing():
    """Said in BOUNDARY.md: a reader of the schema may take it for a rule."""
    registry = ToolRegistry([spec(with_property({"type": "string", "format": "date"}))])
    assert registry.dispatch(ToolCall("toolu_1", "tool", {"a": "rubbish"})).ok


async def coroutine(a):
    return a


class AsyncCall:
    async def __call__(self, a):
        return a


class AsyncMethods:
    async def method(self, a):
        return a


def injected(ctx, *args, **kwargs):
    return a_or_b(*args, **kwargs)


def a_or_b(a, b=1):
    return a


def wrapped(wrapper, inner=a_or_b):
    """As a decorator with functools.wraps leaves it."""
    return functools.wraps(inner)(lambda *args, **kwargs: wrapper(*args, **kwargs))


def with_self(function):
    """A decorator for methods."""

    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    return wrapper


def with_session(function):
    @functools.wraps(function)
    def wrapper(*args, session=None, **kwargs):
        return function(*args, session=session or "default", **kwargs)

    return wrapper


def asks_why(function):
    @functools.wraps(function)
    def wrapper(*args, reason, **kwargs):
        return function(*args, reason=reason, **kwargs)

    return wrapper


def needs_session(a, *, session):
    return a


class Wrapped:
    """Its methods are wrappers, as decorators leave them."""

    @with_self
    def method(self, a):
        return a

    @with_self
    @with_self
    def twice(self, a):
        return a

    @functools.cache  # noqa: B019 - a learner may well
    def cached(self, a):
        return a

    @classmethod
    @with_self
    def of_class(cls, a):
        return a

    @with_self
    def __call__(self, a):
        return a


class MadeOf:
    @with_self
    def __init__(self, a):
        self.a = a


class FillsCls:
    def __new__(cls, **kwargs):
        return super().__new__(cls)


class FillsClsAsAClass(type):
    def __call__(cls, **kwargs):
        return "ok"


class CallsNobody:
    @staticmethod
    def __call__(a, **kwargs):
        return "ok"


class LyingSignature:
    __signature__ = "nonsense"

    def __call__(self, a):
        return a


class Handler:
    def method(self, a):
        return a

    def __call__(self, self_=None, *, a):
        return a


def positional(a, /):
    return a


def extra(a, b):
    return a


@pytest.mark.parametrize(
    ("handler", "fault"),
    [
        ("text", "callable"),
        (None, "callable"),
        (lambda: 1, "takes no 'a'"),
        (lambda b=1: b, "takes no 'a'"),
        (positional, "by position"),
        (extra, "needs 'b'"),
        (coroutine, "coroutine function"),
        (functools.partial(coroutine), "coroutine function"),
        (AsyncCall(), "coroutine function"),
        (asyncio.sleep, "coroutine function"),
        (functools.partial(AsyncCall()), "coroutine function"),
        (AsyncMethods().method, "coroutine function"),
        (functools.wraps(a_or_b)(injected), "needs 'ctx'"),
        (functools.wraps(a_or_b)(lambda ctx, /, **kwargs: 1), "'ctx' by position only"),
        (wrapped(lambda **kwargs: 1, functools.wraps(a_or_b)(lambda b: b)), "takes no 'a'"),
        (functools.partial(lambda a: a, wrong=1), "signature"),
        (functools.partial(lambda a: a, 1, 2), "signature"),
        (LyingSignature(), "signature"),
        (asks_why(lambda a, reason=None: a), "needs 'reason'"),
        (functools.partial(wrapped(extra), 1), "takes no 'a'"),
        (functools.cache(extra), "needs 'b'"),
    ],
)
def test_handlers_that_do_not_fit(handler, fault):
    with pytest.raises(ValueError, match=f"tool 'tool': .*{fault}"):
        ToolRegistry([spec(object_schema({"a": {}}, ["a"]), handler)])


@pytest.mark.parametrize(
    ("handler", "name"),
    [(FillsCls, "cls"), (FillsClsAsAClass("C", (), {}), "cls")],
)
def test_names_that_are_filled_already(handler, name):
    with pytest.raises(ValueError, match=f"takes no '{name}'"):
        ToolRegistry([spec(object_schema({name: {}}), handler)])
    open_one = ToolRegistry([spec({"type": "object"}, handler)])
    result = open_one.dispatch(ToolCall("toolu_1", "tool", {name: 1}))
    assert result.error_code == "invalid_arguments"


@pytest.mark.parametrize(
    "handler",
    [Wrapped(), Wrapped().method, MadeOf, functools.partial(wrapped(lambda a: a))]
    + [functools.cache(lambda a: a)],
)
def test_what_a_wrapper_hands_on_is_judged_by_what_it_wraps(handler):
    with pytest.raises(ValueError, match="needs 'a'"):
        ToolRegistry([spec({"type": "object"}, handler)])
    with pytest.raises(ValueError, match="takes no 'z'"):
        ToolRegistry([spec(object_schema({"a": {}, "z": {}}, ["a"]), handler)])


def test_a_required_name_must_be_one_that_the_handler_takes():
    for handler in (lambda: 1, lambda b=1: b):
        with pytest.raises(ValueError, match="takes no 'a'"):
            ToolRegistry([spec({"type": "object", "required": ["a"]}, handler)])


def test_a_handler_may_not_need_what_is_optional():
    with pytest.raises(ValueError, match="needs 'a', which the schema does not require"):
        ToolRegistry([spec(object_schema({"a": {}}), lambda a: a)])


@pytest.mark.parametrize(
    "handler",
    [lambda a: a, lambda a, b=1: a, lambda **kw: kw, lambda *, a: a, Handler().method, Handler()]
    + [functools.partial(extra, b=2), lambda x=1, /, *, a: a, dict, lambda a=None, *rest: a]
    + [wrapped(a_or_b), wrapped(a_or_b, wrapped(a_or_b)), CallsNobody(), functools.cache(a_or_b)]
    + [functools.wraps(a_or_b)(lambda *args, verbose=False, **kwargs: a_or_b(*args, **kwargs))]
    + [Wrapped().method, Wrapped().twice, Wrapped().cached, Wrapped().of_class, Wrapped(), MadeOf]
    + [with_session(needs_session), functools.partial(Wrapped().method)],
)
def test_handlers_that_fit(handler):
    ToolRegistry([spec(object_schema({"a": {}}, ["a"]), handler)])


def test_a_spec_is_typed():
    with pytest.raises(TypeError, match="ToolSpec"):
        ToolRegistry([{"name": "tool"}])
    with pytest.raises(ValueError, match="concurrent_safe"):
        ToolRegistry([spec(concurrent_safe="no")])
    with pytest.raises(ValueError, match="description"):
        ToolRegistry([ToolSpec("tool", None, object_schema({}), lambda: 1)])


def test_a_description_must_be_sendable():
    with pytest.raises(ValueError, match=r"tool 'tool': .*description"):
        ToolRegistry([ToolSpec("tool", "\ud800", object_schema({}), dict)])


def test_required_as_text_is_refused():
    with pytest.raises(TypeError, match="list of names"):
        object_schema({"path": {}}, "path")


def test_whatever_a_spec_raises_names_the_tool():
    class Handler:
        def __call__(self):
            pass

        @property
        def __signature__(self):
            raise RuntimeError("no")

    with pytest.raises(ValueError, match="tool 'tool': RuntimeError: no"):
        ToolRegistry([spec(handler=Handler())])

    class Spec(ToolSpec):
        def model_schema(self):
            raise RuntimeError("no schema")

    with pytest.raises(ValueError, match="tool 'tool': RuntimeError: no schema"):
        ToolRegistry([Spec("tool", "", object_schema({}), dict)])


def test_a_long_name_is_told_from_the_one_that_it_begins_with():
    registry = ToolRegistry([spec(name="a" * 64)])
    content = registry.dispatch(ToolCall("toolu_1", "a" * 64 + "b", {})).content
    assert f"no tool is named '{'a' * 64}...'" in content


def test_nothing_passed_in_or_handed_out_changes_what_is_enforced():
    schema = object_schema({"n": {"type": "integer"}}, ["n"])
    registry = ToolRegistry([spec(schema, lambda n: n)])
    before = registry.model_schemas()

    def loosen(handle):
        handle["required"].clear()
        handle["properties"]["n"]["type"] = "string"
        handle["additionalProperties"] = True

    loosen(schema)
    loosen(registry.model_schemas()[0]["input_schema"])
    loosen(registry.get("tool").input_schema)
    loosen(registry.get("tool").model_schema()["input_schema"])
    registry.model_schemas().clear()
    assert registry.model_schemas() == before
    from harness_lib import ToolCall

    assert registry.dispatch(ToolCall("1", "tool", {"n": "x"})).error_code == "invalid_arguments"
    assert registry.dispatch(ToolCall("1", "tool", {"n": 1})).ok


def test_a_second_tool_made_from_the_first_leaves_it_alone():
    first = spec(object_schema({"a": {}, "b": {}}))
    registry = ToolRegistry([first])
    derived = registry.get("tool").model_schema()["input_schema"]
    del derived["properties"]["b"]
    registry.register(spec(derived, name="second"))
    assert [set(s["input_schema"]["properties"]) for s in registry.model_schemas()] == [
        {"a", "b"},
        {"a"},
    ]


def test_look_up():
    registry = ToolRegistry([spec(name="a"), spec(name="b")])
    assert [s["name"] for s in registry.model_schemas()] == ["a", "b"]
    assert len(registry) == 2
    assert registry.get("a").name == "a"
    for name in ("c", None, 7, [], {}, ("a",)):
        assert registry.get(name) is None
        assert name not in registry

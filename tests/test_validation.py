"""The course's subset against the boundary with jsonschema behind it: the same verdict."""

import itertools
import json
import re
import sys
import time
from collections.abc import Mapping

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from harness_lib import ToolCall, ToolRegistry, ToolSpec
from harness_lib.binding import HandlerKeywords
from harness_lib.json_value import MAX_VALUES, json_copy, json_path, shown
from harness_lib.pattern import Pattern
from harness_lib.validation import ArgumentValidator, check_subset

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


# --- the whole of Draft 2020-12, against a slow and plain reading of it -------------------------


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    kinds = {"null": type(None), "string": str, "number": (int, float), "array": list}
    if name == "integer":
        return isinstance(value, (int, float)) and value == int(value)
    return isinstance(value, kinds.get(name, dict))


def plainly(schema, value, root, at=()):
    """Whether the schema holds, which keys it judged, which types it asked for and where."""
    if isinstance(schema, bool):
        return schema, set(), []
    verdicts, keys, asked = [], set(), []

    def in_place(inner):
        holds, its_keys, its_asked = plainly(inner, value, root, at)
        keys.update(its_keys)
        asked.extend(its_asked)
        return holds

    def part(key, inner):
        holds, _, its_asked = plainly(inner, value[key], root, (*at, key))
        asked.extend(its_asked)
        return holds

    def parts(names, inner):
        verdicts.extend([part(name, inner) for name in names])
        keys.update(names)

    if types := schema.get("type", []):
        types = [types] if isinstance(types, str) else types
        verdicts.append(any(is_type(value, name) for name in types))
        asked += [(at, name) for name in types]
    if "const" in schema:
        verdicts.append((type(value) is bool, value) == (False, schema["const"]))
    if "minimum" in schema and is_type(value, "number"):
        verdicts.append(value >= schema["minimum"])
    if "$ref" in schema:
        verdicts.append(in_place(root["$defs"][schema["$ref"].removeprefix("#/$defs/")]))
    verdicts += [in_place(inner) for inner in schema.get("allOf", [])]
    if "anyOf" in schema:
        verdicts.append(sum([in_place(inner) for inner in schema["anyOf"]]) > 0)
    if "oneOf" in schema:
        verdicts.append(sum([in_place(inner) for inner in schema["oneOf"]]) == 1)
    if "not" in schema:
        verdicts.append(not plainly(schema["not"], value, root)[0])
    if "if" in schema:
        verdicts.append(in_place(schema.get("then" if in_place(schema["if"]) else "else", True)))
    if isinstance(value, dict):
        dependent = schema.get("dependentSchemas", {})
        verdicts += [in_place(inner) for name, inner in dependent.items() if name in value]
        verdicts += [name in value for name in schema.get("required", [])]
        named = value.keys() & schema.get("properties", {}).keys()
        for name in named:
            parts([name], schema["properties"][name])
        for pattern, inner in schema.get("patternProperties", {}).items():
            matched = {name for name in value if re.search(pattern, name)}
            parts(matched, inner)
            named |= matched
        if "additionalProperties" in schema:
            parts(value.keys() - named, schema["additionalProperties"])
        if "unevaluatedProperties" in schema:
            parts(value.keys() - keys, schema["unevaluatedProperties"])
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        for index, inner in enumerate(first[: len(value)]):
            parts([index], inner)
        if "items" in schema:
            parts(range(len(first), len(value)), schema["items"])
        if "contains" in schema:
            fitting = [i for i in range(len(value)) if part(i, schema["contains"])]
            keys.update(fitting)
            verdicts.append(len(fitting) >= schema.get("minContains", 1))
        if "unevaluatedItems" in schema:
            parts({*range(len(value))} - keys, schema["unevaluatedItems"])
    return (True, keys, asked) if all(verdicts) else (False, set(), [])


def with_integers(value, asked, at=()):
    if isinstance(value, dict):
        return {name: with_integers(item, asked, (*at, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [with_integers(item, asked, (*at, index)) for index, item in enumerate(value)]
    types = {name for place, name in asked if place == at}
    wanted = "integer" in types and "number" not in types
    return int(value) if wanted and isinstance(value, float) else value


KINDS = ["integer", "number", "string", "object", "array", ["integer", "null"]]


def any_schemas(depth=3):
    """Schemas that use the applicators, and mostly hold for small values."""
    leaf = (
        st.sampled_from([{"type": kind} for kind in KINDS])
        | st.sampled_from([{"const": 1}, {"minimum": 2}, {"required": ["a"]}, True, True, False])
        | st.just({"type": "integer"})
    )
    if not depth:
        return leaf
    inner = any_schemas(depth - 1)
    part = inner | st.just({"$ref": "#/$defs/n"})  # not in place: that would be a circle
    forms = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(st.sampled_from("ab"), part, min_size=1, max_size=2)
    keywords = {
        **dict.fromkeys(["allOf", "anyOf", "oneOf"], forms),
        "properties": by_name,
        "not": leaf,
        "if": inner,
        "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["^[bc]", "a"]), part, max_size=2),
        "prefixItems": st.lists(part, min_size=1, max_size=2),
        **dict.fromkeys(["additionalProperties", "items", "contains"], part),
        **dict.fromkeys(["unevaluatedProperties", "unevaluatedItems"], part),
    }

    def drawn(names):
        pairs = {name: keywords[name] for name in names}
        if "if" in names:
            pairs |= {"then": inner, "else": inner}
        if "contains" in names:
            pairs["minContains"] = st.integers(0, 1)
        return st.fixed_dictionaries(pairs)

    several = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=3, unique=True)
    return leaf | several.flatmap(drawn)


number_leaves = st.sampled_from([*({"type": kind} for kind in ("integer", "number")), {"const": 1}])
of_parts = st.one_of(
    st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("abc"), number_leaves, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"patternProperties": st.just({"[ab]": {"type": "integer"}})}),
    st.fixed_dictionaries({"prefixItems": st.lists(number_leaves, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"contains": number_leaves}),
    st.fixed_dictionaries({"unevaluatedProperties": number_leaves, "unevaluatedItems": number_leaves}),
)  # fmt: skip


@st.composite
def with_a_rest(draw):
    """A schema that leads to others for the same value, and judges what they leave."""
    schema = draw(of_parts)
    for keyword in draw(st.lists(st.sampled_from(["allOf", "anyOf", "oneOf"]), max_size=1)):
        schema[keyword] = draw(st.lists(of_parts, min_size=1, max_size=2))
    if draw(st.booleans()):
        schema |= {"if": draw(of_parts), "then": draw(of_parts), "else": draw(of_parts)}
    if draw(st.booleans()):
        schema["dependentSchemas"] = {draw(st.sampled_from("abc")): draw(of_parts)}
    if draw(st.booleans()):
        schema["$ref"] = "#/$defs/m"
    rest = number_leaves | st.booleans()
    return schema | {"unevaluatedProperties": draw(rest), "unevaluatedItems": draw(rest)}


flat_numbers = st.sampled_from([1.0, 2.0, 1, 1.5])
flat = st.lists(flat_numbers, max_size=3) | st.dictionaries(
    st.sampled_from("abc"), flat_numbers, max_size=3
)
small = st.recursive(
    st.sampled_from([1.0, 2.0, 3.0, 1, 1.5, "x", None, True]),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from("abc"), v, max_size=3),
    max_leaves=6,
)


cases_of_all = st.tuples(any_schemas(), any_schemas(2), small) | st.tuples(
    with_a_rest(), st.just(True), flat
)


@given(cases_of_all, of_parts)
@settings(max_examples=250)
def test_verdict_and_integers_are_those_of_a_plain_reading(case, m):
    schema, n, value = case
    root = {"type": "object", "properties": {"a": schema}, "$defs": {"n": n, "m": m}}
    holds, _, asked = plainly(root, {"a": value}, root)
    event(f"holds: {holds}")
    got = []
    registry = ToolRegistry([ToolSpec("t", "", root, lambda a=None: got.append(a))])
    result = registry.dispatch(ToolCall("1", "t", {"a": value}))
    assert result.ok == holds, result.content
    assert "cannot be checked" not in result.content
    if holds:
        assert repr(got) == repr([with_integers(value, asked, ("a",))])


# --- what is said, and how soon -----------------------------------------------------------------


def registry_for(schema, defs=None):
    root = {"type": "object", "properties": {"a": schema}, "$defs": defs or {}}
    return ToolRegistry([ToolSpec("t", "", root, lambda a=None: a)])


def content(schema, value, defs=None):
    result = registry_for(schema, defs).dispatch(ToolCall("1", "t", {"a": value}))
    return result.content.removeprefix("Error [invalid_arguments]: ")


NAME = "n" * 63
UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
CAT = {"properties": {"k": {"enum": ["cat"]}, "n": {"type": "integer"}}}
DOG = {"properties": {"k": {"enum": ["dog"]}, "n": {"type": "boolean"}}}
INTEGER, NULL = {"type": "integer"}, {"type": "null"}
NODE = {"properties": {"v": INTEGER, "next": {"anyOf": [{"$ref": "#/$defs/node"}, NULL]}}, "type": "object"}  # fmt: skip
NODE_OF_90 = json.loads('{"next": ' * 90 + '{"v": "x"}' + "}" * 90)

SAID = {
    "pattern": ({"pattern": "^[a-z]+$"}, "a\n", '$.a: expected text that matches "^[a-z]+$", got "a\\n"'),
    "patternProperties": (
        {"patternProperties": {"^x$": {}}, "additionalProperties": False},
        {"x\n": 1},
        '$.a: unknown property "x\\n"; known are names that match "^x$"',
    ),
    "a long pattern": ({"pattern": UUID}, "x", f'$.a: expected text that matches "{UUID}", got "x"'),
    "a long const": ({"const": "x" * 80}, 1, f'$.a: expected "{"x" * 80}", got 1'),
    "false": ({"properties": {"b": {"items": {"properties": {"c": False}}}}}, {"b": [1, {"c": 2}]}, "$.a.b[1].c: nothing is allowed here, got 2"),
    "false as a form": (
        {"anyOf": [{"type": "string"}, False]},
        1,
        "$.a: expected string, got integer 1",
    ),
    "false, referred to": ({"$ref": "#/$defs/no"}, 1, "$.a: nothing is allowed here, got 1"),
    "a required long name": ({"required": [f"{NAME}a"]}, {}, f'$.a: the required property "{NAME}a" is missing'),
    "a misspelt long name": (
        {"properties": {f"{NAME}a": {}}, "additionalProperties": False},
        {f"{NAME}b": 1},
        f'$.a: unknown property "{NAME}b"; did you mean "{NAME}a"?',
    ),
    "a long name in an enum": ({"enum": [f"{NAME}a"]}, f"{NAME}b", f'did you mean "{NAME}a"?'),
    "a long name in a path": ({"properties": {f"-{NAME}": INTEGER}}, {f"-{NAME}": "x"}, f'$.a["-{NAME}"]: expected'),
    "dependentRequired": (
        {"dependentRequired": {"x": ["y", "z"], "q": ["r"]}},
        {"x": 1, "y": 1},
        '$.a: the required property "z" is missing; "x" requires it',
    ),
    "contains": ({"contains": {"$ref": "#/$defs/i"}}, ["x"], '$.a: expected at least 1 items that fit {"$ref": "#/$defs/i"}, got 0'),
    "maxContains": (
        {"contains": INTEGER, "minContains": 0, "maxContains": 1},
        [1, 2],
        '$.a: expected at least 0 and at most 1 items that fit {"type": "integer"}, got 2',
    ),
    "not": ({"not": INTEGER}, 1, '$.a: expected what does not fit {"type": "integer"}, got 1'),
    "items: false": ({"prefixItems": [{}], "items": False}, [1, 2], "$.a[1]: no item is allowed here, got 2"),
    "unevaluatedItems": ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "$.a[1]: no item is allowed here, got 2"),
    "unevaluatedProperties": (
        {"allOf": [{"properties": {"name": {}}}], "unevaluatedProperties": False},
        {"nam": 1, "z": 1},
        '$.a: unknown property "nam"; did you mean "name"?\n$.a: unknown property "z"; known are "name"',
    ),
    "unevaluatedProperties with a schema": (
        {"allOf": [{"properties": {"b": {}}}], "unevaluatedProperties": INTEGER},
        {"b": 1, "c": "x"},
        '$.a.c: expected integer, got string "x"',
    ),
    "no second complaint of a form": (
        {"anyOf": [CAT, DOG], "unevaluatedProperties": False},
        {"k": "cat", "n": "x"},
        '$.a.n: expected integer, got string "x"',
    ),
    "propertyNames": ({"propertyNames": {"pattern": "^x"}}, {"b": 1}, '$.a, the name "b": expected text that matches "^x", got "b"'),
    "a const in depth": (
        {"anyOf": [{"type": "object", "properties": {"o": {"properties": {"k": {"const": 1}}}}}, NULL]},
        {"o": {"k": 2}},
        "$.a.o.k: expected 1, got 2",
    ),
    "an enum of one": (
        {"anyOf": [CAT, DOG]},
        {"k": "dog", "n": "x"},
        '$.a.n: expected boolean, got string "x"',
    ),
    "a const beside a type": (
        {"anyOf": [{"const": "auto"}, INTEGER]},
        "x",
        '$.a: fits none of the allowed forms ($.a: expected "auto", got "x"; or $.a: expected integer, got string "x")',
    ),
    "all of an optional model": (
        {"anyOf": [{"type": "object", "additionalProperties": INTEGER}, NULL]},
        {f"property_{i:02}": "x" for i in range(30)},
        "\n".join(f'$.a.property_{i:02}: expected integer, got string "x"' for i in range(30)),
    ),
    "deep in a recursive optional": (
        {"$ref": "#/$defs/node"},
        NODE_OF_90,
        f'$.a{".next" * 90}.v: expected integer, got string "x"',
    ),
    "the form with the fewest errors first": (
        {"anyOf": [{"required": ["x", "y"]}, {"required": ["z"]}]},
        {},
        '$.a: fits none of the allowed forms ($.a: the required property "z" is missing; or $.a: the required property "x" is missing; or $.a: the required property "y" is missing)',
    ),
    "the same line of two forms": (
        {"anyOf": [{"required": ["x"]}, {"required": ["x"]}]},
        {},
        '$.a: fits none of the allowed forms ($.a: the required property "x" is missing)',
    ),
    "false among several forms": ({"anyOf": [False, False]}, 1, "$.a: fits none of the allowed forms ($.a: nothing is allowed here, got 1)"),
    "a kind that there is not": (
        {"anyOf": [CAT, DOG]},
        {"k": "fish", "n": "x"},
        '$.a.k: expected one of ["cat", "dog"], got "fish"',
    ),
    "a misspelt kind": ({"anyOf": [CAT, DOG]}, {"k": "cats"}, '$.a.k: expected one of ["cat", "dog"], got "cats"; did you mean "cat"?'),
    "forms of a name": (
        {"propertyNames": {"anyOf": [{"pattern": "^x"}, {"maxLength": 2}]}},
        {"abc": 1},
        '$.a, the name "abc": fits none of the allowed forms ($.a, the name "abc": expected text that matches "^x", got "abc"; or $.a, the name "abc": expected at most 2 characters, got "abc")',
    ),
    "a form of a name": (
        {"propertyNames": {"anyOf": [{"pattern": "^x"}, NULL]}},
        {"abc": 1},
        '$.a, the name "abc": expected text that matches "^x", got "abc"',
    ),
    "a name declared false": (
        {"properties": {"old": False, "b": {}}, "additionalProperties": False},
        {"olds": 1},
        '$.a: unknown property "olds"; known are "b"',
    ),
    "oneOf, several": ({"oneOf": [INTEGER, {"minimum": 1}]}, 2, "$.a: fits more than one of the forms"),
    "two names that are missing": (
        {"required": ["x", "y"]},
        {},
        '$.a: the required property "x" is missing\n$.a: the required property "y" is missing',
    ),
    "too deep": ({}, json.loads("[" * 100 + "]" * 100), ": too deep (100 levels are the most)"),
    "too large": ({}, [0] * MAX_VALUES, "$.a: too large (100000 values are the most)"),
    "a hundred": ({"items": INTEGER}, ["x"] * 100, '$.a[99]: expected integer, got string "x"'),
    "more": ({"items": INTEGER}, ["x"] * 101, '$.a[99]: expected integer, got string "x"\nand more'),
}  # fmt: skip
PARTIAL = {"a long name in an enum", "a long name in a path", "too deep", "oneOf, several", "a hundred", "more"}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_a_refusal_says_where_and_what_was_expected(case):
    schema, value, lines = SAID[case]
    said = content(schema, value, {"no": False, "i": INTEGER, "node": NODE})
    assert said == lines or (case in PARTIAL and lines in said and said.count("and more") < 2)
    assert ("more" in said) == ("more" in case or "more" in lines)


def test_all_unknown_names_among_few_known_ones_are_not_looked_at():
    names = [f"known_property_{i}" for i in range(20)]
    handler = eval(f"lambda {', '.join(f'{name}=0' for name in names)}: 1")
    schema = {"type": "object", "properties": {name: {} for name in names}}
    sent = {f"unknown_{i}": 1 for i in range(5_000)}
    registry = ToolRegistry([ToolSpec("t", "", schema, handler)])
    began = time.perf_counter()
    lines = registry.dispatch(ToolCall("1", "t", sent)).content.splitlines()
    assert time.perf_counter() - began < 3
    assert len(lines) == 101
    assert lines[-1] == "and more"
    assert sum(map(len, lines)) < 9_000


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("written", "fits", "does_not"),
    [
        ("^a$", ["a"], ["a\n", "ab"]),
        (r"a\$", ["a$"], ["a"]),
        ("[$]", ["$"], [""]),
        ("[]$]", [], ["$", "]", ""]),
        (r"[\]$]", ["$"], ["\n"]),
        ("a$|b", ["a", "bc"], ["a\n"]),
        (r"^\d$", ["1"], ["\u0661", "1\n"]),
        (r"^[^\d]$", ["\u0661", "a"], ["1"]),
        (r"^\D$", ["\u0661", "a"], ["1"]),
        (r"^[\D]$", ["\u0661", "a", "\n"], ["1"]),
        (r"^\w$", ["a", "_", "Z", "0"], ["\xe9", "-"]),
        (r"^[\w-]$", ["a", "_", "-"], ["\xe9", "`"]),
        (r"^[\w-z]$", ["a", "-"], ["`"]),
        (r"^\W$", ["\xe9", "-"], ["a", "_", "0"]),
        (r"^[\W_]$", ["\xe9", "-", "_", "[", "`", "@", "/", ":"], ["a", "Z", "0"]),
        (r"\ba\b", ["\xe9a"], ["ba"]),
        (r"^\\d$", ["\\d"], ["1"]),
        (r"^\B", ["", "-a"], ["a"]),
        (r"^\s$", ["\xa0", "\ufeff", "\n", " "], ["x", "\x1c", "\x85"]),
        (r"^[\S]$", ["x", "\x1c", "\x85"], ["\xa0", "\ufeff", " "]),
        ("^.$", ["a", "\x85"], ["\n", "\r", "\u2028"]),
        (r"^[.]\.$", [".."], ["a.", ".a"]),
        (r"^[+-\d]$", ["+", "-", "1"], [",", ".", "/"]),
        (r"^[.-\w]$", [".", "-", "a"], ["/", ":", "@"]),
        (r"^[--\d]$", ["-", "1"], [".", "/"]),
        (r"^[^+-\d]$", [",", ".", "/"], ["+", "-", "1"]),
        (r"^[\s-x]$", [" ", "-", "x"], ["a", "!"]),
        (r"^[\w\s-.]$", ["a", " ", "-", "."], ["!", "+"]),
        (r"^[\d-a-z]$", ["1", "a", "-", "z"], ["b"]),
        (r"^[a-c-\d-]$", ["a", "b", "c", "-", "1"], ["d"]),
        (r"^[+--]$", ["+", ",", "-"], ["."]),
        ("^[[a]$", ["[", "a"], ["]"]),
        ("^[a||b&&c~~-]$", ["a", "|", "b", "&", "~", "-"], ["["]),
        ("^[^]$", ["a", "\n"], [""]),
        ("a[]|b", ["b"], ["a", "a["]),
        (r"^(?<n>a|b)\k<n>$", ["aa", "bb"], ["ab", "a"]),
        (r"^(?:(a)|b)\1c$", ["aac", "bc"], ["ac"]),
        (r"^(?:(?<n>a)|b)\k<n>c$", ["aac", "bc"], ["ac"]),
        (r"^[\1]$", ["\x01"], ["1"]),
        (r"^\u{1F600}+$", ["\U0001f600\U0001f600"], ["u"]),
        (r"^\uD83D\uDE00+[\uD83D\uDE00]$", ["\U0001f600\U0001f600"], ["\U0001f601"]),
        (r"^[\u{1F600}-\uD83D\uDE02]$", ["\U0001f601"], ["\U0001f603"]),
        (r"^[\u0041-\x43-\d]$", ["B", "-", "1"], ["D", "0041"]),
        (r"^\cJ[\cj]$", ["\n\n"], ["cJ"]),
        (r"^\u{2E}\u{5b}$", [".["], ["a["]),
        ("^a{,3}b{,}$", ["a{,3}b{,}"], ["aa", "b"]),
        ("^a{1,2}?b{1,}$", ["ab", "aabb"], ["b"]),
        (r"^(?:a(?=b)|b(?!a)|(?<=b)c|(?<!b)d)+$", ["abc", "b"], ["bd", "ba"]),
    ],
)
def test_a_pattern_means_what_ecma_262_means(written, fits, does_not):
    assert [text for text in fits + does_not if Pattern(written).search(text)] == fits
    inner = {"type": "string", "pattern": written}
    schema = {"type": "object", "properties": {"a": inner}, "additionalProperties": False}
    validator = ArgumentValidator(schema, HandlerKeywords.of(dict, schema))
    for way in ("compiled", "jsonschema"):
        assert [t for t in fits + does_not if not validator.check({"a": t})[1]] == fits, way
        validator._accept = None


NO_PATTERN = {
    **dict.fromkeys(["(?s)a", "(?m:a)", "(?-i:a)", "(?x) a"], "flags in a pattern are not JSON Schema's"),
    **{r"\Aa": r"\A is not", r"a\Z": r"\Z is not", r"[\a]": r"\a is not", r"\N{DASH}": r"\N is not"},
    **{"a++": "++ is not", "a?+": "?+ is not", "a*+": "*+ is not", "a{1,2}+": "{1,2}+ is not"},
    **{"(?>a)": "(?> is not", "(?P<n>a)": "(?P is not", "(?#a)": "(?# is not", "(a)?(?(1)b)": "(?( is not"},
    **{r"\2(a)": r"\2 leads to no group", r"[a\d": "a [ has no ]", r"\u{110000}": "incomplete escape"},
    **{"[b-a]": "bad character range b-a", r"\p{L}": r"bad escape \p", "(?<a)b>c)": "bad character in group name"},
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("written", NO_PATTERN)
def test_a_pattern_that_python_alone_can_read_or_that_it_cannot_is_refused(written):
    with pytest.raises(ValueError, match="cannot read the pattern") as refused:
        registry_for({"type": "string", "pattern": written})
    assert NO_PATTERN[written] in str(refused.value)
    assert "at position" not in str(refused.value)


LEADS_ON = {"properties": {"c": {"$ref": "#/$defs/n"}}}
RECURSIVE = {
    "allOf": {"allOf": [{"$ref": "#/$defs/m"}]},
    "allOf, twice": {"allOf": [LEADS_ON, {"$ref": "#/$defs/m"}]},
    "anyOf": {"anyOf": [LEADS_ON, {"$ref": "#/$defs/m"}]},
    "oneOf": {"oneOf": [{"$ref": "#/$defs/m"}, {"required": ["z"]}], **LEADS_ON},
    "if": {"if": LEADS_ON, "then": LEADS_ON, "else": LEADS_ON},
    "dependentSchemas": {"dependentSchemas": {"c": {"allOf": [LEADS_ON, LEADS_ON]}}},
    "not": {"not": {"not": LEADS_ON}, **LEADS_ON},
    "contains": {"properties": {"c": {"contains": {"$ref": "#/$defs/n"}, "items": {"$ref": "#/$defs/n"}}}},
}  # fmt: skip


@pytest.mark.parametrize("keyword", RECURSIVE)
def test_a_deep_value_is_judged_at_once(keyword):
    node = {"type": "object", **RECURSIVE[keyword], "unevaluatedProperties": False}
    registry = registry_for({"$ref": "#/$defs/n"}, {"n": node, "m": LEADS_ON})
    began = time.perf_counter()
    for leaf, fits in ({}, True), ({"x": 1}, False), (3, False):
        for _ in range(40):
            leaf = {"c": [leaf] if keyword == "contains" else leaf}
        assert registry.dispatch(ToolCall("1", "t", {"a": leaf})).ok == fits
    assert time.perf_counter() - began < 9


ROW = {"properties": {f"f{i}": {"anyOf": [{"type": "string"}, NULL]} for i in range(10)}}
TAGGED = {"oneOf": [
    {"properties": {"k": {"const": "i"}, "v": INTEGER}},
    {"properties": {"k": {"const": "n"}, "v": {"type": "number"}, "i": INTEGER}},
]}  # fmt: skip
MANY = {
    "alternatives": ({"anyOf": [{"type": "string"}, NULL]}, ["x"] * 10_001),
    "rows": (ROW, [{f"f{i}": None for i in range(10)}] * 1_001),
    "texts before floats": ({"anyOf": [INTEGER, {"type": "string"}]}, ["x"] * 50_000 + [2] * 20),
    "tagged": (TAGGED, [{"k": "n", "v": 5.0, "i": 6}] * 51),
}


@pytest.mark.parametrize("case", MANY)
def test_many_valid_items_are_accepted(case):
    items, value = MANY[case]
    sent = json.loads(json.dumps(value).replace('"i": 6', '"i": 6.0').replace(" 2", " 2.0"))
    began = time.perf_counter()
    copy, violations = ArgumentValidator(
        {"type": "object", "properties": {"a": {"items": items}}},
        HandlerKeywords.of(lambda a=None: a, {}),
    ).check({"a": sent})
    assert time.perf_counter() - began < 9
    assert violations == []
    assert repr(copy["a"]) == repr(value)


def test_only_what_is_told_of_many_forms_is_found_out():
    forms = [{"items": INTEGER}, {"items": {"type": "boolean"}}]
    began = time.perf_counter()
    said = content({"anyOf": forms}, ["x"] * 20_000)
    assert time.perf_counter() - began < 3
    assert len(said) < 600


LONG = "ab" * 31
TWENTY_FORMS = {"properties": {"v": INTEGER, "next": {"anyOf": [{"$ref": "#/$defs/n"}] * 20}}}
BUSY = {
    "long enums": ({"items": {"enum": [f"{LONG}{i}" for i in range(1_000)]}}, [f"b{LONG}{i}" for i in range(100)]),
    "forms in forms": (TWENTY_FORMS, json.loads('{"next": ' * 40 + '{"v": "x"}' + "}" * 40)),
    "a large value": ({"allOf": [{"type": "string"}] * 1_000}, [1] * 90_000),
}  # fmt: skip


@pytest.mark.parametrize("case", BUSY)
def test_a_small_schema_does_not_keep_the_check_busy(case):
    schema, value = BUSY[case]
    began = time.perf_counter()
    assert content(schema, value, {"n": TWENTY_FORMS}).startswith("$.a")
    assert time.perf_counter() - began < 4


def test_an_unknown_name_is_told_once():
    schema = {"type": "object", "properties": {"a": {}}, "patternProperties": {"^x": {}}}
    schema["additionalProperties"] = False
    registry = ToolRegistry([ToolSpec("t", "", schema, lambda a=None: a)])
    said = registry.dispatch(ToolCall("1", "t", {"b": 1, "xa": 1})).content
    assert said.splitlines() == [
        'Error [invalid_arguments]: $: unknown property "b"; known are "a", and names that match "^x"',
        '$: unknown property "xa"; did you mean "a"?',
    ]


def test_a_name_declared_false_is_not_suggested():
    schema = {"type": "object", "properties": {"old": False, "b": {}}}
    registry = ToolRegistry([ToolSpec("t", "", schema, lambda b=None, old=None: b)])
    said = registry.dispatch(ToolCall("1", "t", {"olds": 1})).content
    assert said == 'Error [invalid_arguments]: $: unknown property "olds"; known are "b"'


@pytest.mark.parametrize("text", ["1" * 5_000, "[" * 50_000], ids=["a number", "deep"])
def test_of_json_that_python_does_not_read_nothing_untrue_is_said(text):
    said = registry_for({}).dispatch(ToolCall("1", "t", text)).content
    assert "expected an object, got text, send the object itself" in said


@pytest.mark.parametrize(
    "value", [["\x00" * 50] * 2, {"n\u00e9": 1.5, "m": [None, True]}, "x" * 59, '"' * 60]
)
def test_what_is_shown_is_the_beginning_of_the_json(value):
    text = json.dumps(value, ensure_ascii=False)
    for most in range(1, 80):
        assert shown(value, most) == (text if len(text) <= most else f"{text[:most]}...")


INTEGERS = {
    "unevaluatedProperties": ({"unevaluatedProperties": INTEGER}, {"n": 5.0}, {"n": 5}),
    "unevaluatedItems": ({"unevaluatedItems": INTEGER}, [5.0], [5]),
    "contains": ({"contains": INTEGER}, [5.0, "x"], [5, "x"]),
    "if": (
        {"if": {"properties": {"a": INTEGER}}, "then": {"properties": {"b": INTEGER}}},
        {"a": 1.0, "b": 2.0},
        {"a": 1, "b": 2},
    ),
    "not": ({"not": {"not": INTEGER}}, 5.0, 5.0),
    "$dynamicRef": ({"$dynamicRef": "#tree"}, [[5.0]], [[5]]),
}


@pytest.mark.parametrize(("schema", "sent", "expected"), INTEGERS.values(), ids=INTEGERS)
def test_integers_are_delivered_wherever_the_schema_says_so(schema, sent, expected):
    tree = {
        "$dynamicAnchor": "tree",
        "type": ["array", "integer"],
        "items": {"$dynamicRef": "#tree"},
    }
    assert content(schema, sent, {"t": tree}) == json.dumps(expected)


NO_SCHEMA = {
    "a number": ({"$ref": "#/$defs/q/minimum"}, {"q": {"minimum": 3}}),
    "below a number": ({"$ref": "#/$defs/q/minimum/0"}, {"q": {"minimum": 3}}),
    "a literal": ({"$ref": "#/$defs/q/default"}, {"q": {"default": True}}),
    "two dynamic anchors": (
        {"$dynamicRef": "#n"},
        {"n": {"$dynamicAnchor": "n"}, "o": {"$id": "o", "$dynamicAnchor": "n"}},
    ),
}


@pytest.mark.parametrize(("schema", "defs"), NO_SCHEMA.values(), ids=NO_SCHEMA)
def test_a_reference_leads_to_one_schema(schema, defs):
    with pytest.raises(ValueError, match=r"leads to no schema|the same \$dynamicAnchor"):
        registry_for(schema, defs)


class Endless(Mapping):
    """Says that it holds one name, and never stops to yield more."""

    def __len__(self):
        return 1

    def __iter__(self):
        return map(str, itertools.count())

    def __getitem__(self, name):
        return 1


def test_a_mapping_is_counted_by_what_it_yields():
    assert "too large" in registry_for({}).dispatch(ToolCall("1", "t", Endless())).content


def test_near_the_limit_of_the_stack_a_check_raises_nothing():
    schema = {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": False}
    validator = ArgumentValidator(schema, HandlerKeywords.of(dict, schema))
    validator.check({"a": "x"})
    said = set()

    def descend(levels):
        if levels:
            return descend(levels - 1)
        return validator.check({"a": 1})[1]

    for levels in range(sys.getrecursionlimit()):
        try:
            said.update(descend(levels))
        except RecursionError as error:
            trace = error.__traceback__
            while trace.tb_next:
                trace = trace.tb_next
            assert trace.tb_frame.f_code.co_name in ("descend", "check"), levels
    assert said <= {"$: the arguments cannot be checked (RecursionError)"}


@pytest.mark.parametrize("escape", ["d", "w", "s"])
def test_a_class_of_characters_and_its_opposite_share_none_and_leave_none_out(escape):
    one, other = (Pattern(f"[\\{e}]").search for e in (escape, escape.upper()))
    assert [c for c in map(chr, range(0x110000)) if bool(one(c)) == bool(other(c))] == []

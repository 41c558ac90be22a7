"""ToolCall: three things are taken out of a vendor's object, and reading never raises."""

from types import SimpleNamespace

import pytest
from anthropic.types import ToolUseBlock
from hypothesis import given
from hypothesis import strategies as st

from harness_lib import ToolCall

MAPPING = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}}


class Hostile:
    """A vendor's object whose every field raises."""

    def __getattr__(self, name):
        raise RuntimeError(name)


@pytest.mark.parametrize(
    "block",
    [MAPPING, SimpleNamespace(**MAPPING), ToolUseBlock.construct(**MAPPING, caller=None)],
    ids=["mapping", "object", "sdk"],
)
def test_one_call_from_each_kind_of_block(block):
    assert ToolCall.from_block(block) == ToolCall("toolu_1", "read_file", {"path": "a"})


@pytest.mark.parametrize("arguments", [["oops"], "text", None, 7, {}])
def test_arguments_stay_what_they_are(arguments):
    assert ToolCall.from_block({**MAPPING, "input": arguments}).arguments == arguments


@given(st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers()), st.just(Hostile())))
def test_reading_never_raises(anything):
    assert ToolCall.from_block(anything) == ToolCall("", "", None)
    assert ToolCall.from_openai(anything) == ToolCall("", "", None)


class Lying:
    """A value that raises when it is asked for its class."""

    @property
    def __class__(self):
        raise RuntimeError("no class")


class Loud(str):
    """Text whose own methods raise."""

    def _raise(self, *args):
        raise RuntimeError("no text")

    strip = __eq__ = __str__ = __len__ = _raise
    __hash__ = str.__hash__


def test_values_that_raise_are_read_too():
    assert ToolCall.from_block({"id": Lying(), "name": Loud("a"), "input": {}}) == ToolCall(
        "", "a", {}
    )
    lying = Lying()
    assert (
        ToolCall.from_openai({"id": "call_1", "function": {"arguments": lying}}).arguments is lying
    )
    assert ToolCall.from_openai(openai(Loud(' {"path": "a"}'))) == ToolCall(
        "call_1", "read_file", {"path": "a"}
    )
    assert ToolCall.from_openai(openai(Loud("["))) == ToolCall("call_1", "read_file", "[")


@given(st.dictionaries(st.sampled_from(["id", "name", "input"]), st.from_type(type) | st.none()))
def test_id_and_name_are_text_or_empty(block):
    call = ToolCall.from_block(block)
    assert isinstance(call.tool_use_id, str)
    assert isinstance(call.name, str)


def openai(arguments):
    return {"id": "call_1", "function": {"name": "read_file", "arguments": arguments}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"path": "a.py"}', {"path": "a.py"}),
        ("", {}),
        ("  \n", {}),
        ('["oops"]', ["oops"]),
        ('{"path": "a.py", "content": "', '{"path": "a.py", "content": "'),
        ('{"file_path": "a.py"}' * 2, '{"file_path": "a.py"}' * 2),
        (r'{"drink": "\ud83c\udf78"}', {"drink": "\U0001f378"}),
        ("[" * 100_000, "[" * 100_000),
        ('{"n": ' + "9" * 5_000 + "}", '{"n": ' + "9" * 5_000 + "}"),
        (None, None),
        ({"path": "a"}, {"path": "a"}),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_openai_arguments(text, expected):
    assert ToolCall.from_openai(openai(text)) == ToolCall("call_1", "read_file", expected)


def test_both_shapes_of_openai_are_the_same_call():
    flat = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    nested = SimpleNamespace(id="call_1", function=SimpleNamespace(name="f", arguments="{}"))
    assert ToolCall.from_openai(flat) == ToolCall.from_openai(nested) == ToolCall("call_1", "f", {})


def test_fragments_joined_and_parsed_once_are_one_call():
    fragments = ['{"file_', 'path": "a.py"}']
    assert ToolCall.from_openai(openai("".join(fragments))).arguments == {"file_path": "a.py"}


def test_a_vendors_later_change_of_the_block_does_not_rename_the_call():
    block = SimpleNamespace(**MAPPING)
    call = ToolCall.from_block(block)
    block.name = "bash"
    assert call.name == "read_file"
    with pytest.raises(AttributeError):
        call.name = "bash"

"""ToolDispatchResult and the encoding of values: always something that can be sent."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_lib import ToolCall, ToolDispatchResult, ToolError, ToolErrorCode
from harness_lib.result import MAX_CONTENT_CHARS, clip, encode, explain, sendable

CALL = ToolCall("toolu_1", "t", {})


def test_a_success_block_has_no_is_error_key():
    assert ToolDispatchResult(CALL, "ok").to_protocol_block() == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "ok",
    }


def test_a_failure_says_so_twice():
    result = ToolDispatchResult.failure(CALL, ToolErrorCode.UNKNOWN_TOOL, "no such tool")
    assert not result.ok
    assert result.to_protocol_block() == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "Error [unknown_tool]: no such tool",
        "is_error": True,
    }


def test_the_exception_is_in_neither_eq_nor_repr():
    one = ToolDispatchResult(CALL, "x", ToolErrorCode.EXECUTION_ERROR, ValueError("secret"))
    other = ToolDispatchResult(CALL, "x", ToolErrorCode.EXECUTION_ERROR)
    assert one == other
    assert "secret" not in repr(one)
    assert isinstance(one.exception, ValueError)


def test_codes_are_the_lower_case_names():
    assert [(code.name.lower(), code) for code in ToolErrorCode] == [
        ("unknown_tool", "unknown_tool"),
        ("invalid_arguments", "invalid_arguments"),
        ("execution_error", "execution_error"),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "(no output)"),
        (True, "true"),
        (1.5, "1.5"),
        ({"b": [1, None], "a": "é"}, '{"b": [1, null], "a": "é"}'),
        ((1, 2), "[1, 2]"),
        ("Error: 0 found", "Error: 0 found"),
    ],
)
def test_encode(value, text):
    assert encode(value) == text


class NoClass:
    """An object that raises when it is asked for its class."""

    @property
    def __class__(self):
        raise RuntimeError("no class")


@pytest.mark.parametrize(
    "value",
    [b"x", {1, 2}, object(), dict, float("nan"), [b"x"], (i for i in ())],
)
def test_what_is_no_json_is_named_by_its_type(value):
    with pytest.raises(TypeError, match=f"returned {type(value).__name__}, which is not text"):
        encode(value)


@pytest.mark.parametrize("kind", ["NoClass", "list"])
def test_what_raises_for_its_class_is_named_too(kind):
    value = NoClass()  # made here: it is no parameter that pytest could show
    with pytest.raises(TypeError, match=f"returned {kind}, which is not text"):
        encode(value if kind == "NoClass" else [value])


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_can_be_sent(text):
    sent = sendable(text)
    sent.encode()
    assert 0 < len(sent) <= MAX_CONTENT_CHARS
    assert ToolDispatchResult(CALL, text).content == sent


def test_surrogates_join_or_are_replaced():
    assert sendable("\ud83c\udf78") == "\U0001f378"
    assert sendable("a\ud83cb") == "a\ufffdb"
    assert sendable("\udf78") == "\ufffd"


@given(st.integers(0, 300), st.integers(80, 200))
def test_a_cut_keeps_head_and_tail_and_names_its_size(length, limit):
    text = "".join(chr(0x100 + i) for i in range(length))
    cut = clip(text, limit)
    assert len(cut) <= limit
    if length <= limit:
        assert cut == text
        return
    head, rest = cut.split("\n[... ")
    count, tail = rest.split(" characters left out ...]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) + int(count.replace(",", "")) == length


class Mute(Exception):
    def __str__(self):
        raise SystemExit("no")


class Stop(Exception):
    def __str__(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (ValueError(), "ValueError"),
        (ToolError("in its own words"), "in its own words"),
        (ToolError(), "ToolError"),
        (Mute(), "Mute: (its message cannot be read)"),
        (KeyError("k"), "KeyError: 'k'"),
        (ValueError("it ends: "), "ValueError: it ends: "),
        (
            type("N" * 9_000, (Exception,), {})(),
            f"{'N' * 32}\n[... 8,937 characters left out ...]\n{'N' * 31}",
        ),
    ],
)
def test_explain(error, text):
    assert explain(error) == text


def test_only_an_interrupt_passes_out_of_a_message():
    with pytest.raises(KeyboardInterrupt):
        explain(Stop())
    assert len(explain(ValueError("x" * 100_000))) < 3_000


def test_a_block_is_json():
    block = ToolDispatchResult.failure(CALL, ToolErrorCode.EXECUTION_ERROR, "").to_protocol_block()
    assert json.loads(json.dumps(block))["content"] == "Error [execution_error]: (no output)"

"""The loop: it delegates, and leaves a history that can be gone on from."""

import dataclasses
import json
from collections import namedtuple
from types import SimpleNamespace
from typing import ClassVar
from unittest.mock import MagicMock, Mock

import pytest
from anthropic.types import TextBlock, ThinkingBlock, ToolUseBlock

from harness_lib import AgentTurn, ToolCall, ToolRegistry, ToolSpec, agent_loop, object_schema
from harness_lib.loop import CUT, INTERRUPTED
from harness_lib.providers.referee import judge
from harness_lib.providers.scripted import ScriptedModel, Turn


def interrupt(**kw):
    raise KeyboardInterrupt


@pytest.fixture
def registry():
    text = object_schema({"text": {"type": "string"}}, ["text"])
    return ToolRegistry(
        [
            ToolSpec("echo", "Says it again.", text, lambda text: text, concurrent_safe=True),
            ToolSpec("note", "Keeps it.", text, lambda text: None),
            ToolSpec("stop", "Interrupts.", {"type": "object"}, interrupt),
        ]
    )


def run(turns, registry, **more):
    model = ScriptedModel(turns)
    messages = [{"role": "user", "content": "go"}]
    result = agent_loop(messages, registry=registry, client=model.client(), model="m", **more)
    return result, messages, model


def say(text):
    return ("echo", {"text": text})


def test_a_final_answer(registry):
    result, messages, model = run(["hello"], registry, system="Be brief.", max_tokens=99)
    assert dataclasses.astuple(result) == ("final_answer", 1, 0, "hello", "end_turn")
    assert messages == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "text", "text": "hello"}]},
    ]
    [request] = model.requests
    assert request["system"] == "Be brief."
    assert request["max_tokens"] == 99
    assert request["tools"] == registry.model_schemas()


def test_what_is_not_set_is_not_sent():
    _, _, model = run(["hello"], ToolRegistry())
    assert set(model.requests[0]) == {"model", "max_tokens", "messages"}


def test_all_results_of_a_turn_come_back_in_one_message(registry):
    reported = []
    turns = [Turn("both", [say("a"), say("b")]), Turn(calls=[("nope", {})]), "done"]
    result, messages, _ = run(turns, registry, on_result=lambda i, r: reported.append((i, r.ok)))
    assert dataclasses.astuple(result) == ("final_answer", 3, 3, "done", "end_turn")
    assert [m["role"] for m in messages] == ["user", *["assistant", "user"] * 2, "assistant"]
    first, second = messages[2]["content"], messages[4]["content"]
    assert [(b["tool_use_id"], b["content"]) for b in first] == [
        ("toolu_01", "a"),
        ("toolu_02", "b"),
    ]
    assert second[0]["is_error"]
    assert sorted(reported[:2]) == [(0, True), (1, True)]
    assert reported[2:] == [(0, False)]


def test_a_model_that_reads_its_error_corrects_itself(registry):
    def second_try(request):
        [answer] = request["messages"][-1]["content"]
        assert (
            answer["content"]
            == 'Error [invalid_arguments]: $: the required property "text" is missing'
        )
        return Turn(calls=[say("now right")])

    result, messages, _ = run([Turn(calls=[("echo", {})]), second_try, "done"], registry)
    assert result.tool_calls == 2
    assert messages[-2]["content"][0]["content"] == "now right"


@pytest.mark.parametrize("stop_reason", ["end_turn", "stop_sequence", "refusal", "tool_use", "new"])
def test_blocks_decide_not_the_stop_reason(registry, stop_reason):
    result, _, _ = run([Turn(calls=[say("a")], stop_reason=stop_reason), "done"], registry)
    assert result.tool_calls == 1
    result, _, _ = run([Turn("no call", stop_reason=stop_reason)], registry)
    assert (result.stop_reason, result.provider_stop_reason) == ("final_answer", stop_reason)


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
def test_calls_of_a_cut_turn_do_not_run(registry, stop_reason):
    ran = []
    result, messages, _ = run(
        [Turn("half", [say("a"), ("echo", {})], stop_reason)],
        registry,
        on_result=lambda *args: ran.append(args),
    )
    assert dataclasses.astuple(result) == ("max_tokens", 1, 0, "half", stop_reason)
    assert ran == []
    for block in messages[-1]["content"]:
        assert block["content"] == f"Error: not executed: {CUT}"
        assert block["is_error"]


def test_a_paused_turn_goes_on_as_one_turn(registry):
    search = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"q": "x"},
    }
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    turns = [Turn("wait", [search], "pause_turn"), Turn(calls=[found, say("a")]), "done"]
    result, messages, model = run(turns, registry)
    assert (result.turns, result.tool_calls) == (3, 1)
    assert model.requests[1]["messages"][-1]["role"] == "assistant"
    assert [b["type"] for b in messages[1]["content"]] == [
        "text",
        "server_tool_use",
        "web_search_tool_result",
        "tool_use",
    ]


def test_a_pause_that_is_never_ended_leaves_no_server_tool_unanswered(registry):
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    pause = Turn("wait", [search], "pause_turn")
    result, messages, _ = run([pause], registry, max_turns=1)
    assert result.stop_reason == "max_turns"
    assert messages[1:] == [{"role": "assistant", "content": [{"type": "text", "text": "wait"}]}]


def test_the_turn_limit(registry):
    result, messages, model = run([Turn(calls=[say("a")])] * 3, registry, max_turns=2)
    assert dataclasses.astuple(result)[:3] == ("max_turns", 2, 2)
    assert len(model.requests) == 2
    assert messages[-1]["role"] == "user"
    with pytest.raises(ValueError, match="max_turns"):
        run([], registry, max_turns=0)


def test_an_empty_turn_is_not_stored(registry):
    result, messages, _ = run([Turn("  \n")], registry)
    assert result.final_text == ""
    assert messages == [{"role": "user", "content": "go"}]


def test_an_interrupt_answers_every_call(registry):
    messages = [{"role": "user", "content": "go"}]
    model = ScriptedModel([Turn("", [say("a"), ("stop", {}), say("b")])])
    with pytest.raises(KeyboardInterrupt):
        agent_loop(messages, registry=registry, client=model.client(), model="m")
    assert [m["role"] for m in messages] == ["user", "assistant", "user"]
    assert [b["content"] for b in messages[-1]["content"]] == [
        "a",
        f"Error: not executed: {INTERRUPTED}",
        f"Error: not executed: {INTERRUPTED}",
    ]
    assert [b.get("is_error") for b in messages[-1]["content"]] == [None, True, True]


def test_a_broken_on_result_leaves_the_history_whole(registry):
    messages = [{"role": "user", "content": "go"}]
    model = ScriptedModel([Turn("", [say("a")])])

    def on_result(index, result):
        raise LookupError

    with pytest.raises(LookupError):
        agent_loop(
            messages, registry=registry, client=model.client(), model="m", on_result=on_result
        )
    assert messages[-1]["content"][0]["content"] == "a"


def block(**fields):
    return {"type": "tool_use", "id": "toolu_a", "name": "echo", "input": {"text": "x"}, **fields}


MENDED = {
    "duplicate id": ([block(), block()], ["toolu_a", "toolu_renamed_2"]),
    "empty id": ([block(id="")], ["toolu_renamed_1"]),
    "no id": ([block(id=None)], ["toolu_renamed_1"]),
    "illegal id": ([block(id="a b")], ["toolu_renamed_1"]),
    "newline": ([block(id="a\n")], ["toolu_renamed_1"]),
    "a name that we would give": (
        [block(id="toolu_renamed_2"), block(id="")],
        ["toolu_renamed_2", "toolu_renamed_3"],
    ),
}


@pytest.mark.parametrize(("blocks", "ids"), MENDED.values(), ids=MENDED)
def test_ids_are_mended_with_their_results(registry, blocks, ids):
    _, messages, _ = run([Turn(calls=blocks), "done"], registry)
    assert [b["id"] for b in messages[1]["content"]] == ids
    assert [b["tool_use_id"] for b in messages[2]["content"]] == ids
    assert [b["content"] for b in messages[2]["content"]] == ["x"] * len(ids)


def test_an_id_of_an_earlier_turn_is_not_used_again(registry):
    _, messages, _ = run([Turn(calls=[block()]), Turn(calls=[block()]), "done"], registry)
    assert messages[3]["content"][0]["id"] != "toolu_a"
    assert messages[4]["content"][0]["tool_use_id"] == messages[3]["content"][0]["id"]


@pytest.mark.parametrize("arguments", ["text", ["oops"], None, 7])
@pytest.mark.filterwarnings("error")
def test_an_input_that_is_no_object_is_stored_as_an_empty_one(registry, arguments):
    _, messages, _ = run([Turn(calls=[block(input=arguments)]), "done"], registry)
    assert messages[1]["content"][0]["input"] == {}
    answer = messages[2]["content"][0]
    assert answer["is_error"]
    assert (json.dumps(arguments) if arguments != "text" else "got text") in answer["content"]


@pytest.mark.parametrize("name", [None, 7, "", "x" * 201, ["a"]])
def test_a_name_that_cannot_stand_is_replaced(registry, name):
    _, messages, _ = run([Turn(calls=[block(name=name)]), "done"], registry)
    assert messages[1]["content"][0]["name"] == "unnamed_tool"
    assert messages[2]["content"][0]["content"].startswith("Error [unknown_tool]")


@pytest.mark.filterwarnings("error")
def test_odd_blocks_are_kept_as_plain_dicts(registry):
    odd = {"type": "weird", "z": [1]}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    _, messages, _ = run([Turn("a", [thought, odd, block()]), "done"], registry)
    content = messages[1]["content"]
    assert content[1:3] == [thought, odd]
    assert all(type(b) is dict for b in content)


def test_a_turn_does_not_end_in_a_thought_or_in_white_space():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    response = SimpleNamespace(
        content=[thought, {"type": "text", "text": "a \n"}, thought], stop_reason="max_tokens"
    )
    assert AgentTurn.from_response(response).content == [thought, {"type": "text", "text": "a"}]
    only = SimpleNamespace(content=[thought], stop_reason="max_tokens")
    assert AgentTurn.from_response(only).content == []


@pytest.mark.parametrize(
    "content",
    [None, "", 7, [], [None], [{}], [{"type": 7}], [{"type": ""}], [{"type": "text"}], [object()]],
)
def test_turns_without_anything(content):
    turn = AgentTurn.from_response(SimpleNamespace(content=content))
    assert turn == AgentTurn([], (), "", None)


def test_any_client_of_the_shape_will_do(registry):
    """A fake with plain objects; of a client the loop uses messages.create alone."""
    use = SimpleNamespace(type="tool_use", id="t1", name="echo", input={"text": "hi"})
    turns = [
        SimpleNamespace(content=[use], stop_reason="tool_use"),
        SimpleNamespace(content="as text", stop_reason=None),
    ]
    client = SimpleNamespace(messages=SimpleNamespace(create=lambda **request: turns.pop(0)))
    messages = [{"role": "user", "content": "go"}]
    result = agent_loop(messages, registry=registry, client=client, model="m")
    assert result.final_text == "as text"
    assert messages[1]["content"] == [
        {"type": "tool_use", "id": "t1", "name": "echo", "input": {"text": "hi"}}
    ]


class Raising:
    def __getattr__(self, name):
        raise RuntimeError(name)


class RaisingValue:
    @property
    def __class__(self):
        raise RuntimeError("no class")

    def __eq__(self, other):
        raise RuntimeError("no equal")

    __hash__ = None


class RaisingMapping(dict):
    def items(self):
        raise SystemExit


def holding_itself(fields):
    fields["again"] = [fields]
    return fields


class ClassFields:
    type = "tool_use"
    id = "t1"
    name = "echo"
    input: ClassVar = {"text": "hi"}


@dataclasses.dataclass(slots=True)
class Slots:
    type: str = "tool_use"
    id: str = "t1"
    name: str = "echo"
    input: object = dataclasses.field(default_factory=lambda: {"text": "hi"})


CALL_SHAPES = {
    "class attributes": ClassFields(),
    "slots": Slots(),
    "a named tuple": namedtuple("Use", "type id name input")(
        "tool_use", "t1", "echo", {"text": "hi"}
    ),
    "a mock": MagicMock(type="tool_use", id="t1", input={"text": "hi"}),
    "the SDK's, made by hand": ToolUseBlock.model_construct(
        type="tool_use", id="t1", name="echo", input={"text": "hi"}, index=7
    ),
}
CALL_SHAPES["a mock"].name = "echo"


@pytest.mark.parametrize("use", CALL_SHAPES.values(), ids=CALL_SHAPES)
def test_no_shape_of_a_call_is_lost(use):
    turn = AgentTurn.from_response(SimpleNamespace(content=[use], stop_reason="tool_use"))
    assert turn.calls == (ToolCall("t1", "echo", {"text": "hi"}),)
    assert turn.content == [
        {"type": "tool_use", "id": "t1", "name": "echo", "input": {"text": "hi"}}
    ]


@dataclasses.dataclass(slots=True)
class SlotsText:
    text: str
    type: str = "text"


class ClassText:
    type = "text"
    text = "hello"


class PropertyText:
    @property
    def type(self):
        return "text"

    @property
    def text(self):
        return "hello"


def referring_back():
    block = SimpleNamespace(type="text", text="hello")
    block.response = SimpleNamespace(content=[block])
    return block


TEXT_SHAPES = {
    "slots": SlotsText("hello"),
    "class attributes": ClassText(),
    "properties": PropertyText(),
    "a named tuple": namedtuple("Text", "type text")("text", "hello"),
    "a mock": Mock(type="text", text="hello"),
    "an object that its own field refers to": referring_back(),
    "a dict that holds itself": holding_itself({"type": "text", "text": "hello"}),
    "the SDK's": TextBlock(type="text", text="hello", citations=None),
    "with citations that cannot be read": {
        "type": "text",
        "text": "hello",
        "citations": [Raising()],
    },
}


@pytest.mark.parametrize("shape", TEXT_SHAPES.values(), ids=TEXT_SHAPES)
def test_no_shape_of_a_text_is_lost(shape):
    turn = AgentTurn.from_response(SimpleNamespace(content=[shape]))
    assert turn.text == "hello"
    assert turn.content == [{"type": "text", "text": "hello"}]


@pytest.mark.parametrize("kind", [SimpleNamespace, Mock, dict, ThinkingBlock.model_construct])
def test_no_shape_of_a_thought_is_lost(kind):
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    turn = AgentTurn.from_response(SimpleNamespace(content=[kind(**thought), SlotsText("a")]))
    assert turn.content[0] == thought


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
HIDDEN = {"type": "redacted_thinking", "data": "d"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}

LEFT_OUT = {
    "a thought without signature": {"type": "thinking", "thinking": "hm"},
    **{
        f"a thought with {field} {bad!r}": THOUGHT | {field: bad}
        for field, bad in [("signature", bad) for bad in ("", " ", None, 5)]
        + [("thinking", None), ("thinking", 5)]
    },
    "a hidden thought without data": {"type": "redacted_thinking"},
    **{f"a hidden thought with data {bad!r}": HIDDEN | {"data": bad} for bad in ("", None, 5)},
    **{
        f"a server tool's id {bad!r}": SEARCH | {"id": bad}
        for bad in (["a"], {"a": 1}, None, 5, "", "srvtoolu_a b", "toolu_1")
    },
    "a server tool's input that is a list": SEARCH | {"input": []},
    "a server tool's input of 600 levels": SEARCH | {"input": deep(600)},
    "a server tool's result without its use": FOUND,
    **{
        f"a server tool's result for {bad!r}": FOUND | {"tool_use_id": bad}
        for bad in (["a"], {"a": 1}, None, "toolu_a")
    },
    "a new provider's call without an id": {"type": "new_tool_use", "id": ["a"]},
    "a block of 600 levels": {"type": "weird", "z": deep(600)},
}


@pytest.mark.parametrize("odd", LEFT_OUT.values(), ids=LEFT_OUT)
@pytest.mark.filterwarnings("error")
def test_a_block_that_the_api_would_refuse_is_left_out(registry, odd):
    """The turn's own text and call stay; and the next request, with the history, is accepted."""
    result, messages, _ = run([Turn("a", [odd, block()]), "done"], registry)
    assert result.final_text == "done"
    assert messages[1]["content"] == [{"type": "text", "text": "a"}, block()]


class RaisingEverywhere:
    type = "weird"

    @property
    def __dict__(self):
        raise SystemExit


UNREADABLE = {
    "a block of a new type that holds itself": holding_itself({"type": "weird"}),
    "a mock of a new type": Mock(type="weird"),
    "an object whose __dict__ raises": RaisingEverywhere(),
    "a server tool's input that holds itself": SEARCH | {"input": holding_itself({})},
    "a thought whose signature is a mock": Mock(type="thinking", thinking="hm"),
    "a type whose __eq__ raises": {"type": RaisingValue()},
    "a block that raises when asked": Raising(),
    "a mapping that raises when asked": {"type": "weird", "z": RaisingMapping()},
}


@pytest.mark.parametrize("odd", UNREADABLE.values(), ids=UNREADABLE)
def test_a_block_that_cannot_be_read_is_left_out(odd):
    content = [odd, SlotsText("a"), Slots()]
    turn = AgentTurn.from_response(SimpleNamespace(content=content))
    assert turn.text == "a"
    assert turn.calls == (ToolCall("t1", "echo", {"text": "hi"}),)
    assert [b["type"] for b in turn.content] == ["text", "tool_use"]


def test_a_server_tools_result_may_come_in_a_later_turn(registry):
    """Its use had to wait for the results of our tools."""
    turns = [Turn("", [SEARCH, block()]), Turn("so", [FOUND, block(id="toolu_b")]), "done"]
    _, messages, _ = run(turns, registry)
    assert FOUND in messages[3]["content"]


TRIMMED = {
    "a thought before a server tool": (Turn("", [THOUGHT, SEARCH], "max_tokens"), None),
    "thoughts only": (Turn("", [SEARCH, THOUGHT, HIDDEN], "end_turn"), None),
    "a pause after white space": (Turn("wait ", [SEARCH], "pause_turn"), "wait"),
    "a thought between": (Turn("wait\n", [THOUGHT, SEARCH, HIDDEN], "max_tokens"), "wait"),
}


@pytest.mark.parametrize(("turn", "text"), TRIMMED.values(), ids=TRIMMED)
def test_no_end_leaves_a_thought_or_white_space_last(registry, turn, text):
    _, messages, _ = run([turn], registry, max_turns=1)
    assert judge({"messages": messages}) is None
    stored = [b["text"] for m in messages[1:] for b in m["content"]]
    assert stored == ([text] if text else [])


@pytest.mark.parametrize("messages", [(), ({"role": "user", "content": "go"},), "go", None, {}])
def test_messages_that_are_no_list_are_refused_before_a_request(registry, messages):
    model = ScriptedModel(["never"])
    with pytest.raises(TypeError, match="messages must be a list, which is extended in place"):
        agent_loop(messages, registry=registry, client=model.client(), model="m")
    assert model.requests == []


def test_what_no_request_can_carry_becomes_null():
    """An integer of more than 4,300 digits cannot be written as JSON; a client may have made it."""
    odd = {"type": "weird", "n": [10**5000, -(10**5000), float("nan"), 10**4000, True]}
    [kept] = AgentTurn.from_response(SimpleNamespace(content=[odd])).content
    assert kept["n"] == [None, None, None, 10**4000, True]
    json.dumps(kept)


class Unhashable(str):
    __hash__ = None


class Loud(str):
    def _raise(self, *args):
        raise RuntimeError("no text")

    strip = __eq__ = __str__ = __len__ = encode = _raise
    __hash__ = str.__hash__


@pytest.mark.parametrize("kind", [Unhashable, Loud])
def test_text_whose_own_methods_raise_is_read_past_them(registry, kind):
    call = {k: kind(v) if isinstance(v, str) else v for k, v in block().items()}
    response = {
        "content": [{"type": kind("text"), "text": kind("a")}, call],
        "stop_reason": kind("max_tokens"),
    }
    client = SimpleNamespace(messages=SimpleNamespace(create=lambda **request: response))
    messages = [{"role": "user", "content": "go"}]
    for _ in range(2):
        result = agent_loop(messages, registry=registry, client=client, model="m")
        assert result.stop_reason == "max_tokens"
    assert messages[1]["content"] == [{"type": "text", "text": "a"}, block()]
    assert messages[3]["content"][1]["id"] == "toolu_renamed_2"
    assert all(type(b["type"]) is str for b in messages[1]["content"])


class RaisingList(list):
    def __iter__(self):
        raise SystemExit


class RaisingResponse:
    @property
    def content(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}, "hi"),
        (SimpleNamespace(content=[{"type": "text", "text": 5}], stop_reason=["x"]), ""),
        (RaisingResponse(), ""),
        (None, ""),
        (SimpleNamespace(content=RaisingValue(), stop_reason=RaisingValue()), ""),
        (SimpleNamespace(content=RaisingList("a")), ""),
    ],
)
def test_any_response_is_a_turn(response, text):
    turn = AgentTurn.from_response(response)
    assert turn.text == text
    assert turn.stop_reason in ("end_turn", None)


def test_fields_that_the_api_does_not_take_back_are_left_out():
    response = {
        "content": [
            {"type": "text", "text": "a", "parsed_output": {}, "citations": None},
            {"type": "text", "text": "a", "citations": [{"type": "char_location"}]},
            {"type": "thinking", "thinking": "t", "signature": "s", "estimate": 1},
            block(partial_json="{", caller={"type": "direct"}),
        ]
    }
    assert [sorted(b) for b in AgentTurn.from_response(response).content] == [
        ["text", "type"],
        ["citations", "text", "type"],
        ["signature", "thinking", "type"],
        ["caller", "id", "input", "name", "type"],
    ]


def test_a_field_goes_back_by_the_name_it_came_by():
    """Where that is no name in Python, the SDK has another one for it."""
    from anthropic.types.beta import BetaFallbackBlock

    sent = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": None}
    turn = AgentTurn.from_response(SimpleNamespace(content=[BetaFallbackBlock.construct(**sent)]))
    assert turn.content[0] == sent


def test_surrogates_do_not_reach_the_request(registry):
    turns = [Turn("a\ud800", [block(input={"text": "\ud800"})]), "done"]
    _, messages, _ = run(turns, registry)
    assert messages[1]["content"][0]["text"] == "a\ufffd"
    assert messages[1]["content"][1]["input"] == {}
    assert "surrogate" in messages[2]["content"][0]["content"]


def test_a_turn_is_plain_data():
    response = SimpleNamespace(
        content=[{"type": "text", "text": "a"}, block(), {"type": "text", "text": "b"}],
        stop_reason="tool_use",
    )
    turn = AgentTurn.from_response(response)
    assert turn.text == "ab"
    assert turn.calls == (ToolCall("toolu_a", "echo", {"text": "x"}),)

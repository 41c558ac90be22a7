"""ScriptedModel: a script behind the real SDK."""

import anthropic
import httpx2
import pytest

from harness_lib.providers.scripted import ScriptedModel, Turn

HOLDS_ITSELF = {}
HOLDS_ITSELF["again"] = HOLDS_ITSELF


def ask(client, text="hi"):
    return client.messages.create(
        model="any-model", max_tokens=10, messages=[{"role": "user", "content": text}]
    )


def test_the_answer_is_the_sdks_own_message():
    message = ask(ScriptedModel([Turn("look", [("a", {"x": 1}), ("b", {})])]).client())
    assert isinstance(message, anthropic.types.Message)
    assert [block.type for block in message.content] == ["text", "tool_use", "tool_use"]
    assert [block.id for block in message.content[1:]] == ["toolu_01", "toolu_02"]
    assert (message.stop_reason, message.model, message.id) == ("tool_use", "any-model", "msg_01")


def test_a_str_is_a_final_answer():
    message = ask(ScriptedModel(["done"]).client())
    assert (message.content[0].text, message.stop_reason) == ("done", "end_turn")


def test_a_function_reads_the_request():
    model = ScriptedModel([lambda request: request["messages"][-1]["content"].upper()])
    assert ask(model.client(), "hello").content[0].text == "HELLO"
    assert model.requests[0]["max_tokens"] == 10


def test_ids_are_the_same_in_each_run():
    turns = [Turn(calls=[("a", {})]), Turn(calls=[("a", {}), ("a", {})])]
    clients = [ScriptedModel(turns).client() for _ in range(2)]
    ids = [[b.id for _ in turns for b in ask(client).content] for client in clients]
    assert ids == [["toolu_01", "toolu_02", "toolu_03"]] * 2


def test_the_end_of_the_script_is_a_sentence():
    model = ScriptedModel(["one"])
    client = model.client()
    ask(client)
    with pytest.raises(
        anthropic.BadRequestError, match="the script has 1 turns and this is request 2"
    ):
        ask(client)
    assert len(model.requests) == 1


def test_a_failing_function_is_a_sentence_too():
    client = ScriptedModel([lambda request: {}["x"]]).client()
    with pytest.raises(anthropic.BadRequestError, match="turn 1 raised KeyError"):
        ask(client)


UNSENDABLE = {
    "a call of one part": (Turn(calls=[("echo",)]), "a call is (name, arguments) or a mapping"),
    "a call of two letters": (Turn(calls=["ab"]), "a call is (name, arguments) or a mapping"),
    "a call that is a number": (Turn(calls=[5]), "a call is (name, arguments) or a mapping"),
    "arguments that are no JSON": (Turn(calls=[("echo", {1})]), "set is not JSON serializable"),
    "a block that is no JSON": (Turn(calls=[{"a": object()}]), "object is not JSON serializable"),
    "arguments that hold themselves": (Turn(calls=[("echo", HOLDS_ITSELF)]), "Circular"),
    "an integer that is too long": (Turn(calls=[("echo", 10**5000)]), "integer string conversion"),
    "bytes": (b"done", "a turn is a str or a Turn, not bytes"),
    "nothing": (None, "a turn is a str or a Turn, not NoneType"),
    "a pair": (("text", []), "a turn is a str or a Turn, not tuple"),
    "a function's nothing": (lambda request: None, "not NoneType"),
    "a function's list": (lambda request: [], "not list"),
    "a function's dict": (lambda request: {}, "not dict"),
    "a function's number": (lambda request: 5, "not int"),
    "a function's ill-formed turn": (lambda request: Turn(calls=5), "'int' object is not iterable"),
}


@pytest.mark.parametrize(("step", "sentence"), UNSENDABLE.values(), ids=UNSENDABLE)
def test_a_turn_that_cannot_be_sent_is_a_sentence_too(step, sentence):
    model = ScriptedModel([step, "next"])
    client = model.client()
    with pytest.raises(anthropic.BadRequestError, match="turn 1 ") as caught:
        ask(client)
    assert sentence in caught.value.message
    assert ask(client).content[0].text == "next"


def test_calls_that_are_no_list_are_refused_where_they_stand():
    with pytest.raises(TypeError, match="not iterable"):
        Turn(calls=5)


def test_a_turn_whose_calls_are_a_generator_can_be_played_twice():
    turn = Turn(calls=(("a", {}) for _ in range(2)))
    client = ScriptedModel([turn, turn]).client()
    assert [len(ask(client).content) for _ in range(2)] == [2, 2]


ASK = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
NOT_ANSWERED = {
    "the models": (lambda client: client.models.list(), "not GET /v1/models"),
    "a count": (
        lambda client: client.messages.count_tokens(model="m", messages=ASK["messages"]),
        "not POST /v1/messages/count_tokens",
    ),
    "a stream": (lambda client: client.messages.create(**ASK, stream=True), "in one piece"),
    "a stream's helper": (
        lambda client: client.messages.stream(**ASK).__enter__(),
        "in one piece",
    ),
}


@pytest.mark.parametrize(("asking", "sentence"), NOT_ANSWERED.values(), ids=NOT_ANSWERED)
def test_what_a_script_does_not_answer_is_a_sentence(asking, sentence):
    model = ScriptedModel(["one"])
    with pytest.raises(anthropic.BadRequestError, match=sentence):
        asking(model.client())
    assert model.requests == []


def test_a_request_that_is_no_json_is_a_sentence():
    answer = ScriptedModel(["one"])._answer(
        httpx2.Request("POST", "http://x/v1/messages", content=b"[" * 100_000)
    )
    assert answer.status_code == 400
    assert "cannot be judged" in answer.json()["error"]["message"]


def test_a_mapping_is_sent_as_it_is():
    message = ask(ScriptedModel([Turn(calls=[{"type": "tool_use", "id": "", "name": 7}])]).client())
    assert message.content[0].id == ""
    assert message.stop_reason == "tool_use"


def test_neither_key_nor_address_of_the_environment_is_used(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-real")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:1")
    monkeypatch.setenv("HTTP_PROXY", "http://localhost:1")
    monkeypatch.setenv("ALL_PROXY", "http://localhost:1")
    client = ScriptedModel(["one"]).client()
    assert client.api_key == "offline"
    assert ask(client).content[0].text == "one"

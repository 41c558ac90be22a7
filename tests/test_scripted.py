"""ScriptedModel: a script behind the real SDK."""

import anthropic
import pytest

from harness_lib.providers.scripted import ScriptedModel, Turn


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
    client = ScriptedModel(["one"]).client()
    ask(client)
    with pytest.raises(
        anthropic.BadRequestError, match="the script has 1 turns and this is request 2"
    ):
        ask(client)


def test_a_failing_function_is_a_sentence_too():
    client = ScriptedModel([lambda request: {}["x"]]).client()
    with pytest.raises(anthropic.BadRequestError, match="turn 1 raised KeyError"):
        ask(client)


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

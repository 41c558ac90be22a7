"""The referee judges as its table says, and the SDK raises its own error for a learner to read."""

import re

import anthropic
import pytest

from harness_lib.providers.referee import judge
from harness_lib.providers.referee_table import (
    FOUND,
    ROWS,
    SEARCH,
    assistant,
    result,
    use,
    user,
)
from harness_lib.providers.scripted import ScriptedModel


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_table(row):
    fault = judge(row.request())
    assert (fault is None) == row.accepted, fault
    if fault is not None:
        assert re.match(r"(messages|tools)(\.\d+)?[.:]", fault), "a fault begins with its place"


def test_enough_odd_but_valid_rows():
    assert sum(row.accepted for row in ROWS) >= 12
    assert len({row.rule for row in ROWS}) == len(ROWS)


def test_every_row_says_where_it_is_known_from():
    assert all("not verified live" in row.source for row in ROWS)


def test_the_sdk_raises_its_own_error_that_names_the_block():
    model = ScriptedModel(["never"])
    with pytest.raises(anthropic.BadRequestError) as caught:
        model.client().messages.create(
            model="m",
            max_tokens=10,
            messages=[user("go"), assistant("hm"), user(result("toolu_9"))],
        )
    assert caught.value.status_code == 400
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    assert caught.value.body["error"]["message"].startswith("messages.2.content.0: unexpected")
    assert "toolu_9" in caught.value.message
    assert model.requests == []


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        "x",
        {},
        {"messages": None},
        {"messages": [None]},
        {"messages": [{}]},
        {"messages": ["x"]},
    ]
    + [{"messages": [user(part)]} for part in (None, 7, [], {"type": 7}, {"type": "text"})]
    + [{"messages": [user("a")], "tools": [t]} for t in (None, {}, {"name": 7}, {"name": "a"})]
    + [{"messages": [user("a"), assistant(use() | {"id": i})]} for i in (None, [], 7)]
    + [{"messages": [user("a"), {"role": "user", "content": {}}]}]
    + [{"messages": [user("a")], "tools": tools} for tools in ({}, None, "x", 7)]
    + [
        {"messages": [user("a"), assistant(SEARCH | {"id": i}, FOUND | {"tool_use_id": i})]}
        for i in (None, [], ["a"], {"a": 1}, 7)
    ]
    + [{"messages": [{"role": role, "content": "a"}]} for role in (["user"], {}, None, "system")],
)
def test_any_ill_formed_request_is_a_fault_and_no_crash(request_):
    assert judge(request_)


def test_a_request_that_cannot_be_judged_is_a_400_too(monkeypatch):
    def crash(request):
        raise RecursionError("too deep")

    monkeypatch.setattr("harness_lib.providers.scripted.judge", crash)
    with pytest.raises(anthropic.BadRequestError, match="cannot be judged: RecursionError"):
        ScriptedModel(["x"]).client().messages.create(model="m", max_tokens=1, messages=[user("a")])


def test_replay_without_a_key_says_what_to_set(monkeypatch, capsys):
    from harness_lib.providers import referee_table

    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert referee_table.replay() == 2
    assert "set ANTHROPIC_API_KEY" in capsys.readouterr().err

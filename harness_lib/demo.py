"""The whole boundary in one offline run: `python -m harness_lib --demo`.

A scripted model works on real files in a temporary workspace, through the real SDK. Each call is
printed with its way through the boundary: how far it came, and in which kind of batch.
"""

from __future__ import annotations

import json
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

from harness_lib.loop import agent_loop
from harness_lib.providers.scripted import Request, ScriptedModel, Turn
from harness_lib.registry import ToolRegistry
from harness_lib.result import ToolDispatchResult, ToolErrorCode
from harness_lib.scheduling import split_batch
from harness_lib.tools import workspace_tools

WIDTH = 100
"""The widest line of the report, in columns."""

MAX_LINES = 5
"""How many lines of a result it shows."""

FILES = {
    "notes.txt": "Buy apples\nCall Ada\nBuy bread\n",
    "old/notes.txt": "Buy apples\nCall Bob\n",
    "config.ini": "[shop]\ncurrency = EUR\n",
}

STATIONS = {
    ToolErrorCode.UNKNOWN_TOOL: "look up",
    ToolErrorCode.INVALID_ARGUMENTS: "look up > validate",
    ToolErrorCode.EXECUTION_ERROR: "look up > validate > run",
    None: "look up > validate > run > result",
}


def script() -> list[Turn | str]:
    """The conversation: all five tools, all three codes, a concurrent and serial batches."""
    compare = Turn(
        "First I look around and compare the two notes; these calls only read.",
        [
            ("glob", {"pattern": "**/*"}),
            ("read_file", {"path": "notes.txt"}),
            ("read_file", {"path": "old/notes.txt", "limit": 1}),
        ],
    )
    write = Turn(
        "Now I write a list and read it back: one after the other, or the read could be stale.",
        [
            ("write_file", {"path": "lists/shop.txt", "content": "apples\nbread\n"}),
            ("read_file", {"path": "lists/shop.txt"}),
        ],
    )
    change = Turn(
        "I correct one line, and count with a command.",
        [
            (
                "edit_file",
                {"path": "config.ini", "old_text": "currency = EUR", "new_text": "currency = CHF"},
            ),
            ("bash", {"command": "cat config.ini; wc -l < lists/shop.txt"}),
        ],
    )
    wrong = Turn(
        "Now three calls that go wrong, each at another station.",
        [
            ("grep_file", {"pattern": "Ada"}),
            ("read_file", {"pth": "notes.txt", "limit": "1"}),
            ("read_file", {"path": "../outside.txt"}),
        ],
    )
    return [compare, write, change, wrong, corrected, "Done: the list is in lists/shop.txt."]


def corrected(request: Request) -> Turn:
    """What the model does about the errors: it reads them in the request, and mends one call."""
    answers = request["messages"][-1]["content"]
    if not any('did you mean "path"?' in answer["content"] for answer in answers):
        raise LookupError("the errors did not come back to the model")
    return Turn(
        'The error said: did you mean "path"? So I call it again.',
        [("read_file", {"path": "notes.txt", "limit": 1})],
    )


def run_demo() -> str:
    """Play the conversation on real files and return the report as text. Needs no network."""
    arrived: list[tuple[int, ToolDispatchResult]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        registry = ToolRegistry(workspace_tools(folder))
        messages: list[dict] = [{"role": "user", "content": "Tidy up my notes."}]
        outcome = agent_loop(
            messages,
            registry=registry,
            client=ScriptedModel(script()).client(),
            model="scripted",
            on_result=lambda index, result: arrived.append((index, result)),
        )
    report = [f"user: {messages[0]['content']}"]
    for message in messages:
        if message["role"] == "assistant":
            report += _turn(message["content"], arrived, registry)
    report += [
        "",
        f"The loop ended: {outcome.stop_reason}, after {outcome.turns} turns and "
        f"{outcome.tool_calls} tool calls; {len(messages)} messages of history.",
    ]
    return "\n".join(report)


def _turn(
    content: list[dict], arrived: list[tuple[int, ToolDispatchResult]], registry: ToolRegistry
) -> Iterator[str]:
    """What the model said, then its calls in its own order, whichever came back first."""
    yield ""
    for block in content:
        if block["type"] == "text":
            yield from textwrap.wrap(f"model: {block['text']}", WIDTH)
    count = sum(block["type"] == "tool_use" for block in content)
    batch = [result for _, result in sorted(arrived[:count], key=lambda pair: pair[0])]
    del arrived[:count]
    groups = split_batch([registry.get(result.call.name) for result in batch])
    how = "concurrent" if any(group.concurrent for group in groups) else "serial"
    for result in batch:
        yield from describe(result, how)


def describe(result: ToolDispatchResult, how: str) -> Iterator[str]:
    """A call in a few lines: what was asked for, its way through the boundary, what came back."""
    arguments = json.dumps(result.call.arguments, ensure_ascii=False)
    end = "ok" if result.ok else f"stopped: {result.error_code}"
    yield _line(f"  {result.call.name} {arguments}")
    yield _line(f"    {STATIONS[result.error_code]:<34} {how:<11} {end}")
    for line in result.content.splitlines()[:MAX_LINES]:
        yield _line(f"      | {line}")


def _line(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."

"""The cost of the boundary, side by side in one process: `make bench` prints the README's table.

Every pair is measured in turns, so that a busy machine slows both alike; medians are compared.
"""

from __future__ import annotations

import logging
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anthropic
from anthropic import beta_tool
from anthropic.types.beta import BetaToolUseBlock

from harness_lib import ToolCall, ToolRegistry, ToolSpec, object_schema, workspace_tools
from harness_lib.providers.scripted import ScriptedModel

ROUNDS = 41

Row = tuple[str, str, str, str]


def medians(
    *functions: Callable[[], object], number: int, rounds: int | None = None
) -> list[float]:
    """Microseconds of each function: the median over rounds, in which they take turns."""
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(rounds or ROUNDS):
        for function, kept in zip(functions, times, strict=True):
            began = time.perf_counter()
            for _ in range(number):
                function()
            kept.append((time.perf_counter() - began) / number * 1e6)
    return [statistics.median(kept) for kept in times]


def add(a: int, b: int) -> str:
    """Add two numbers.

    Args:
        a: one
        b: the other
    """
    return str(a + b)


INTEGER = {"type": "integer"}
SCHEMA = object_schema({"a": INTEGER, "b": INTEGER}, ["a", "b"])
RIGHT = BetaToolUseBlock(type="tool_use", id="toolu_1", name="add", input={"a": 1, "b": 2})
WRONG = BetaToolUseBlock(type="tool_use", id="toolu_1", name="add", input={"a": 1, "c": "x"})


def harness(registry: ToolRegistry, block: object) -> Callable[[], object]:
    """A block of the SDK in, a tool_result block out: the whole way."""
    return lambda: registry.dispatch(ToolCall.from_block(block)).to_protocol_block()


def sdk_runner(block: object) -> Callable[[], object]:
    """The same way in the Anthropic SDK's tool runner."""
    client: anthropic.Anthropic = ScriptedModel([]).client()
    runner = client.beta.messages.tool_runner(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}], tools=[beta_tool(add)]
    )
    runner._get_last_assistant_message_content = lambda: [block]
    return runner._generate_tool_call_response


def calls() -> list[Row]:
    registry = ToolRegistry([ToolSpec("add", "Add.", SCHEMA, add)])
    right, right_sdk = harness(registry, RIGHT), sdk_runner(RIGHT)
    wrong, wrong_sdk = harness(registry, WRONG), sdk_runner(WRONG)
    assert right()["content"] == right_sdk()["content"][0]["content"] == "3"
    assert wrong()["is_error"]
    assert wrong_sdk()["content"][0]["is_error"]
    bare, ours, theirs = medians(lambda: add(a=1, b=2), right, right_sdk, number=1000)
    no, no_sdk = medians(wrong, wrong_sdk, number=300)
    return [
        ("a bare call of the handler", f"{bare:.2f} us", "", ""),
        ("a valid call", f"{ours:.1f} us", f"{theirs:.1f} us", f"{ours / theirs:.2f}"),
        (
            "a refused call, all violations",
            f"{no:.0f} us",
            f"{no_sdk:.0f} us",
            f"{no / no_sdk:.1f}",
        ),
    ]


def growth() -> list[Row]:
    """What a call costs beside other tools, and in a batch of many."""

    def registry_of(count: int) -> ToolRegistry:
        specs = [ToolSpec(f"add_{n}", "Add.", SCHEMA, add) for n in range(count - 1)]
        return ToolRegistry([*specs, ToolSpec("add", "Add.", SCHEMA, add)])

    one, hundred, thousand = map(registry_of, (1, 100, 1000))
    costs = medians(*(harness(r, RIGHT) for r in (one, hundred, thousand)), number=1000)
    schemas = medians(hundred.model_schemas, number=20)[0]
    call = ToolCall.from_block(RIGHT)
    batches = [lambda n=n: one.dispatch_many([call] * n) for n in (10, 1000)]
    small, large = medians(*batches, number=5)
    return [
        ("100 model schemas, detached", f"{schemas / 1000:.2f} ms", "", ""),
        ("a call among 1,000 tools, beside 1", f"{costs[2]:.1f} us", f"{costs[0]:.1f} us", f"{costs[2] / costs[0]:.2f}"),
        ("a call in a batch of 1,000, beside 10", f"{large / 1000:.1f} us", f"{small / 10:.1f} us", f"{large * 10 / small / 1000:.2f}"),
    ]  # fmt: skip


def concurrency() -> list[Row]:
    nap = ToolSpec("nap", "", object_schema({}), lambda: time.sleep(0.05), concurrent_safe=True)
    registry = ToolRegistry([nap])
    batch = [ToolCall(f"toolu_{n}", "nap", {}) for n in range(8)]
    eight, one = medians(
        lambda: registry.dispatch_many(batch), lambda: time.sleep(0.05), number=1, rounds=15
    )
    return [("8 safe calls of 50 ms", f"{eight / 1e3:.1f} ms", f"{one / 1e3:.1f} ms", f"{eight / one:.2f}")]  # fmt: skip


def tools() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        path.write_text("Buy apples\n" * 20, encoding="utf-8")
        registry = ToolRegistry(workspace_tools(folder))
        read = ToolCall("toolu_1", "read_file", {"path": "a.txt"})
        true = ToolCall("toolu_2", "bash", {"command": "true"})

        def plain_read() -> str:
            with open(path, encoding="utf-8") as file:
                return file.read()

        def plain_run() -> object:
            return subprocess.run(["bash", "-c", "true"], capture_output=True, text=True, timeout=9)

        assert registry.dispatch(read).content == plain_read()
        ours, plain = medians(lambda: registry.dispatch(read), plain_read, number=200)
        bash, run = medians(lambda: registry.dispatch(true), plain_run, number=3)
    return [
        ("a small file, beside open-read-close", f"{ours:.0f} us", f"{plain:.0f} us", f"{ours / plain:.1f}"),
        ("`true` in bash, beside subprocess.run", f"{bash / 1e3:.1f} ms", f"{run / 1e3:.1f} ms", f"{bash / run:.2f}"),
    ]  # fmt: skip


def imports() -> list[Row]:
    """A fresh interpreter with the library and its five tools, beside a bare one."""
    ready = "from harness_lib import *; ToolRegistry(workspace_tools('.'))"
    heavy = "print(*{'anthropic', 'jsonschema', 'ipywidgets', 'IPython'} & {*__import__('sys').modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", f"{ready}; {heavy}"], capture_output=True, text=True, check=True
    ).stdout.strip()

    def start(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    with_library, bare = medians(start(ready), start("pass"), number=1, rounds=15)
    return [
        ("import and five tools, over a bare interpreter", f"{(with_library - bare) / 1e3:.0f} ms", "", ""),
        ("heavy packages that this imports", loaded or "none", "", ""),
    ]  # fmt: skip


def main() -> None:
    logging.disable()  # the SDK's runner logs each refused call with a traceback: not counted
    print(f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores\n")
    print("| what | harness_lib | beside it | ratio |")
    print("|---|---|---|---|")
    for part in (calls, growth, concurrency, tools, imports):
        for row in part():
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()

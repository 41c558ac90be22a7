"""The agent loop: ask, dispatch, answer, until no tool is asked for. Built in lessons 01 and 11.

The loop only delegates. Nothing about any tool stands here, so adding one changes no line of it.
Its own promise is the history: whatever the model sends and wherever it stops, the messages are
ones that the API accepts, with one more user message after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from harness_lib.call import ToolCall, read_field, read_text
from harness_lib.registry import ToolRegistry
from harness_lib.result import ToolDispatchResult
from harness_lib.wire import settled, wire_turn

CUT_SHORT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""The stop reasons of a turn whose last block may be incomplete: its calls do not run."""

CUT = "the turn was cut off by a limit"
INTERRUPTED = "the turn was interrupted; if this call had begun, its result is lost"


class LoopStopReason(StrEnum):
    """Why the loop came to an end. Built in lesson 01."""

    FINAL_ANSWER = "final_answer"
    """The model asked for no tool."""
    MAX_TOKENS = "max_tokens"
    """The turn was cut by a limit on length, the request's or the model's; no call ran."""
    MAX_TURNS = "max_turns"
    """The loop's own limit was reached; the last turn's calls did run."""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """One turn of the model, in plain data. Built in lesson 01.

    content: its blocks as dicts that the API accepts back; may be empty.
    calls: the tool calls in it, in order; their ids are those in content.
    text: its texts, joined.
    stop_reason: the provider's word for why it ended; None where it gave none.
    """

    content: list[dict[str, object]]
    calls: tuple[ToolCall, ...]
    text: str
    stop_reason: str | None

    @classmethod
    def from_response(cls, response: object, history: Iterable[object] = ()) -> AgentTurn:
        """Read a response of the SDK, or anything of its shape. Never raises.

        history: the messages that it answers. A tool_use id that is in them already, or that the
        API would refuse, is renamed.
        """
        content, calls = wire_turn(read_field(response, "content"), history)
        text = "".join(str(block["text"]) for block in content if block["type"] == "text")
        return cls(content, tuple(calls), text, read_text(response, "stop_reason"))


@dataclass(frozen=True, slots=True)
class AgentLoopResult:
    """How a run of the loop ended. Built in lesson 01.

    turns: how many turns the model took. tool_calls: how many calls were dispatched.
    final_text: the last turn's text. provider_stop_reason: the provider's word for its end, such
    as "end_turn", "refusal" or "stop_sequence".
    """

    stop_reason: LoopStopReason
    turns: int
    tool_calls: int
    final_text: str
    provider_stop_reason: str | None


class Messages(Protocol):
    def create(self, **request: object) -> object: ...


class Client(Protocol):
    """What the loop uses of a client: `messages.create`, as the Anthropic SDK has it."""

    messages: Messages


def agent_loop(
    messages: list[dict[str, object]],
    *,
    registry: ToolRegistry,
    client: Client,
    model: str,
    system: str | None = None,
    max_turns: int = 8,
    max_tokens: int = 8000,
    on_result: Callable[[int, ToolDispatchResult], None] | None = None,
) -> AgentLoopResult:
    """Let the model work until it asks for no tool. Built in lessons 01 and 11.

    messages: the history, a list that ends in a user message; turns and results are appended.
    max_turns: the most turns of the model in this run, at least 1. max_tokens: of each turn.
    on_result(index, result): called as each call of a turn ends, index counting in the turn.

    Tool_use blocks decide that it goes on, not the stop reason. An error of the client and a
    KeyboardInterrupt pass through, and leave a history that can be gone on from.
    """
    if not isinstance(messages, list):
        kind = type(messages).__name__
        raise TypeError(f"messages must be a list, which is extended in place, not {kind}")
    if max_turns < 1:
        raise ValueError(f"max_turns must be at least 1, not {max_turns}")
    request: dict[str, object] = {"model": model, "max_tokens": max_tokens}
    if system is not None:
        request["system"] = system
    if len(registry):
        request["tools"] = registry.model_schemas()
    tool_calls = 0
    paused: list[dict[str, object]] = []  # a turn that the provider paused: it is not over yet
    try:
        for turns in range(1, max_turns + 1):
            history = messages + _assistant(paused)
            turn = AgentTurn.from_response(
                client.messages.create(messages=history, **request), history
            )
            content, paused = paused + turn.content, []
            cut = turn.stop_reason in CUT_SHORT
            if turn.calls and not cut:
                tool_calls += len(turn.calls)
                _run_calls(messages, content, turn.calls, registry, on_result)
                continue
            if turn.stop_reason == "pause_turn":
                paused = content
                continue
            messages += _assistant(settled(content)) + _answers(turn.calls, {}, CUT)
            reason = LoopStopReason.MAX_TOKENS if cut else LoopStopReason.FINAL_ANSWER
            return AgentLoopResult(reason, turns, tool_calls, turn.text, turn.stop_reason)
    finally:
        messages += _assistant(settled(paused))
    return AgentLoopResult(LoopStopReason.MAX_TURNS, turns, tool_calls, turn.text, turn.stop_reason)


def _run_calls(
    messages: list[dict[str, object]],
    content: list[dict[str, object]],
    calls: tuple[ToolCall, ...],
    registry: ToolRegistry,
    on_result: Callable[[int, ToolDispatchResult], None] | None,
) -> None:
    """Dispatch a turn's calls. The turn and its results are appended together, in any event."""
    results: dict[int, ToolDispatchResult] = {}

    def keep(index: int, result: ToolDispatchResult) -> None:
        results[index] = result
        if on_result is not None:
            on_result(index, result)

    try:
        registry.dispatch_many(calls, on_result=keep)
    finally:
        messages += _assistant(content) + _answers(calls, results, INTERRUPTED)


def _assistant(content: list[dict[str, object]]) -> list[dict[str, object]]:
    """The message of a turn; none for an empty turn, which the API would not take back."""
    return [{"role": "assistant", "content": content}] if content else []


def _answers(
    calls: tuple[ToolCall, ...], results: dict[int, ToolDispatchResult], reason: str
) -> list[dict[str, object]]:
    """One user message that answers all the calls of a turn, with the reason where none ran."""
    blocks = []
    for index, call in enumerate(calls):
        if index in results:
            blocks.append(results[index].to_protocol_block())
        else:
            text = f"Error: not executed: {reason}"
            answer = {"type": "tool_result", "tool_use_id": call.tool_use_id, "content": text}
            blocks.append({**answer, "is_error": True})
    return [{"role": "user", "content": blocks}] if blocks else []

"""What comes back from a call, success or failure. Built in lesson 06."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from types import CoroutineType

from harness_lib.call import ToolCall

MAX_CONTENT_CHARS = 50_000
"""The longest content of a result, in characters; the model pays for each of them."""

MAX_EXCEPTION_CHARS = 2_000
"""The longest message of an unexpected exception that is shown to the model, in characters."""

MAX_CLASS_NAME_CHARS = 100
"""The longest name of a class that is shown to the model, in characters."""

NO_OUTPUT = "(no output)"


class ToolErrorCode(StrEnum):
    """Where a call stopped; three different bugs, so three stable codes. Built in lesson 06."""

    UNKNOWN_TOOL = "unknown_tool"
    """The model asked for something that was never registered."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The arguments cannot be bound safely; the handler was not entered."""
    EXECUTION_ERROR = "execution_error"
    """The handler was entered and failed, or returned what cannot be sent."""


class ToolError(Exception):
    """What a handler raises to say something to the model, in its own words.

    The message reaches the model as it is; any other exception shows its type too.
    Built in lesson 06.
    """


@dataclass(frozen=True, slots=True)
class ToolDispatchResult:
    """The one outcome of one call. Built in lesson 06.

    call: the call that it answers.
    content: text for the model; never empty, at most MAX_CONTENT_CHARS, encodable as UTF-8,
        whatever it was built from. A failure's starts with `Error [code]: `.
    error_code: None for a success.
    exception: what the handler raised, for the harness alone: logs, metrics, a debugger. It is
        no part of equality or repr, and never reaches the model.
    """

    call: ToolCall
    content: str
    error_code: ToolErrorCode | None = None
    exception: BaseException | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        content = self.content
        if not content or len(content) > MAX_CONTENT_CHARS or not content.isascii():
            object.__setattr__(self, "content", sendable(content))

    @classmethod
    def failure(
        cls,
        call: ToolCall,
        code: ToolErrorCode,
        message: str,
        exception: BaseException | None = None,
    ) -> ToolDispatchResult:
        """A failed call: the code comes first in the text, where a reader finds it."""
        return cls(call, f"Error [{code}]: {message or NO_OUTPUT}", code, exception)

    @property
    def ok(self) -> bool:
        """True when the handler ran and its value was sent."""
        return self.error_code is None

    def to_protocol_block(self) -> dict[str, object]:
        """The `tool_result` block for the next user message; a success has no `is_error` key."""
        block: dict[str, object] = {
            "type": "tool_result",
            "tool_use_id": self.call.tool_use_id,
            "content": self.content,
        }
        if not self.ok:
            block["is_error"] = True
        return block


def encode(value: object) -> str:
    """A handler's return value as text: str as it is, None as "(no output)", the rest as JSON.

    Raises TypeError, naming the type, for what is not a JSON value.
    """
    # The type is asked, not the value: its __class__ could raise.
    if issubclass(type(value), str):
        return str.__str__(value)
    if value is None:
        return NO_OUTPUT
    if type(value) is CoroutineType:
        value.close()  # or Python warns on stderr that it was never awaited
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except Exception as error:
        kind, reason = class_name(value), explain(error).partition(": ")[2]
        raise TypeError(
            f"the handler returned {kind}, which is not text or JSON ({reason})"
        ) from error


def sendable(text: str) -> str:
    """The same text, made safe to send: not empty, no lone surrogates, bounded in length."""
    if not text.isascii():
        # Through UTF-16, where two halves of one character join and a lone half is replaced.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return clip(text, MAX_CONTENT_CHARS) or NO_OUTPUT


def clip(text: str, limit: int) -> str:
    """At most `limit` characters: head and tail are kept, and the cut says how much it took."""
    if len(text) <= limit:
        return text
    room = max(0, limit - len(_cut_mark(len(text))))
    head = (room + 1) // 2
    tail = room - head
    return text[:head] + _cut_mark(len(text) - room) + text[len(text) - tail :]


def _cut_mark(count: int) -> str:
    return f"\n[... {count:,} characters left out ...]\n"


def explain(error: BaseException) -> str:
    """What the model is told of an exception, on any exception, without a traceback.

    A ToolError speaks for itself; of any other the type and the message are shown, clipped.
    """
    try:
        message = str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        message = "(its message cannot be read)"
    if issubclass(type(error), ToolError) and message:
        return message
    name = class_name(error)
    return f"{name}: {clip(message, MAX_EXCEPTION_CHARS)}" if message else name


def class_name(value: object) -> str:
    """The name of a value's class, whatever it says of itself: all its attributes may raise."""
    return clip(type.__dict__["__name__"].__get__(type(value)), MAX_CLASS_NAME_CHARS)

"""Would the API accept this request? Its rules, judged offline, in its own error shape.

The scripted model asks the referee about each request, so a history that the API would refuse is
refused in a lesson too, by the SDK's own BadRequestError. The rules and where each is known from
are the rows of referee_table.py.

Judged are `messages` (roles, order, the blocks in BLOCKS, and how calls and results pair) and
`tools` (referee_tools.py). Not judged are: blocks of a type that is not in BLOCKS, but for a
server tool's call and result, which pair; what stands inside `source`, `citations`, `caller` and
`cache_control`; where a message of the role "system" stands; whether a signature is the API's
own; sizes; and every other field of a request, such as max_tokens, system, tool_choice or one
that does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from harness_lib.providers.referee_tools import tool_faults

ID = re.compile(r"[a-zA-Z0-9_-]+")
SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
MAX_TOOL_USE_NAME = 200

SERVER_CALL, SERVER_RESULT = "_tool_use", "_tool_result"
"""How the types end of what the provider runs itself, such as server_tool_use."""

TEXT, FILLED, OBJECT, LIST = "text", "text that is not empty", "an object", "a list"
SHAPES = {
    TEXT: lambda value: isinstance(value, str),
    FILLED: lambda value: isinstance(value, str) and value.strip(),
    OBJECT: lambda value: isinstance(value, dict),
    LIST: lambda value: isinstance(value, list),
}

BLOCKS = {
    "text": {"text": None, "citations": None},
    "image": {"source": OBJECT, "transformations": None},
    "document": {"source": OBJECT, "citations": None, "context": None, "title": None},
    "search_result": {"content": LIST, "source": TEXT, "title": TEXT, "citations": None},
    "thinking": {"thinking": TEXT, "signature": FILLED},
    "redacted_thinking": {"data": FILLED},
    "tool_use": {"id": None, "name": None, "input": OBJECT, "caller": None, "toolset_name": None},
    "server_tool_use": {"id": None, "name": FILLED, "input": OBJECT, "caller": None},
    "mcp_tool_use": {"id": FILLED, "name": FILLED, "server_name": FILLED, "input": OBJECT},
    "tool_result": {"tool_use_id": None, "content": None, "is_error": None, "toolset_name": None},
}
"""The fields of the blocks that the SDK has types for, and what the required ones must be; None
for one that may be left out or has a rule of its own below."""

ROLES = {kind: "assistant" for kind in BLOCKS if kind.endswith(("tool_use", "thinking"))}
ROLES["tool_result"] = "user"
"""The only messages that a block can stand in."""

Block = tuple[str, dict]
"""A content block with its place in the request, such as `messages.2.content.0`."""


def judge(request: Mapping[str, object]) -> str | None:
    """The first fault of a request's messages and tools, with its place; None if there is none."""
    return next(_faults(request), None)


def _faults(request: Mapping[str, object]) -> Iterator[str]:
    if not isinstance(request, Mapping):
        yield "request: must be an object"
        return
    yield from tool_faults(request.get("tools", []))
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    for index, message in enumerate(messages):
        yield from _message_faults(f"messages.{index}", message, index == len(messages) - 1)
    turns = list(_folded(messages))
    if not turns or turns[0][0] != "user":
        yield 'messages.0: the first message must use the "user" role'
    yield from _pairing_faults(turns)
    yield from _ending_faults(turns[-1])


def _message_faults(place: str, message: object, is_last: bool) -> Iterator[str]:
    """Faults of one message and its blocks, each on its own."""
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
        yield f'{place}.role: must be "user", "assistant" or "system"'
        return
    role, content = message["role"], message.get("content")
    for field in message.keys() - {"role", "content"}:
        yield f"{place}.{field}: extra inputs are not permitted"
    if not isinstance(content, (str, list)):
        yield f"{place}.content: must be text or a list of blocks"
    elif not content and not (is_last and role == "assistant"):
        yield (
            f"{place}: all messages must have non-empty content "
            "except for the optional final assistant message"
        )
    elif isinstance(content, str) and content and not content.strip():
        yield f"{place}: text content must contain non-whitespace text"
    for index, block in enumerate(content if isinstance(content, list) else ()):
        yield from _block_faults(f"{place}.content.{index}", block, role)


def _block_faults(place: str, block: object, role: str) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not kind:
        yield f"{place}.type: field required"
        return
    if ROLES.get(kind, role) != role:
        yield f"{place}: `{kind}` blocks can only be in `{ROLES[kind]}` messages"
    if role == "system" and kind != "text":
        yield f"{place}: `system` messages can only hold `text` blocks"
    yield from _field_faults(f"{place}.{kind}", kind, block)
    if kind == "text":
        if not isinstance(block.get("text"), str) or not block["text"]:
            yield f"{place}: text content blocks must be non-empty"
        elif not block["text"].strip():
            yield f"{place}: text content blocks must contain non-whitespace text"
    elif kind == "tool_use":
        yield from _pattern_faults(f"{place}.tool_use.id", block.get("id"), ID)
        name = block.get("name")
        if not isinstance(name, str) or not 0 < len(name) <= MAX_TOOL_USE_NAME:
            yield f"{place}.tool_use.name: must be text of 1 to {MAX_TOOL_USE_NAME} characters"
    elif kind == "server_tool_use":
        yield from _pattern_faults(f"{place}.server_tool_use.id", block.get("id"), SERVER_ID)
    elif kind == "tool_result":
        yield from _result_faults(place, block, role)


def _result_faults(place: str, block: dict, role: str) -> Iterator[str]:
    yield from _pattern_faults(f"{place}.tool_result.tool_use_id", block.get("tool_use_id"), ID)
    content = block.get("content", "")
    if not isinstance(block.get("is_error", False), bool):
        yield f"{place}.tool_result.is_error: must be true or false"
    if not isinstance(content, (str, list)):
        yield f"{place}.tool_result.content: must be text or a list of blocks"
    if block.get("is_error") and not content:
        yield f"{place}.tool_result: content cannot be empty if `is_error` is true"
    for index, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind in ROLES:
            yield f"{place}.tool_result.content.{index}: `{kind}` cannot stand here"
        yield from _block_faults(f"{place}.tool_result.content.{index}", part, role)


def _field_faults(place: str, kind: str, block: dict) -> Iterator[str]:
    """Fields that are missing, of another type, or not the block's."""
    fields = BLOCKS.get(kind, {})
    if kind.endswith(SERVER_RESULT):
        fields = {"tool_use_id": FILLED}
    elif kind.endswith(SERVER_CALL):
        fields = fields or {"id": FILLED}
    for name, shape in fields.items():
        if shape and not SHAPES[shape](block.get(name)):
            yield f"{place}.{name}: " + (f"must be {shape}" if name in block else "field required")
    if kind in BLOCKS:
        for name in sorted(block.keys() - fields.keys() - {"type", "cache_control"}):
            yield f"{place}.{name}: extra inputs are not permitted"


def _pattern_faults(place: str, value: object, pattern: re.Pattern[str]) -> Iterator[str]:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        yield f"{place}: must match the pattern '^{pattern.pattern}$'"


def _folded(messages: list[dict]) -> Iterator[tuple[str, list[Block]]]:
    """Turns of alternating roles: the API folds consecutive messages of one role into one."""
    said = [pair for pair in enumerate(messages) if pair[1]["role"] != "system"]
    for role, group in groupby(said, key=lambda pair: pair[1]["role"]):
        blocks: list[Block] = []
        for index, message in group:
            content = message["content"]
            if isinstance(content, str):
                content = [{"type": "text", "text": content}] if content else []
            blocks += [(f"messages.{index}.content.{i}", b) for i, b in enumerate(content)]
        yield role, blocks


def _pairing_faults(turns: list[tuple[str, list[Block]]]) -> Iterator[str]:
    """Each tool_use is answered once, in the next turn, before anything else in it."""
    seen: set[str] = set()
    served: set[str] = set()  # the ids of what the provider ran itself
    calls: dict[str, str] = {}  # the ids of the turn before that wait for their result
    for role, blocks in [*turns, ("user", [])]:
        answered: set[str] = set()
        other = None
        for place, block in blocks:
            kind = block["type"]
            if kind.endswith(SERVER_CALL):
                served.add(block["id"])
            if kind.endswith(SERVER_RESULT) and block["tool_use_id"] not in served:
                yield (
                    f"{place}: unexpected `tool_use_id` found in `{kind}` blocks: "
                    f"{block['tool_use_id']}. Each `{kind}` block must have a corresponding "
                    "`server_tool_use` block before it"
                )
            if kind == "tool_use":
                if block["id"] in seen:
                    yield f"{place}: `tool_use` ids must be unique"
                seen.add(block["id"])
            elif kind != "tool_result":
                other = other or place
            elif block["tool_use_id"] not in calls:
                yield (
                    f"{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding "
                    "`tool_use` block in the previous message"
                )
            elif block["tool_use_id"] in answered:
                yield (
                    f"{place}: each tool_use must have a single result; "
                    f"found another one for {block['tool_use_id']}"
                )
            elif other:
                yield f"{place}: `tool_result` blocks must come first; {other} stands before it"
            else:
                answered.add(block["tool_use_id"])
        for missing in (call for call in calls if call not in answered):
            yield (
                f"{calls[missing]}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {missing}. Each `tool_use` block must have a corresponding "
                "`tool_result` block in the next message"
            )
        uses = [(b["id"], place) for place, b in blocks if b["type"] == "tool_use"]
        calls = dict(uses) if role == "assistant" else {}
        # Beside calls of ours they may wait, too; and the last turn may be a paused one.
        if role == "assistant" and not calls and blocks is not turns[-1][1]:
            yield from _server_faults(blocks)


def _server_faults(blocks: list[Block]) -> Iterator[str]:
    """Calls of the provider's own tools, each of which needs its result in a finished turn."""
    answered = {b["tool_use_id"] for _, b in blocks if b["type"].endswith(SERVER_RESULT)}
    for place, block in blocks:
        if block["type"].endswith(SERVER_CALL) and block["id"] not in answered:
            yield f"{place}: the tool use with id `{block['id']}` was found without its result"


def _ending_faults(turn: tuple[str, list[Block]]) -> Iterator[str]:
    """What a final assistant turn, which the model is to go on from, may not end in."""
    role, blocks = turn
    if role != "assistant" or not blocks:
        return
    place, last = blocks[-1]
    if last["type"] in ("thinking", "redacted_thinking"):
        yield f"{place}: the final block in an assistant message cannot be `{last['type']}`"
    if last["type"] == "text" and last["text"] != last["text"].rstrip():
        yield f"{place}: final assistant content cannot end with trailing whitespace"

"""Would the API accept this request? Its rules, judged offline, in its own error shape.

The scripted model asks the referee about each request, so a history that the API would refuse is
refused in a lesson too, by the SDK's own BadRequestError. The rules and where each is known from
are the rows of referee_table.py.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby

ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
MAX_TOOL_USE_NAME = 200

RESULT_FIELDS = {"type", "tool_use_id", "content", "is_error", "cache_control"}

Block = tuple[str, dict]
"""A content block with its place in the request, such as `messages.2.content.0`."""


def judge(request: Mapping[str, object]) -> str | None:
    """The first fault of a request's messages and tools, with its place; None if there is none."""
    return next(_faults(request), None)


def _faults(request: Mapping[str, object]) -> Iterator[str]:
    yield from _tool_faults(request.get("tools") or [])
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    for index, message in enumerate(messages):
        yield from _message_faults(f"messages.{index}", message, index == len(messages) - 1)
    if messages[0]["role"] != "user":
        yield 'messages.0: the first message must use the "user" role'
    turns = list(_folded(messages))
    yield from _pairing_faults(turns)
    yield from _ending_faults(turns[-1])


def _message_faults(place: str, message: object, is_last: bool) -> Iterator[str]:
    """Faults of one message and its blocks, each on its own."""
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        yield f'{place}.role: must be "user" or "assistant"'
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
    if not isinstance(kind, str):
        yield f"{place}.type: field required"
    elif kind == "text":
        if not isinstance(block.get("text"), str) or not block["text"]:
            yield f"{place}: text content blocks must be non-empty"
        elif not block["text"].strip():
            yield f"{place}: text content blocks must contain non-whitespace text"
    elif kind == "tool_use":
        if role != "assistant":
            yield f"{place}: `tool_use` blocks can only be in `assistant` messages"
        yield from _id_faults(f"{place}.tool_use.id", block.get("id"))
        name = block.get("name")
        if not isinstance(name, str) or not 0 < len(name) <= MAX_TOOL_USE_NAME:
            yield f"{place}.tool_use.name: must be text of 1 to {MAX_TOOL_USE_NAME} characters"
        if not isinstance(block.get("input"), dict):
            yield f"{place}.tool_use.input: must be an object"
    elif kind == "thinking" and not isinstance(block.get("signature"), str):
        yield f"{place}.thinking.signature: field required"
    elif kind == "tool_result":
        if role != "user":
            yield f"{place}: `tool_result` blocks can only be in `user` messages"
        yield from _id_faults(f"{place}.tool_result.tool_use_id", block.get("tool_use_id"))
        for field in block.keys() - RESULT_FIELDS:
            yield f"{place}.tool_result.{field}: extra inputs are not permitted"
        if not isinstance(block.get("is_error", False), bool):
            yield f"{place}.tool_result.is_error: must be true or false"
        if not isinstance(block.get("content", ""), (str, list)):
            yield f"{place}.tool_result.content: must be text or a list of blocks"
        if block.get("is_error") and not block.get("content"):
            yield f"{place}.tool_result: content cannot be empty if `is_error` is true"
        inner = block.get("content")
        for index, part in enumerate(inner if isinstance(inner, list) else ()):
            if isinstance(part, dict) and part.get("type") in ("tool_use", "tool_result"):
                yield f"{place}.tool_result.content.{index}: `{part['type']}` cannot stand here"
            yield from _block_faults(f"{place}.tool_result.content.{index}", part, role)


def _id_faults(place: str, value: object) -> Iterator[str]:
    if not isinstance(value, str) or not ID.fullmatch(value):
        yield f"{place}: must match the pattern '^{ID.pattern}$'"


def _folded(messages: list[dict]) -> Iterator[tuple[str, list[Block]]]:
    """Turns of alternating roles: the API folds consecutive messages of one role into one."""
    for role, group in groupby(enumerate(messages), key=lambda pair: pair[1]["role"]):
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
    calls: dict[str, str] = {}  # the ids of the turn before that wait for their result
    for role, blocks in [*turns, ("user", [])]:
        answered: set[str] = set()
        other = None
        for place, block in blocks:
            if block["type"] == "tool_use":
                if block["id"] in seen:
                    yield f"{place}: `tool_use` ids must be unique"
                seen.add(block["id"])
            elif block["type"] != "tool_result":
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
        if role == "assistant" and (place := _unanswered_server_tool(blocks)) and not calls:
            followed = blocks is not turns[-1][1]
            if followed:
                yield f"{place}: a server tool's use was found without its result"


def _unanswered_server_tool(blocks: list[Block]) -> str | None:
    answered = {b["tool_use_id"] for _, b in blocks if isinstance(b.get("tool_use_id"), str)}
    for place, block in blocks:
        if block["type"] in ("server_tool_use", "mcp_tool_use") and block.get("id") not in answered:
            return place
    return None


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


def _tool_faults(tools: object) -> Iterator[str]:
    names: set[str] = set()
    if not isinstance(tools, list):
        yield "tools: must be a list"
        return
    for index, tool in enumerate(tools):
        place = f"tools.{index}"
        kind = tool.get("type", "custom") if isinstance(tool, dict) else None
        if not isinstance(kind, str):
            yield f"{place}: must be a tool with a `type` that is text, or without one"
            continue
        if kind == "mcp_toolset":
            continue  # which has a server's name instead of its own
        if not isinstance(tool.get("name"), str):
            yield f"{place}.name: field required"
            continue
        if tool["name"] in names:
            yield f"{place}.name: tool names must be unique: {tool['name']}"
        names.add(tool["name"])
        if kind != "custom":
            continue  # a server tool: its other fields are the API's own business
        if not TOOL_NAME.fullmatch(tool["name"]):
            yield f"{place}.custom.name: must match the pattern '^{TOOL_NAME.pattern}$'"
        if not isinstance(tool.get("description", ""), str):
            yield f"{place}.custom.description: must be text"
        yield from _schema_faults(f"{place}.custom.input_schema", tool.get("input_schema"))


def _schema_faults(place: str, schema: object) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{place}: field required"
        return
    if schema.get("type") != "object":
        yield f'{place}.type: must be "object"'
    if {"oneOf", "allOf", "anyOf"} & set(schema):
        yield f"{place}: does not support oneOf, allOf, or anyOf at the top level"
    if fault := _validity_fault(json.dumps(schema)):
        yield f"{place}: is no valid JSON Schema of draft 2020-12: {fault}"
        return
    for name in schema.get("properties", ()):
        if not PROPERTY_NAME.fullmatch(name):
            yield f"{place}.properties: keys must match the pattern '^{PROPERTY_NAME.pattern}$'"


@functools.lru_cache(maxsize=256)  # every request carries all the tools again
def _validity_fault(schema: str) -> str:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(json.loads(schema), format_checker=None)
    except SchemaError as error:
        return error.message[:200]
    return ""

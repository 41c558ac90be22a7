"""An assistant's turn as the API will take it back, whatever the model sent. Built in lesson 11.

One block that the API refuses makes every later request of the conversation fail. So the history
holds a copy in plain dicts in which such blocks are mended. Vendor objects are never handed back:
the SDK warns on stderr about those that it could only half parse.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping

from harness_lib.call import ToolCall, read_field
from harness_lib.json_value import json_copy

TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What the API accepts as the id of a tool_use."""

MAX_TOOL_USE_NAME = 200
"""The longest name of a tool_use, in characters, that the API accepts in the history."""

UNNAMED_TOOL = "unnamed_tool"
"""Stands in the history for a name that cannot stand there itself."""

FIELDS = {
    "text": ("type", "text", "citations"),
    "tool_use": ("type", "id", "name", "input", "caller"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
}
"""What the API takes back of a block; it refuses fields that it does not know. Blocks of other
types, such as those of server tools, go back as they came."""

THOUGHTS = ("thinking", "redacted_thinking")
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


def wire_turn(
    content: object, used_ids: Iterable[str] = ()
) -> tuple[list[dict[str, object]], list[ToolCall]]:
    """The blocks of one assistant turn as the API accepts them back, and the calls in it.

    content: a response's content: a list of SDK objects, of mappings or of anything.
    used_ids: the tool_use ids of the turns before; the API wants them unique in a request.
    A call carries the id of its mended block, and the name and arguments as the model sent them,
    for dispatch to refuse in its own words. Never raises.
    """
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    used, blocks, calls = set(used_ids), [], []
    for block in content if isinstance(content, (list, tuple)) else ():
        kind = read_field(block, "type")
        plain = _plain_block(block, kind)
        if kind == "tool_use":
            call = ToolCall.from_block(block)
            plain |= _mended(call, used)
            used.add(plain["id"])
            calls.append(dataclasses.replace(call, tool_use_id=plain["id"]))
        if _is_taken_back(kind, plain):
            blocks.append(plain)
    while blocks and blocks[-1]["type"] in THOUGHTS:
        blocks.pop()  # a turn cut in its thoughts: the API takes none that ends in one
    if blocks and blocks[-1]["type"] == "text":
        blocks[-1]["text"] = blocks[-1]["text"].rstrip()  # nor one that ends in white space
    return blocks, calls


def _is_taken_back(kind: object, plain: dict[str, object]) -> bool:
    if kind == "text":  # the API sends empty texts, and refuses to take them back
        return isinstance(plain.get("text"), str) and bool(plain["text"].strip())
    return isinstance(kind, str) and kind != "tool_result"  # which belongs to user messages


def _mended(call: ToolCall, used: set[str]) -> dict[str, object]:
    """Type, id, name and input of a tool_use, each replaced where the API would refuse it."""
    tool_use_id, name = call.tool_use_id, call.name
    if not TOOL_USE_ID.fullmatch(tool_use_id) or tool_use_id in used:
        number = len(used) + 1
        while (tool_use_id := f"toolu_renamed_{number}") in used:
            number += 1
    if not 0 < len(name) <= MAX_TOOL_USE_NAME:
        name = UNNAMED_TOOL
    try:
        arguments, faults = json_copy(call.arguments)
    except Exception:  # a vendor's mapping may raise anything
        arguments, faults = {}, []
    if faults or not isinstance(arguments, dict):
        arguments = {}
    return {"type": "tool_use", "id": tool_use_id, "name": _plain(name), "input": arguments}


def settled(content: list[dict[str, object]]) -> list[dict[str, object]]:
    """The same turn, fit to be followed by a user's text: no server tool is left unanswered."""
    answered = {b["tool_use_id"] for b in content if isinstance(b.get("tool_use_id"), str)}
    return [b for b in content if b["type"] not in SERVER_CALLS or b.get("id") in answered]


def tool_use_ids(messages: Iterable[object]) -> Iterator[str]:
    """The ids of all tool_use blocks in a history."""
    for message in messages:
        content = read_field(message, "content")
        for block in content if isinstance(content, (list, tuple)) else ():
            tool_use_id = read_field(block, "id")
            if read_field(block, "type") == "tool_use" and isinstance(tool_use_id, str):
                yield tool_use_id


def _plain_block(block: object, kind: object) -> dict[str, object]:
    """What goes back of a block, as a plain dict; {} where it cannot be read."""
    try:
        if kind == "tool_use":
            caller = _plain(read_field(block, "caller"))
            return {"caller": caller} if isinstance(caller, dict) and caller else {}
        plain = _plain(dict(_fields(block)) | {"type": kind})
        known = FIELDS.get(kind, plain) if isinstance(kind, str) else ()
        return {name: plain[name] for name in known if name in plain}
    except Exception:  # a vendor's object may raise anything
        return {}


def _fields(value: object) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    fields = getattr(value, "__dict__", {})
    was_sent = getattr(value, "model_fields_set", None)
    if not isinstance(was_sent, set):  # no model of pydantic's, which fills in fields itself
        return fields
    return {n: fields[n] for n in fields if n in was_sent} | (value.model_extra or {})


def _plain(value: object) -> object:
    """Dicts, lists and scalars that any request can carry: no lone surrogates, no NaN."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {_plain(str(name)): _plain(item) for name, item in _fields(value).items()}

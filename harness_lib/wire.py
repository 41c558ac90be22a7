"""An assistant's turn as the API will take it back, whatever the model sent. Built in lesson 11.

One block that the API refuses makes every later request of the conversation fail. So the history
holds a copy in plain dicts in which such blocks are mended, and those that cannot be are left out.
Vendor objects are never handed back: the SDK warns on stderr about those that it could only half
parse.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from harness_lib.call import ToolCall, read_field, read_text
from harness_lib.json_value import MAX_DEPTH, MAX_INTEGER_BITS, json_copy

T = TypeVar("T")

TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What the API accepts as the id of a tool_use."""

SERVER_TOOL_USE_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
"""What the API accepts as the id of a server_tool_use, which its result carries too."""

MAX_TOOL_USE_NAME = 200
"""The longest name of a tool_use, in characters, that the API accepts in the history."""

UNNAMED_TOOL = "unnamed_tool"
"""Stands in the history for a name that cannot stand there itself."""

FIELDS: dict[str, dict[str, type]] = {
    "text": {"text": str, "citations": list},
    "tool_use": {"caller": dict},  # and what _mended gives
    "thinking": {"thinking": str, "signature": str},
    "redacted_thinking": {"data": str},
    "server_tool_use": {"id": str, "name": str, "input": dict, "caller": dict},
    "mcp_tool_use": {"id": str, "name": str, "server_name": str, "input": dict},
}
"""What the API takes back of a block; it refuses fields that it does not know. Blocks of other
types go back as they came: the API's next one will be of a type that nobody knows here."""

OPTIONAL = ("citations", "caller")
MAY_BE_EMPTY = ("thinking", "input")  # the API can be asked to leave a thought's words out

THOUGHTS = ("thinking", "redacted_thinking")
SERVER_CALL, SERVER_RESULT = "_tool_use", "_tool_result"
"""How the types end of what the provider runs itself, such as server_tool_use and mcp_tool_use."""


def wire_turn(
    content: object, history: Iterable[object] = ()
) -> tuple[list[dict[str, object]], list[ToolCall]]:
    """The blocks of one assistant turn as the API accepts them back, and the calls in it.

    content: a response's content: a list of SDK objects, of mappings or of anything.
    history: the messages before; the API wants the ids of tool_use blocks unique in a request,
        and a server tool's use before its result.
    A call carries the id of its mended block, and the name and arguments as the model sent them,
    for dispatch to refuse in its own words. Never raises.
    """
    if issubclass(type(content), str):
        content = [{"type": "text", "text": content}]
    ids = list(_ids(history))
    used = {block_id for kind, block_id in ids if kind == "tool_use"}
    served = {block_id for kind, block_id in ids if kind.endswith(SERVER_CALL)}
    blocks, calls = [], []
    for block in _listed(content):
        kind = read_text(block, "type")
        plain = _attempt(_plain_block, block, kind) if kind else None
        if plain is None:
            continue
        if kind.endswith(SERVER_RESULT) and read_text(plain, "tool_use_id") not in served:
            continue
        if kind.endswith(SERVER_CALL):
            served.add(plain["id"])
        if kind == "tool_use":
            call = ToolCall.from_block(block)
            plain |= _mended(call, used)
            used.add(plain["id"])
            calls.append(dataclasses.replace(call, tool_use_id=plain["id"]))
        blocks.append(plain)
    return _trimmed(blocks), calls


def _mended(call: ToolCall, used: set[str]) -> dict[str, object]:
    """Type, id, name and input of a tool_use, each replaced where the API would refuse it."""
    tool_use_id, name = call.tool_use_id, call.name
    if not TOOL_USE_ID.fullmatch(tool_use_id) or tool_use_id in used:
        number = len(used) + 1
        while (tool_use_id := f"toolu_renamed_{number}") in used:
            number += 1
    if not 0 < len(name) <= MAX_TOOL_USE_NAME:
        name = UNNAMED_TOOL
    arguments, faults = _attempt(json_copy, call.arguments) or ({}, [])
    if faults or not isinstance(arguments, dict):
        arguments = {}
    return {"type": "tool_use", "id": tool_use_id, "name": _plain(name), "input": arguments}


def settled(content: list[dict[str, object]]) -> list[dict[str, object]]:
    """The same turn, fit to be followed by a user's text: no server tool is left unanswered."""
    answered = {b["tool_use_id"] for b in content if b["type"].endswith(SERVER_RESULT)}
    return _trimmed(
        [b for b in content if not b["type"].endswith(SERVER_CALL) or b["id"] in answered]
    )


def _trimmed(blocks: list[dict[str, object]]) -> list[dict[str, object]]:
    """The same turn with an end that the API takes: neither a thought nor white space."""
    while blocks and blocks[-1]["type"] in THOUGHTS:
        blocks.pop()
    if blocks and blocks[-1]["type"] == "text":
        blocks[-1]["text"] = blocks[-1]["text"].rstrip()
    return blocks


def _ids(messages: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Type and id of all blocks in a history that have both."""
    for message in messages:
        for block in _listed(read_field(message, "content")):
            kind, block_id = read_text(block, "type"), read_text(block, "id")
            if kind and block_id:
                yield kind, block_id


def _plain_block(block: object, kind: str) -> dict[str, object] | None:
    """What goes back of a block, as a plain dict; None for one that the API would refuse."""
    if kind == "tool_result":
        return None  # which belongs to user messages
    plain: dict[str, object] = {"type": kind}
    if kind not in FIELDS:
        plain = _plain(_fields(block)) | plain
        is_call = kind.endswith(SERVER_CALL)
        return plain if not is_call or (read_text(plain, "id") or "").strip() else None
    for name, shape in FIELDS[kind].items():
        value = _attempt(_plain, read_field(block, name))
        if type(value) is shape and (name in MAY_BE_EMPTY or _is_filled(value)):
            plain[name] = value
        elif name not in OPTIONAL:
            return None
    if kind == "server_tool_use" and not SERVER_TOOL_USE_ID.fullmatch(plain["id"]):
        return None
    return plain


def _is_filled(value: str | list | dict) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)


def _fields(value: object) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    fields = getattr(value, "__dict__", {})
    was_sent = getattr(value, "model_fields_set", None)
    if not isinstance(was_sent, set):  # no model of pydantic's, which fills in fields itself
        return fields
    aliases = {name: field.alias or name for name, field in type(value).model_fields.items()}
    sent = {aliases.get(name, name): fields[name] for name in fields if name in was_sent}
    return sent | (value.model_extra or {})


def _plain(value: object, depth: int = 0) -> object:
    """Dicts, lists and scalars that any request can carry: no lone surrogates, no NaN."""
    kind = type(value)
    if issubclass(kind, str):
        text = str.__str__(value)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if issubclass(kind, float):
        return float.__float__(value) if math.isfinite(value) else None
    if value is None or kind is bool:
        return value
    if issubclass(kind, int):
        number = int.__int__(value)
        return number if number.bit_length() <= MAX_INTEGER_BITS else None
    if depth == MAX_DEPTH:  # or it holds itself
        raise ValueError(f"nested more than {MAX_DEPTH} levels")
    if issubclass(kind, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    return {_plain(str(name)): _plain(item, depth + 1) for name, item in _fields(value).items()}


def _listed(content: object) -> list[object]:
    is_list = issubclass(type(content), (list, tuple))
    return (_attempt(list, content) or []) if is_list else []


def _attempt(read: Callable[..., T], *arguments: object) -> T | None:
    """What a reading gives; None where a vendor's object raises in it, which may be anything."""
    try:
        return read(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None

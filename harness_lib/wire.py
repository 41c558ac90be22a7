"""An assistant's turn as the API will take it back, whatever the model sent. Built in lesson 11.

One block that the API refuses makes every later request of the conversation fail. So the history
holds a copy in plain dicts in which such blocks are mended. Vendor objects are never handed back:
the SDK warns on stderr about those that it could only half parse.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping

from harness_lib.call import ToolCall
from harness_lib.json_value import json_copy

TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What the API accepts as the id of a tool_use."""

MAX_TOOL_USE_NAME = 200
"""The longest name of a tool_use, in characters, that the API accepts in the history."""

UNNAMED_TOOL = "unnamed_tool"
"""Stands in the history for a name that cannot stand there itself."""


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
        plain = plain_block(block)
        if plain.get("type") == "tool_use":
            plain |= _mended(plain, used)
            used.add(plain["id"])
            calls.append(dataclasses.replace(ToolCall.from_block(block), tool_use_id=plain["id"]))
        if plain.get("type") == "text" and not str(plain.get("text") or "").strip():
            continue  # the API sends empty texts, and refuses to take them back
        if isinstance(plain.get("type"), str):
            blocks.append(plain)
    while blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        blocks.pop()  # a turn cut in its thoughts: the API takes none that ends in one
    if blocks and blocks[-1]["type"] == "text":
        blocks[-1]["text"] = blocks[-1]["text"].rstrip()  # nor one that ends in white space
    return blocks, calls


def _mended(plain: dict[str, object], used: set[str]) -> dict[str, object]:
    """The id, name and input of a tool_use, each replaced where the API would refuse it."""
    tool_use_id, name = plain.get("id"), plain.get("name")
    legal = isinstance(tool_use_id, str) and TOOL_USE_ID.fullmatch(tool_use_id)
    if not legal or tool_use_id in used:
        number = len(used) + 1
        while (tool_use_id := f"toolu_renamed_{number}") in used:
            number += 1
    if not isinstance(name, str) or not 0 < len(name) <= MAX_TOOL_USE_NAME:
        name = UNNAMED_TOOL
    arguments, faults = json_copy(plain.get("input"))
    if faults or not isinstance(arguments, dict):
        arguments = {}
    return {"id": tool_use_id, "name": name, "input": arguments}


def settled(content: list[dict[str, object]]) -> list[dict[str, object]]:
    """The same turn, fit to be followed by a user's text: no server tool is left unanswered."""
    answered = {block.get("tool_use_id") for block in content}
    return [b for b in content if b["type"] != "server_tool_use" or b.get("id") in answered]


def tool_use_ids(messages: Iterable[object]) -> Iterator[str]:
    """The ids of all tool_use blocks in a history."""
    for message in messages:
        content = _fields(message).get("content")
        for block in content if isinstance(content, (list, tuple)) else ():
            fields = _fields(block)
            if fields.get("type") == "tool_use" and isinstance(fields.get("id"), str):
                yield fields["id"]


def plain_block(block: object) -> dict[str, object]:
    """A block as a plain dict; {} where it cannot be read. Its `input` stays as it is.

    Lone surrogates in its texts are replaced: no request could carry them.
    """
    try:
        fields = _fields(block).items()
        return {str(n): value if n == "input" else _plain(value) for n, value in fields}
    except Exception:  # a vendor's object may raise anything
        return {}


def _fields(value: object) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    fields = getattr(value, "__dict__", {})
    was_sent = getattr(value, "model_fields_set", None)  # pydantic's: not what it filled in itself
    if was_sent is None:
        return fields
    return {n: fields[n] for n in fields if n in was_sent} | (value.model_extra or {})


def _plain(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {_plain(str(name)): _plain(item) for name, item in _fields(value).items()}

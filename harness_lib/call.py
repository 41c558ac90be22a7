"""A proposed tool call, taken out of a provider's block. Built in lesson 03.

A provider's block is a vendor's object: its class, its extra fields and its life time are the
vendor's business. The harness takes the three things it needs and lets go of the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model asked for: nothing in it has been checked yet. Built in lesson 03.

    tool_use_id: the provider's id of the call; the result must carry it back.
    name: the name of the tool that the model wrote, known or not.
    arguments: whatever the model sent. It stays `object` until it has been validated: whether
        it is a usable mapping is exactly what has to be checked.
    """

    tool_use_id: str
    name: str
    arguments: object

    @classmethod
    def from_block(cls, block: object) -> ToolCall:
        """Take a call out of an Anthropic `tool_use` block, an SDK object or a mapping.

        Never raises: what is missing becomes "" (id, name) or None (arguments), which dispatch
        refuses with a result that the model can read.
        """
        tool_use_id, name = read_text(block, "id") or "", read_text(block, "name") or ""
        return cls(tool_use_id, name, read_field(block, "input"))

    @classmethod
    def from_openai(cls, call: object) -> ToolCall:
        """Take a call out of OpenAI's shapes, whose arguments are JSON text. Never raises.

        Both shapes are read: Chat Completions (`id` and a nested `function`) and Responses
        (`call_id`, flat). Empty text means no arguments. Text that is not JSON stays a str, so
        that dispatch refuses it with the reason instead of guessing.
        """
        function = read_field(call, "function")
        tool_use_id = read_text(call, "id") or ""
        if function is None:
            function, tool_use_id = call, read_text(call, "call_id") or tool_use_id
        return cls(tool_use_id, read_text(function, "name") or "", _parsed(function))


def read_field(source: object, name: str) -> object:
    """One field of an object or a mapping; None where it is missing or cannot be read."""
    try:
        if isinstance(source, Mapping):
            return source.get(name)
        return getattr(source, name, None)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a vendor's property may raise anything
        return None


def read_text(source: object, name: str) -> str | None:
    """One field, if it is text, as a plain str; None for all else."""
    return _as_text(read_field(source, name))


def _parsed(source: object) -> object:
    arguments = read_field(source, "arguments")
    text = _as_text(arguments)
    if text is None:
        return arguments
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _as_text(value: object) -> str | None:
    # Asked of the type, and past the value's own methods: a vendor's object could raise in both.
    return str.__str__(value) if issubclass(type(value), str) else None

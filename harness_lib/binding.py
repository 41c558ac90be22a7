"""Can this handler be called with these arguments? Built in lessons 04 and 05.

A schema may be open (those of MCP servers and of pydantic often are), so arguments that it
accepts may still not fit the handler. That is the arguments' fault, told before the handler runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HandlerKeywords:
    """What a handler takes by keyword, read once from its signature.

    accepted: the names that it takes; None where it takes any.
    needed: the names that it cannot do without.
    """

    accepted: frozenset[str] | None
    needed: frozenset[str]

    @classmethod
    def of(cls, handler: Callable[..., object], schema: dict[str, object]) -> HandlerKeywords:
        """Read a handler's signature; ValueError where it does not fit the schema."""
        if not callable(handler):
            raise ValueError(f"the handler must be callable, not {type(handler).__name__}")
        if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
            getattr(handler, "__call__", None)  # noqa: B004 - an object whose call is async
        ):
            raise ValueError(
                "the handler is a coroutine function and dispatch is synchronous: "
                "register a plain function that runs it to its end"
            )
        try:
            parameters = inspect.signature(handler).parameters.values()
        except (TypeError, ValueError):  # some built-in functions do not tell
            return cls(None, frozenset())
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        for p in parameters:
            if p.kind is p.POSITIONAL_ONLY and p.default is p.empty:
                raise ValueError(f"the handler takes {p.name!r} by position only")
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        keywords = cls(
            None if takes_any else frozenset(p.name for p in named),
            frozenset(p.name for p in named if p.default is p.empty),
        )
        properties, required = schema.get("properties", {}), schema.get("required", ())
        if unknown := keywords._unknown(properties):
            raise ValueError(f"the handler takes no {unknown[0]!r}, which the schema declares")
        if extra := sorted(keywords.needed - set(required)):
            raise ValueError(f"the handler needs {extra[0]!r}, which the schema does not require")
        return keywords

    def violations(self, arguments: Collection[str]) -> list[str]:
        """Why a call with these arguments could not be bound; an open schema lets such pass."""
        unknown = [
            f"$: the tool takes no property {name[:64]!r}" for name in self._unknown(arguments)
        ]
        missing = [
            f"$: the tool needs the property {n!r}" for n in self.needed if n not in arguments
        ]
        return unknown + sorted(missing)

    def _unknown(self, names: Collection[str]) -> list[str]:
        return [n for n in names if n not in self.accepted] if self.accepted is not None else []


def is_closed(schema: dict[str, object]) -> bool:
    """True where a schema allows its properties alone: then `of` has proved that all calls bind."""
    return schema.get("additionalProperties") is False and not schema.get("patternProperties")

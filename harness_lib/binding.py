"""Can this handler be called with these arguments? Built in lessons 04 and 05.

A schema may be open (those of MCP servers and of pydantic often are), so arguments that it
accepts may still not fit the handler. That is the arguments' fault, told before the handler runs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from types import MethodType

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class HandlerKeywords:
    """What a handler takes by keyword, read once from its signature.

    accepted: the names that it takes; None where it takes any but `taken`.
    needed: the names that it cannot do without.
    taken: the names that are filled already by position, such as a method's `self`.
    """

    accepted: frozenset[str] | None
    needed: frozenset[str]
    taken: frozenset[str]

    @classmethod
    def of(cls, handler: Callable[..., object], schema: dict[str, object]) -> HandlerKeywords:
        """Read a handler's signature; ValueError where it does not fit the schema."""
        _check_callable(handler)
        try:
            parameters = _parameters(handler)
        except (TypeError, ValueError) as error:
            if _is_built_in(handler):  # some of these do not tell
                return cls(None, frozenset(), frozenset())
            raise ValueError(f"the handler's signature cannot be read: {error}") from None
        for p in parameters:
            if p.kind is p.POSITIONAL_ONLY and p.default is p.empty:
                raise ValueError(f"the handler takes {p.name!r} by position only")
        named = [p for p in parameters if p.kind in NAMED]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        keywords = cls(
            None if takes_any else frozenset(p.name for p in named),
            frozenset(p.name for p in named if p.default is p.empty),
            frozenset(_filled(handler)),
        )
        properties, required = schema.get("properties", {}), schema.get("required", ())
        if unknown := keywords.unknown([*properties, *required]):
            raise ValueError(f"the handler takes no {unknown[0]!r}, which the schema declares")
        if extra := sorted(keywords.needed - set(required)):
            raise ValueError(f"the handler needs {extra[0]!r}, which the schema does not require")
        return keywords

    def unknown(self, names: Collection[str]) -> list[str]:
        """The names that the handler cannot be given."""
        if self.accepted is None:
            return [name for name in names if name in self.taken]
        return [name for name in names if name not in self.accepted]

    def missing(self, names: Collection[str]) -> list[str]:
        """The names that the handler needs beside these."""
        return sorted(name for name in self.needed if name not in names)


def is_closed(schema: dict[str, object]) -> bool:
    """True where a schema allows its properties alone: then `of` has proved that all calls bind."""
    return schema.get("additionalProperties") is False and not schema.get("patternProperties")


def _check_callable(handler: object) -> None:
    if not callable(handler):
        raise ValueError(f"the handler must be callable, not {type(handler).__name__}")
    function = _unwrapped(handler)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object whose call is async
    ):
        raise ValueError(
            "the handler is a coroutine function and dispatch is synchronous: "
            "register a plain function that runs it to its end"
        )


def _unwrapped(handler: object) -> object:
    """What a partial of a partial of ... calls in the end."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    return handler


def _is_built_in(handler: object) -> bool:
    function = _unwrapped(handler)
    python = inspect.isfunction(function) or inspect.ismethod(function)
    return inspect.isclass(function) or (inspect.isroutine(function) and not python)


def _parameters(handler: Callable[..., object]) -> list[inspect.Parameter]:
    """The parameters that a call meets: a wrapper's own, and beneath a `**` the wrapped one's."""
    inner = getattr(handler, "__wrapped__", None)
    if inner is None:  # what an object, a class or a partial calls may still be a wrapper
        return list(inspect.signature(handler).parameters.values())
    if inspect.ismethod(handler):
        inner = MethodType(inner, handler.__self__)
    try:
        own = list(inspect.signature(handler, follow_wrapped=False).parameters.values())
    except ValueError:  # of functools.cache, which hands everything on
        return _parameters(inner)
    if not any(p.kind is p.VAR_KEYWORD for p in own):
        return own
    stars = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    own = [p for p in own if p.kind not in stars]
    filled = {p.name for p in own}
    return own + [p for p in _parameters(inner) if p.name not in filled]


def _filled(handler: object) -> Iterator[str]:
    """The names that a partial, a method or an object fills by position: no keyword can again."""
    count = 1
    if isinstance(handler, functools.partial):
        functions, count = [handler.func], len(handler.args)
        yield from _filled(handler.func)
    elif inspect.ismethod(handler):
        functions = [handler.__func__]
    elif inspect.isclass(handler):  # three functions see a class's keywords, each after its own
        functions = [handler.__init__, handler.__new__, type(handler).__call__]
    elif inspect.isroutine(handler):
        return
    else:
        function = inspect.getattr_static(type(handler), "__call__")
        if isinstance(function, staticmethod):
            return
        functions = [function]
    for function in functions:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            continue
        yield from (p.name for p in parameters[:count] if p.kind is p.POSITIONAL_OR_KEYWORD)

"""How values and states are written for a learner, as text and as HTML."""

from __future__ import annotations

import html
import re

MAX_CHARS = 300
"""How much of a value is shown, in characters."""


def shown(value: object) -> str:
    """A value as Python would write it, clipped, without addresses; never raises."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<a {type(value).__name__} whose repr raises {type(error).__name__}>"
    return clipped(re.sub(r" at 0x[0-9a-fA-F]+", "", text))


def clipped(text: str) -> str:
    """At most MAX_CHARS characters, without control characters."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 3]}..."


def escaped(text: str) -> str:
    """Text for HTML, in which nothing is taken for a tag."""
    return html.escape(text, quote=True)

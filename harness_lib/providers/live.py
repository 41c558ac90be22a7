"""A live model, for those who have a key: everything else in the course runs without one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import anthropic


class NotConfigured(RuntimeError):
    """What has to be set before a live model can be asked, in one sentence."""


def live_client() -> anthropic.Anthropic:
    """The SDK's client with the key of the environment.

    The SDK reads ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) and ANTHROPIC_BASE_URL. Raises
    NotConfigured where there is no key.
    """
    if not _has_key():
        raise NotConfigured(_what_to_set())
    import anthropic  # slow to import, so on first use

    return anthropic.Anthropic()


def live_model() -> str:
    """The model id in ANTHROPIC_MODEL. Raises NotConfigured where there is none."""
    if not os.environ.get("ANTHROPIC_MODEL"):
        raise NotConfigured(_what_to_set())
    return os.environ["ANTHROPIC_MODEL"]


def _has_key() -> bool:
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    return any(os.environ.get(name) for name in names)


def _what_to_set() -> str:
    missing = []
    if not _has_key():
        missing.append("ANTHROPIC_API_KEY to your key")
    if not os.environ.get("ANTHROPIC_MODEL"):
        missing.append("ANTHROPIC_MODEL to a model id (or pass --model)")
    return f"To talk to a live model, set {' and '.join(missing)}; --demo needs neither."

"""A live model, for those who have a key: everything else in the course runs without one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import anthropic


class NotConfigured(RuntimeError):
    """What has to be set before a live model can be asked, in one sentence."""


def live_client(environ: Mapping[str, str] | None = None) -> anthropic.Anthropic:
    """The SDK's client with the key of the environment.

    Reads ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN); the SDK itself also reads
    ANTHROPIC_BASE_URL. Raises NotConfigured where there is no key.
    """
    environ = os.environ if environ is None else environ
    if not (environ.get("ANTHROPIC_API_KEY") or environ.get("ANTHROPIC_AUTH_TOKEN")):
        raise NotConfigured(_what_to_set(environ))
    import anthropic  # slow to import, so on first use

    return anthropic.Anthropic()


def live_model(environ: Mapping[str, str] | None = None) -> str:
    """The model id in ANTHROPIC_MODEL. Raises NotConfigured where there is none."""
    environ = os.environ if environ is None else environ
    if not environ.get("ANTHROPIC_MODEL"):
        raise NotConfigured(_what_to_set(environ))
    return environ["ANTHROPIC_MODEL"]


def _what_to_set(environ: Mapping[str, str]) -> str:
    missing = []
    if not (environ.get("ANTHROPIC_API_KEY") or environ.get("ANTHROPIC_AUTH_TOKEN")):
        missing.append("ANTHROPIC_API_KEY to your key")
    if not environ.get("ANTHROPIC_MODEL"):
        missing.append("ANTHROPIC_MODEL to a model id (or pass --model)")
    return f"To talk to a live model, set {' and '.join(missing)}; --demo needs neither."

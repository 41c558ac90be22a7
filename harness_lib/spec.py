"""What one registration says about a tool. Built in lesson 04."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One registration that answers four questions about a tool. Built in lesson 04.

    name: the look-up key, for the protocol and for the harness.
    description: tells the model what the tool does and when to use it.
    input_schema: a JSON Schema (Draft 2020-12) object; shown to the model and enforced.
    handler: the function that runs, called with the validated arguments as keywords.
    concurrent_safe: whether a batch may run this tool beside others. False unless said.

    A spec is only a description. `ToolRegistry.register` is where it is checked.
    """

    name: str
    description: str
    input_schema: Mapping[str, object]
    handler: Callable[..., object]
    concurrent_safe: bool = False

    def model_schema(self) -> dict[str, object]:
        """The entry for the request's `tools` list, detached: changing it changes nothing here."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": copy.deepcopy(dict(self.input_schema)),
        }


def object_schema(
    properties: Mapping[str, object], required: Iterable[str] = ()
) -> dict[str, object]:
    """A strict object schema: these properties, of which `required` must be there, and no other.

    The model cannot add a property that nobody declared: `additionalProperties` is False.
    Raises TypeError for a `required` that is text: its letters would be taken for names.
    Built in lesson 04.
    """
    if isinstance(required, str):
        raise TypeError(f"required is a list of names, not text: write [{required!r}]")
    return {
        "type": "object",
        "properties": copy.deepcopy(dict(properties)),
        "required": list(required),
        "additionalProperties": False,
    }

"""How a batch of calls is split into groups. Built in lesson 07.

Concurrency is a policy, and this is all of it: a finer one (read and write sets, say) takes this
function's place, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_lib.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class CallGroup:
    """Calls of a batch, by index, that may run at the same time. Groups run one after another."""

    indexes: tuple[int, ...]

    @property
    def concurrent(self) -> bool:
        return len(self.indexes) > 1


def split_batch(specs: Sequence[ToolSpec | None]) -> list[CallGroup]:
    """Split a batch, given the spec of each call in order; None stands for an unknown tool.

    All in one group when every call is known and `concurrent_safe`; otherwise each alone, in the
    model's order. An unknown tool counts as unsafe: nobody has said what it does.
    """
    if all(spec is not None and spec.concurrent_safe for spec in specs):
        return [CallGroup(tuple(range(len(specs))))] if specs else []
    return [CallGroup((index,)) for index in range(len(specs))]

"""Planted wrong answers: each must be refused, with the sentence that names its slip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Wrong:
    """A wrong answer to `check_id`; `says` must stand in its report."""

    check_id: str
    says: str
    answer: Callable[..., object]

    @property
    def name(self) -> str:
        return f"{self.check_id} {self.answer.__name__}"


WRONG: list[Wrong] = []


def wrong(check_id: str, says: str) -> Callable[[Callable], Callable]:
    """Register a function as a wrong answer."""

    def register(answer: Callable) -> Callable:
        WRONG.append(Wrong(check_id, says, answer))
        return answer

    return register

"""compare() and show(): the finished piece beside yours, and its source, read at run time."""

from __future__ import annotations

import inspect
import textwrap

from harness_lib.course.check import was_untouched
from harness_lib.course.contract import Outcome
from harness_lib.course.contracts import CONTRACTS
from harness_lib.course.wording import escaped, shown

_CELL = "text-align:left;vertical-align:top;padding:2px 14px 2px 0"


class Table:
    """Rows under a headline, as text and as HTML."""

    def __init__(self, headline: str, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        self.headline = headline
        self.head = head
        self.rows = rows

    @property
    def text(self) -> str:
        columns = list(zip(self.head, *self.rows, strict=True))
        widths = [max(map(len, column)) for column in columns]
        lines = [self.headline]
        for row in [self.head, *self.rows]:
            cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            lines.append(f"  {'  '.join(cells)}".rstrip())
        return "\n".join(lines)

    @property
    def html(self) -> str:
        head = "".join(f'<th style="{_CELL}">{escaped(cell)}</th>' for cell in self.head)
        rows = "".join(
            "<tr>" + "".join(f'<td style="{_CELL}">{escaped(cell)}</td>' for cell in row) + "</tr>"
            for row in self.rows
        )
        return f"<p><b>{escaped(self.headline)}</b></p><table><tr>{head}</tr>{rows}</table>"

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


def compare(check_id: str, yours: object) -> Table:
    """Run one contract on your piece and on the library's, case by case. Never raises.

    An exercise that check() found untouched is said to be so, and is not run.
    """
    contract = CONTRACTS.get(check_id)
    if contract is None:
        rows = [(known,) for known in sorted(CONTRACTS)]
        return Table(f"There is no contract {check_id!r}.", ("there are",), rows)
    library = [_word(outcome) for outcome in contract.run(contract.library)]
    if was_untouched(check_id, yours):
        mine = ["not attempted"] * len(library)
    else:
        mine = [_word(outcome) for outcome in contract.run(yours)]
    names = [case.name for case in contract.cases]
    headline = f"{check_id} {contract.piece}: the same cases on both"
    return Table(
        headline,
        ("case", "this notebook", "harness_lib"),
        [*zip(names, mine, library, strict=True)],
    )


def _word(outcome: Outcome) -> str:
    return "ok" if outcome.passed else f"FAIL: {shown(outcome.came_back)[:50]}"


class Source:
    """The source of a library object, as it stands in the file that runs."""

    def __init__(self, thing: object) -> None:
        self.text = textwrap.dedent(inspect.getsource(thing)).rstrip()

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": self.text, "text/markdown": f"```python\n{self.text}\n```"}


def show(thing: object) -> Source:
    """The source of a function, a class or a module of the library."""
    return Source(thing)

"""A report that reads well as text and as HTML; what Jupyter shows of check() and compare()."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from harness_lib.course.contract import Outcome, describe
from harness_lib.course.wording import escaped

WIDTH = 96
"""The widest line of the text form, in columns."""

_CELL = "text-align:left;vertical-align:top;padding:2px 10px 2px 0"


class Report:
    """A headline and the outcome of each case. ok is None where nothing was run."""

    def __init__(self, headline: str, outcomes: Sequence[Outcome], ok: bool | None = None) -> None:
        self.headline = headline
        self.outcomes = list(outcomes)
        self.ok = ok

    @property
    def text(self) -> str:
        lines = textwrap.wrap(self.headline, WIDTH)
        for outcome in self.outcomes:
            lines.append(f"  {'ok  ' if outcome.passed else 'FAIL'}  {outcome.case.name}")
            if not outcome.passed:
                for label, text in describe(outcome):
                    lines += textwrap.wrap(
                        text,
                        WIDTH,
                        initial_indent=f"        {label:<10} ",
                        subsequent_indent=" " * 19,
                    )
        return "\n".join(lines)

    @property
    def html(self) -> str:
        rows = []
        for outcome in self.outcomes:
            word = "ok" if outcome.passed else "FAIL"
            rows.append(f'<tr><td style="{_CELL}"><b>{word}</b></td>')
            rows.append(f'<td style="{_CELL}">{escaped(outcome.case.name)}')
            if not outcome.passed:
                lines = "".join(_row(label, text) for label, text in describe(outcome))
                rows.append(f"<table>{lines}</table>")
            rows.append("</td></tr>")
        table = f"<table>{''.join(rows)}</table>" if rows else ""
        edge = {True: "#2e7d32", False: "#b3261e", None: "#666666"}[self.ok]
        return (
            f'<div style="border-left:4px solid {edge};padding:4px 12px">'
            f"<p><b>{escaped(self.headline)}</b></p>{table}</div>"
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


def _row(label: str, text: str) -> str:
    said = escaped(text)
    if label in ("sent", "expected", "came back"):
        said = f'<code style="white-space:pre-wrap;word-break:break-word">{said}</code>'
    return f'<tr><td style="{_CELL}">{label}</td><td style="{_CELL}">{said}</td></tr>'

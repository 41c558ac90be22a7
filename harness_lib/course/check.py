"""check(): runs your answer through its contract, and says what it found. It never raises.

An answer is in one of three states: not attempted, incorrect, correct. An untouched stub is found
by comparing the syntax tree of the cell that calls check() with the one that was shipped, so that
a comment or a new line is no attempt, and a first try always is.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import os
import sys
from enum import StrEnum

from harness_lib.course.contract import Contract, Outcome
from harness_lib.course.contracts import CONTRACTS
from harness_lib.course.report import Report


class State(StrEnum):
    """How far an answer has come."""

    NOT_ATTEMPTED = "not attempted"
    INCORRECT = "incorrect"
    CORRECT = "correct"


def check(check_id: str, answer: object) -> Report:
    """Run an answer through the contract `check_id`, such as "03.1", and report on each case.

    Never raises at a learner. With HARNESS_CHECK_STRICT=1, set in tests, an incorrect answer
    raises AssertionError.
    """
    contract = CONTRACTS.get(check_id)
    if contract is None:
        known = ", ".join(sorted(CONTRACTS))
        return Report(f"There is no check {check_id!r}; there are: {known}", [], ok=False)
    if fingerprint(_calling_cell()) == contract.stub:
        _untouched[check_id] = answer
        return Report(
            f"{check_id} {contract.piece}: {State.NOT_ATTEMPTED} yet. "
            "Write your answer in the cell, in place of the dots, and run it again.",
            [],
        )
    _untouched.pop(check_id, None)
    report = _judged(contract, contract.run(answer))
    if os.environ.get("HARNESS_CHECK_STRICT") == "1" and not report.ok:
        raise AssertionError(report.text)
    return report


def _judged(contract: Contract, outcomes: list[Outcome]) -> Report:
    held = sum(outcome.passed for outcome in outcomes)
    name = f"{contract.check_id} {contract.piece}"
    if held == len(outcomes):
        return Report(f"{name}: {State.CORRECT}. All {held} cases hold.", outcomes, ok=True)
    said = f"{name}: {State.INCORRECT}. {held} of {len(outcomes)} cases hold."
    return Report(said, outcomes, ok=False)


_untouched: dict[str, object] = {}


def was_untouched(check_id: str, answer: object) -> bool:
    """True if the last check() of this id was given this very answer, and found it untouched."""
    return check_id in _untouched and _untouched[check_id] is answer


def _calling_cell() -> str:
    """The source of the cell (or file) that called check(), as Python itself would show it."""
    return "".join(linecache.getlines(sys._getframe(2).f_code.co_filename))


def fingerprint(source: str) -> str:
    """A short hash of what a cell does: comments, docstrings, `pass` and `...` are left out."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        for body in ("body", "orelse", "finalbody"):
            statements = getattr(node, body, None)
            if isinstance(statements, list):
                setattr(node, body, [s for s in statements if not _says_nothing(s)])
    # As source, not as ast.dump(): that text changes from one Python to the next.
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


def _says_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return statement.value.value is ... or isinstance(statement.value.value, str)

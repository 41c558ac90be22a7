"""A contract: named cases for one piece, run on the library, on lesson code and on yours.

A case says what is sent, what must come back and why it matters. Whatever a piece does with it
(raise, exit, hang, deadlock) is an outcome with a name; only KeyboardInterrupt passes.
"""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from harness_lib.course.wording import clipped, shown


@dataclass(frozen=True)
class Case:
    """One thing that a piece must do.

    name: what it is about. sent: what the piece is given (a copy, each time). expected: what must
    come back, types included. why: what would break without it. slips: (what came back, sentence)
    pairs for wrong answers with a story of their own; a `Raised` or `Hung` may stand there too.
    observe: runs the piece on `sent`, where it differs from the contract's. deadline_s: seconds.
    """

    name: str
    sent: object
    expected: object
    why: str
    slips: tuple[tuple[object, str], ...] = ()
    observe: Callable[[object, object], object] | None = None
    deadline_s: float = 1.0


@dataclass(frozen=True)
class Contract:
    """The cases for one piece.

    check_id: such as "03.1". piece: the name that the lesson gives it. library: the library's own
    piece. stub: the fingerprint of the untouched exercise (see check.py).
    """

    check_id: str
    piece: str
    cases: tuple[Case, ...]
    library: Callable[..., object]
    stub: str = ""
    observe: Callable[[object, object], object] = field(default=lambda piece, sent: piece(sent))

    def run(self, piece: object) -> list[Outcome]:
        """Every case on this piece, in order. Raises nothing but KeyboardInterrupt.

        After one that hung, the others get a fifth of their time: most will hang as well.
        """
        import jsonschema  # noqa: F401 - slow the first time, which is no answer's fault

        outcomes: list[Outcome] = []
        for case in self.cases:
            if any(isinstance(outcome.came_back, Hung) for outcome in outcomes):
                case = dataclasses.replace(case, deadline_s=case.deadline_s / 5)
            outcomes.append(run_case(case, case.observe or self.observe, piece))
        return outcomes


@dataclass(frozen=True)
class Raised:
    """The piece raised; type and message, or the type alone to stand for any message."""

    type: str
    message: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Raised) or self.type != other.type:
            return False
        return None in (self.message, other.message) or self.message == other.message

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        if self.type == "SystemExit":
            return "it tried to end the program (SystemExit)"
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True)
class Hung:
    """The piece did not come back in time."""

    deadline_s: float = 1.0

    def __repr__(self) -> str:
        return f"nothing came back within {self.deadline_s:g} s (an endless loop, or a deadlock?)"


@dataclass(frozen=True)
class Outcome:
    """What one case gave on one piece. slip: the sentence for this very mistake, or ""."""

    case: Case
    came_back: object
    passed: bool
    slip: str = ""


def run_case(case: Case, observe: Callable[[object, object], object], piece: object) -> Outcome:
    """One case on one piece, in a thread of its own, so that a hang is an outcome too."""
    box: list[object] = []

    def work() -> None:
        try:
            box.append(observe(piece, copy.deepcopy(case.sent)))
        except BaseException as error:
            box.append(error if isinstance(error, KeyboardInterrupt) else _raised(error))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        worker.join(case.deadline_s)
    finally:
        if worker.is_alive():
            _stop(worker)
    came_back = box[0] if box and not worker.is_alive() else Hung(case.deadline_s)
    if isinstance(came_back, KeyboardInterrupt):
        raise came_back
    if same(came_back, case.expected):
        return Outcome(case, came_back, passed=True)
    slip = next((text for wrong, text in case.slips if same(came_back, wrong)), "")
    return Outcome(case, came_back, passed=False, slip=slip)


def _raised(error: BaseException) -> Raised:
    try:
        message = clipped(str(error))
    except BaseException:  # to ask for a text is to run code: it may even try to exit
        message = ""
    return Raised(type(error).__name__, message)


def _stop(worker: threading.Thread) -> None:
    """Raise SystemExit in a thread that runs for ever, or it would slow all that follows.

    A thread that waits for a lock is not reached; it sleeps, as a daemon, and costs nothing.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(worker.ident or 0), ctypes.py_object(SystemExit)
    )


def same(one: object, other: object) -> bool:
    """Equality that tells 1 from True and 1.0, at any depth; what cannot be compared differs."""
    try:
        if isinstance(one, (list, tuple)) and type(one) is type(other):
            return len(one) == len(other) and all(map(same, one, other))
        if isinstance(one, dict) and type(one) is type(other):
            return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
        return type(one) is type(other) and bool(one == other)
    except Exception:
        return False


def describe(outcome: Outcome) -> Iterable[tuple[str, str]]:
    """A failed case as (label, text) lines: what was sent, expected, came back, and why."""
    yield "sent", shown(outcome.case.sent)
    yield "expected", shown(outcome.case.expected)
    yield "came back", shown(outcome.came_back)
    if outcome.slip:
        yield "the slip", outcome.slip
    yield "why", outcome.case.why

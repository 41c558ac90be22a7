"""What lesson 07 asks of its pieces: which calls overlap, and in which order results come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from harness_lib.call import ToolCall
from harness_lib.course.contract import Case, Contract, Raised
from harness_lib.registry import ToolRegistry
from harness_lib.scheduling import split_batch
from harness_lib.spec import ToolSpec, object_schema

MEETING_S = 0.5
"""How long a handler waits for others that must come, in seconds; if they do, it does not wait."""

ALONE_S = 0.2
"""How long it waits for others that must not come, in seconds: each right answer waits so long."""


MET, ALONE = "met others", "was alone"


class _Batch:
    """Calls by name; a second line says what is special about them."""

    def __init__(self, *names: object, says: str = "") -> None:
        self.names = names
        self.says = says

    def __repr__(self) -> str:
        names = ", ".join(name if isinstance(name, str) else repr(name) for name in self.names)
        return f"[{names}]{self.says}"

    def calls(self) -> list[ToolCall]:
        return [ToolCall(f"toolu_{n:02}", name, {}) for n, name in enumerate(self.names, 1)]


def _registry(
    look: Callable[[], object],
    change: Callable[[], object],
    find: Callable[[], object] | None = None,
) -> ToolRegistry:
    """`look` and `find` are safe, `change` is not, `fail` is safe and raises."""

    def fail() -> None:
        raise LookupError("not there")

    nothing = object_schema({})
    return ToolRegistry(
        [
            ToolSpec("look", "", nothing, look, concurrent_safe=True),
            ToolSpec("find", "", nothing, find or look, concurrent_safe=True),
            ToolSpec("fail", "", nothing, fail, concurrent_safe=True),
            ToolSpec("change", "", nothing, change),
        ]
    )


def _decides(piece: Callable, sent: _Batch) -> object:
    return piece(_registry(lambda: "", lambda: ""), sent.calls())


def _may_overlap(registry: ToolRegistry, calls: Sequence[ToolCall]) -> bool:
    return len(split_batch([registry.get(call.name) for call in calls])) == 1


NONE_ASKED = Raised("AttributeError", "'NoneType' object has no attribute 'concurrent_safe'")
NOTHING = (None, "Nothing came back. Return True or False.")

DECIDE = Contract(
    check_id="07.1",
    piece="may_overlap",
    stub="7f8d44b7e2119161",
    library=_may_overlap,
    observe=_decides,
    cases=(
        Case(
            "two safe tools",
            _Batch("look", "find"),
            True,
            "Both only read: whichever comes first, each sees the same.",
            slips=(NOTHING, (False, "Both are registered as concurrent_safe, and were told to wait for each other.")),
        ),
        Case(
            "one tool twice",
            _Batch("look", "look"),
            True,
            "Safe means: beside any other safe call, one of the same tool too.",
            slips=((False, "The same tool twice is no reason to wait: its author said that it is safe."),),
        ),
        Case(
            "the last one is unsafe",
            _Batch("look", "find", "change"),
            False,
            "A reader beside a writer sees the old file, or the new one, as it happens.",
            slips=(NOTHING, (True, "A tool that is not concurrent_safe would run beside others. One such call is enough to say no: look at all of them.")),
        ),
        Case(
            "the first one is unsafe",
            _Batch("change", "look"),
            False,
            "The read is meant to see what was written.",
            slips=((True, "A yes, though the first call is not safe: each has a say."),),
        ),
        Case(
            "an unknown name",
            _Batch("look", "lok"),
            False,
            "Nobody has said what a tool of that name does.",
            slips=((NONE_ASKED, "registry.get gave None for the unknown name. An unknown tool is not safe: say so before you ask it."), (True, "An unknown tool was taken for safe. Nobody vouched for it.")),
        ),
        Case(
            "a name that is no text",
            _Batch("look", ["look"]),
            False,
            "A model may send anything as a name.",
            slips=((Raised("TypeError"), "A list cannot be looked up in a dict. registry.get takes any name."),),
        ),
    ),
)  # fmt: skip


# --- the whole batch ------------------------------------------------------------------------------


def _answers(piece: Callable, registry: ToolRegistry, calls: list[ToolCall]) -> object:
    """What each result says, in order; a failure by its code alone."""
    results = piece(registry, calls)
    if not isinstance(results, list):
        kind = type(results).__name__
        return results if results is None else f"no list, but a value of the type {kind}"
    if not all(hasattr(result, "content") and hasattr(result, "call") for result in results):
        return results
    if [result.call for result in results] != calls[: len(results)]:
        return "results that answer other calls than those at their place"
    return [str(result.error_code or result.content) for result in results]


def _meets(piece: Callable, sent: _Batch) -> object:
    """Each handler says whether enough others were beside it; the first waits for them."""
    all_safe = not {"change", "lok"}.intersection(sent.names)
    enough, wait_s = (len(sent.names), MEETING_S) if all_safe else (2, ALONE_S)
    inside, verdict, moved = [], [], threading.Condition()

    def handler() -> str:
        with moved:
            inside.append(1)
            if len(inside) >= enough:
                verdict[:] = [MET]
                moved.notify_all()
            elif not moved.wait_for(lambda: verdict, wait_s):
                verdict[:] = [ALONE]
            inside.pop()
            return verdict[0]

    return _answers(piece, _registry(handler, handler), sent.calls())


def _overtakes(piece: Callable, sent: _Batch) -> object:
    """A reader that would come before the writer, where the two overlap."""
    state, was_read = ["old"], threading.Event()

    def look() -> str:
        was_read.set()
        return f"saw the {state[0]} one"

    def change() -> str:
        was_read.wait(ALONE_S)
        state[0] = "new"
        return "changed"

    return _answers(piece, _registry(look, change), sent.calls())


def _counts(piece: Callable, sent: _Batch) -> object:
    """How many handlers were entered, beside what they answered."""
    entered = []

    def handler() -> str:
        entered.append(1)
        return "done"

    answers = _answers(piece, _registry(handler, handler), sent.calls())
    return [answers, f"{len(entered)} of the others were entered"]


def _shares_an_id(piece: Callable, sent: _Batch) -> object:
    """Each handler says something else; the calls have one id."""
    changes = iter(("changed", "changed again"))
    registry = _registry(lambda: "looked", lambda: next(changes), lambda: "found")
    calls = [ToolCall("toolu_01", call.name, call.arguments) for call in sent.calls()]
    return _answers(piece, registry, calls)


NO_RESULTS = (None, "Nothing came back. Return the list of results.")

ONE_LOST = "Two calls and one result: results that are kept by their id lose one."
ONE_TWICE = "Both calls got one and the same result: results that are kept by their id lose one."

CASES = (
    Case(
        "safe calls",
        _Batch("look", "find", "look"),
        [MET, MET, MET],
        "Waiting adds up: that is what running at once is for.",
        slips=(
            NO_RESULTS,
            ([ALONE, ALONE, ALONE], "The three did not meet. Start all of them before you wait for the first, in a pool that has a worker for each."),
            ("no list, but a value of the type generator", "A generator came back. Make a list of the results."),
            ("results that answer other calls than those at their place", "The results stand in another order than the calls. Whoever pairs them by position hands each call another's answer."),
        ),
        observe=_meets,
    ),
    Case(
        "one unsafe call among safe ones",
        _Batch("look", "change", "look"),
        [ALONE, ALONE, ALONE],
        "The read before the write means the old file, the one after it the new.",
        slips=(([MET, MET, MET], "Some of them overlapped, and one is not concurrent_safe. Ask all_safe() first."),),
        observe=_meets,
    ),
    Case(
        "an unsafe call behind safe ones",
        _Batch("look", "find", "change"),
        [ALONE, ALONE, ALONE],
        "All or none is the rule: the simplest that is right.",
        slips=(([MET, MET, MET], "Some of them overlapped. That may be harmless here; the rule is that all of them are safe, or none overlaps."),),
        observe=_meets,
    ),
    Case(
        "an unknown name among safe ones",
        _Batch("look", "find", "lok", says=", of which `lok` is not registered"),
        [ALONE, ALONE, "unknown_tool"],
        "Nobody has said what a tool of that name does; its call still gets its result.",
        slips=(
            ([ALONE, ALONE], "The unknown call has no result. Each id waits for its answer."),
            ([MET, MET], "The unknown call was dropped, and the others overlapped without it. Each id waits for its answer."),
            ([MET, MET, "unknown_tool"], "The unknown name was left out of the decision, and the others overlapped. An unknown tool counts as unsafe."),
        ),
        observe=_meets,
    ),
    Case(
        "a write, then a read",
        _Batch("change", "look"),
        ["changed", "saw the new one"],
        "A model that reads back what it wrote believes what it is shown.",
        slips=((["changed", "saw the old one"], "The read came before the write beside it: the results are in order, the effects are not. Start a call when the one before has ended."),),
        observe=_overtakes,
    ),
    Case(
        "a call that fails",
        _Batch("look", "fail", "look", says=", of which `fail` raises"),
        [["done", "execution_error", "done"], "2 of the others were entered"],
        "One failure takes no other call with it.",
        slips=(([["done", "execution_error"], "1 of the others were entered"], "The batch ended with the first failure. dispatch() makes a result of it; go on."),),
        observe=_counts,
    ),
    Case(
        "two calls with one id",
        _Batch("change", "change", says=", both with the id toolu_01"),
        ["changed", "changed again"],
        "A model may repeat an id. Two calls were made, and two results are due.",
        slips=(
            (["changed again"], ONE_LOST),
            (["changed again", "changed again"], ONE_TWICE),
        ),
        observe=_shares_an_id,
    ),
    Case(
        "two safe calls with one id",
        _Batch("look", "find", says=", both with the id toolu_01"),
        ["looked", "found"],
        "The same, where the two may overlap.",
        slips=(("results that answer other calls than those at their place", "A result stands where another call's belongs: with one id, results that are kept by their id are mixed up."),),
        observe=_shares_an_id,
    ),
    Case(
        "an empty batch",
        _Batch(),
        [[], "0 of the others were entered"],
        "A turn without calls is a batch, too.",
        slips=(([None, "0 of the others were entered"], "Nothing came back. An empty batch has an empty list of results."),),
        observe=_counts,
    ),
)  # fmt: skip

BATCH = Contract(
    check_id="07.batch",
    piece="my_dispatch_many",
    library=ToolRegistry.dispatch_many,
    cases=tuple(replace(case, slips=()) for case in CASES),
)

DISPATCH_MANY = Contract(
    check_id="07.2",
    piece="dispatch_many",
    stub="0c7dd5403054c6b5",
    library=ToolRegistry.dispatch_many,
    cases=CASES,
)

CONTRACTS = (BATCH, DECIDE, DISPATCH_MANY)

"""What lesson 00 asks: which station a call reached last."""

from __future__ import annotations

from harness_lib.call import ToolCall
from harness_lib.course.contract import Case, Contract, Raised
from harness_lib.result import ToolDispatchResult, ToolErrorCode

CALL = ToolCall("toolu_1", "read_file", {"path": "a.txt"})
STATIONS = {
    ToolErrorCode.UNKNOWN_TOOL: "look up",
    ToolErrorCode.INVALID_ARGUMENTS: "validate",
    ToolErrorCode.EXECUTION_ERROR: "run",
    None: "result",
}


def _station(result: ToolDispatchResult) -> str:
    return STATIONS[result.error_code]


def _failed(code: ToolErrorCode) -> ToolDispatchResult:
    return ToolDispatchResult.failure(CALL, code, "...")


MIXED_UP = "Two codes are mixed up. unknown_tool is about the name, invalid_arguments about what came with it."

STATION = Contract(
    check_id="00.1",
    piece="station",
    stub="4833b4501e795fec",
    library=_station,
    cases=(
        Case(
            "a tool that nobody registered",
            _failed(ToolErrorCode.UNKNOWN_TOOL),
            "look up",
            "The name led nowhere, so nothing else was looked at.",
            slips=(("validate", MIXED_UP),),
        ),
        Case(
            "arguments that do not fit",
            _failed(ToolErrorCode.INVALID_ARGUMENTS),
            "validate",
            "The tool was found, and its handler was not entered.",
            slips=(("look up", MIXED_UP),),
        ),
        Case(
            "a handler that failed",
            _failed(ToolErrorCode.EXECUTION_ERROR),
            "run",
            "Only here was the tool itself at work.",
        ),
        Case(
            "a call that went through",
            ToolDispatchResult(CALL, "Buy apples"),
            "result",
            "No code means that nothing went wrong.",
            slips=(
                (
                    Raised("KeyError"),
                    "A success has no code: its error_code is None, which your dict does not hold.",
                ),
                (
                    None,
                    "Nothing came back for a success. Its error_code is None; that is a case of its own.",
                ),
            ),
        ),
    ),
)

CONTRACTS = (STATION,)

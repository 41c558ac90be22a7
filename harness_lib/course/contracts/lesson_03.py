"""What lesson 03 asks of its pieces: taking a call out of a provider's block."""

from __future__ import annotations

import copy
from collections import ChainMap
from dataclasses import replace
from types import SimpleNamespace

from harness_lib.call import ToolCall
from harness_lib.course.contract import Case, Contract, Raised

BLOCK = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a.txt"}}


class NotLoaded(Exception):
    """A vendor's own exception."""


class Locked:
    """A vendor's object of which one field cannot be read."""

    id = "toolu_1"
    name = "read_file"

    @property
    def input(self) -> object:
        raise NotLoaded("the rest is still on its way")

    def __repr__(self) -> str:
        return "<a block whose input raises NotLoaded, an exception of the vendor's>"


class LockedMapping(dict):
    """A vendor's mapping of which no item can be read."""

    def get(self, name: str, default: object = None) -> object:
        raise NotLoaded("the rest is still on its way")

    __getitem__ = get

    def __repr__(self) -> str:
        return "<a mapping whose items raise NotLoaded>"


def _call_of(piece, block: object) -> object:
    """The call that a piece makes of a block, whatever class the notebook gives it."""
    call = piece(block)
    try:
        return ToolCall(call.tool_use_id, call.name, call.arguments)
    except AttributeError:
        return call  # no call at all: shown as it is


def _without(*names: str) -> dict[str, object]:
    return {key: value for key, value in BLOCK.items() if key not in names}


BLOCKS = Contract(
    check_id="03.block",
    piece="take_call",
    library=ToolCall.from_block,
    observe=_call_of,
    cases=(
        Case(
            "an SDK object",
            SimpleNamespace(**BLOCK, caller=None),
            ToolCall("toolu_1", "read_file", {"path": "a.txt"}),
            "This is what a response of the SDK holds.",
        ),
        Case(
            "a mapping",
            BLOCK,
            ToolCall("toolu_1", "read_file", {"path": "a.txt"}),
            "The same call out of a log, or out of a history in plain dicts.",
        ),
        Case(
            "arguments that are a list",
            {**BLOCK, "input": ["a.txt"]},
            ToolCall("toolu_1", "read_file", ["a.txt"]),
            "What the model really sent is what the error has to tell it.",
        ),
        Case(
            "arguments that are text",
            {**BLOCK, "input": '{"path": "a.txt"}'},
            ToolCall("toolu_1", "read_file", '{"path": "a.txt"}'),
            "Text is not an object. To parse it would be to guess.",
        ),
        Case(
            "no arguments at all",
            _without("input"),
            ToolCall("toolu_1", "read_file", None),
            "Nothing is not an empty object: it has to be refused, with a reason.",
        ),
        Case(
            "no name",
            _without("name"),
            ToolCall("toolu_1", "", {"path": "a.txt"}),
            "The call still needs an answer, and the answer needs its id.",
        ),
        Case(
            "an id that is no text",
            {**BLOCK, "id": 7},
            ToolCall("", "read_file", {"path": "a.txt"}),
            "An id goes back to the provider as it came, so it is text or nothing.",
        ),
        Case(
            "a mapping that is no dict",
            ChainMap(BLOCK),
            ToolCall("toolu_1", "read_file", {"path": "a.txt"}),
            "Vendors have mappings of their own; isinstance(block, Mapping) covers them all.",
        ),
        Case(
            "a field that raises",
            Locked(),
            ToolCall("toolu_1", "read_file", None),
            "One bad block must not end the turn, in which other calls wait.",
        ),
        Case(
            "a mapping that raises",
            LockedMapping(),
            ToolCall("", "", None),
            "Whoever the vendor is, reading never raises.",
        ),
    ),
)


class _Scene:
    """One approval and one run, of which it is noted what each was shown."""

    def __init__(self, says: bool, story: str = "", meanwhile=lambda block: None) -> None:
        self.says = says
        self.story = story
        self.meanwhile = meanwhile
        self.log: list[tuple[str, object, object]] = []

    def __repr__(self) -> str:
        return f"a read_file block; approve says {'yes' if self.says else 'no'}{self.story}"

    def note(self, who: str, call: object) -> None:
        arguments = getattr(call, "arguments", None)
        path = arguments["file"]["path"] if isinstance(arguments, dict) else arguments
        self.log.append((who, getattr(call, "name", None), path))


def _play(piece, scene: _Scene) -> object:
    block = SimpleNamespace(**BLOCK | {"input": {"file": {"path": "a.txt"}}})

    def approve(call: object) -> bool:
        scene.note("approve", call)
        scene.meanwhile(block)
        return scene.says

    def run(call: object) -> str:
        scene.note("run", call)
        return "done"

    return [piece(block, approve, run), *scene.log]


def _rename(block) -> None:
    block.name = "bash"


def _redirect(block) -> None:
    block.input["file"]["path"] = "secrets.txt"


def _approve_then_run(block: object, approve, run) -> str:
    call = ToolCall.from_block(block)
    call = replace(call, arguments=copy.deepcopy(call.arguments))
    return run(call) if approve(call) else "refused"


BLOCK_ASKED = ("approve", "read_file", None)
ASKED, RAN = ("approve", "read_file", "a.txt"), ("run", "read_file", "a.txt")

APPROVAL = Contract(
    check_id="03.1",
    piece="approve_then_run",
    stub="451c936ab0d00a72",
    library=_approve_then_run,
    observe=_play,
    cases=(
        Case(
            "approved",
            _Scene(says=True),
            ["done", ASKED, RAN],
            "What was approved is run, once, and its value comes back.",
            slips=(
                ([None, ASKED, RAN], "It ran, but the value of run() was not returned."),
                (["refused", ASKED], "approve said yes, and the call was refused all the same."),
                (["done", RAN], "approve was not asked."),
                (["done", ASKED, ASKED, RAN], "approve was asked twice. A user would wonder what for."),
                (Raised("FrozenInstanceError"), "A frozen call cannot be changed. replace(call, arguments=...) makes another one."),
                (["done", BLOCK_ASKED, RAN], "approve was handed the block, not a call. Take the call first, and hand it to both."),
                (["done", BLOCK_ASKED, ("run", "read_file", None)], "approve and run were handed the block, not a call. Take the call first, and hand it to both."),
            ),
        ),
        Case(
            "refused",
            _Scene(says=False),
            ["refused", ASKED],
            "A call that was not approved must not run.",
            slips=(
                (["done", ASKED, RAN], "approve said no, and the call ran: its answer was not looked at."),
                ([None, ASKED], 'Nothing came back. The model waits for an answer: return "refused".'),
            ),
        ),
        Case(
            "a block that gets another name in between",
            _Scene(True, ", while the block's name turns into 'bash'", _rename),
            ["done", ASKED, RAN],
            "Check and use must look at the same thing.",
            slips=((
                ["done", ASKED, ("run", "bash", "a.txt")],
                "read_file was approved and bash ran. The block was read twice, and changed in between: take the call once, and hand the same call to both.",
            ),),
        ),
        Case(
            "a block whose input is changed inside",
            _Scene(True, ", while input['file']['path'] turns into 'secrets.txt'", _redirect),
            ["done", ASKED, RAN],
            "Frozen is not deep: the arguments are still the vendor's own dict.",
            slips=((
                ["done", ASKED, ("run", "read_file", "secrets.txt")],
                "a.txt was approved and secrets.txt was read. Something in the arguments is still the block's own, however often you take the call: give the call a deep copy before you ask.",
            ),),
        ),
    ),
)  # fmt: skip

DEEP = "[" * 100_000


def _openai(arguments: object, **fields: object) -> dict[str, object]:
    return {"id": "call_1", "function": {"name": "read_file", "arguments": arguments}} | fields


PARSED = ToolCall("call_1", "read_file", {"path": "a.txt"})
RAN_EMPTY = "The text that could not be read became {}. A tool without required arguments would now run on a call that was cut off."
ESCAPED = (
    Raised("JSONDecodeError"),
    "The error of json.loads escapes: one bad call would end the turn, and the model would never hear of it.",
)

OPENAI = Contract(
    check_id="03.2",
    piece="call_from_openai",
    stub="d621f51eee2276aa",
    library=ToolCall.from_openai,
    observe=_call_of,
    cases=(
        Case(
            "JSON text",
            _openai('{"path": "a.txt"}'),
            PARSED,
            "The usual case: the text holds an object.",
            slips=(
                (ToolCall("call_1", "read_file", '{"path": "a.txt"}'), "The text was not parsed. In OpenAI's shape a good call is text too: read it with json.loads."),
                (None, "Nothing came back. Return the call: a MyToolCall with its three fields."),
                (("call_1", "read_file", {"path": "a.txt"}), "A tuple came back. Return the call: MyToolCall(...) with these three."),
            ),
        ),
        Case(
            "empty text",
            _openai(""),
            ToolCall("call_1", "read_file", {}),
            "That is how several servers say: this call has no arguments.",
            slips=(
                ESCAPED,
                (ToolCall("call_1", "read_file", ""), "Empty text stayed text, so a good call without arguments will be refused."),
                (ToolCall("call_1", "read_file", None), "Empty text became None, so a good call without arguments will be refused."),
            ),
        ),
        Case(
            "blank text",
            _openai(" \n"),
            ToolCall("call_1", "read_file", {}),
            "Blank text says as little as empty text.",
            slips=((ToolCall("call_1", "read_file", " \n"), "Blank text stayed text. Look at it after .strip()."),),
        ),
        Case(
            "text that was cut off",
            _openai('{"path": "a.t'),
            ToolCall("call_1", "read_file", '{"path": "a.t'),
            "The text itself is what the error can show the model.",
            slips=(
                ESCAPED,
                (ToolCall("call_1", "read_file", {}), RAN_EMPTY),
                (ToolCall("call_1", "read_file", None), "The text is gone: the error can no longer say what was wrong with it."),
            ),
        ),
        Case(
            "text that holds a list",
            _openai('["a.txt"]'),
            ToolCall("call_1", "read_file", ["a.txt"]),
            "It is JSON, so it is parsed. That it is no object is for the check to say.",
            slips=(
                (ToolCall("call_1", "read_file", {}), "A list became an empty object: what the model sent is lost, and the tool may run."),
                (ToolCall("call_1", "read_file", '["a.txt"]'), "Only objects were parsed. Which JSON is usable is the next station's question, not this one's."),
                (Raised("TypeError"), "The list was forced into a dict. What is usable is the next station's question."),
                (Raised("ValueError"), "The list was forced into a dict. What is usable is the next station's question."),
            ),
        ),
        Case(
            "text that is nested too deep",
            _openai(DEEP),
            ToolCall("call_1", "read_file", DEEP),
            "json.loads gives up on it with a RecursionError, which is no ValueError.",
            slips=((Raised("RecursionError"), "json.loads raises RecursionError here, and that is no ValueError: catch both."),),
        ),
        Case(
            "an object in place of text",
            _openai({"path": "a.txt"}),
            PARSED,
            "Some servers parse for you. There is nothing left to do.",
            slips=(
                (Raised("TypeError"), "json.loads takes text alone. Look whether it is text before you parse it."),
                (ToolCall("call_1", "read_file", {}), "What came was no text, and became {}: it is lost. Read the arguments with read_field(), not with read_text(), and hand on what is no text."),
            ),
        ),
        Case(
            "no function in it",
            {"id": "call_1"},
            ToolCall("call_1", "", None),
            "Even this call has an id, and waits for its answer. Nothing was sent as arguments, so nothing is made of it.",
            slips=(
                (ToolCall("call_1", "", {}), "No arguments were sent, not even empty text, and they became {}. None says nothing; only text can say: no arguments."),
                (Raised("KeyError"), "A missing field raises. Read it with read_field() from step 3, which gives None."),
                (ToolCall("call_1", None, None), "A missing name came back as None. As in take_call, what is no text becomes empty text."),
            ),
        ),
        Case(
            "an id that is no text",
            _openai("{}", id=7),
            ToolCall("", "read_file", {}),
            "An id goes back to the provider as it came, so it is text or nothing.",
            slips=((ToolCall(7, "read_file", {}), "The id 7 was handed on. As in take_call, what is no text becomes empty text."),),
        ),
    ),
)  # fmt: skip

CONTRACTS = (BLOCKS, APPROVAL, OPENAI)

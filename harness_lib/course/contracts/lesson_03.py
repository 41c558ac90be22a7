"""What lesson 03 asks of its pieces: taking a call out of a provider's block."""

from __future__ import annotations

from types import SimpleNamespace

from harness_lib.call import ToolCall, _field
from harness_lib.course.contract import Case, Contract, Raised

BLOCK = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a.txt"}}


class Locked:
    """A vendor's object of which one field cannot be read."""

    id = "toolu_1"
    name = "read_file"

    @property
    def input(self) -> object:
        raise RuntimeError("not loaded yet")

    def __repr__(self) -> str:
        return "<a block whose input raises RuntimeError>"


def _call_of(piece, block: object) -> object:
    """What a piece makes of a block, as plain data: id, name, arguments."""
    call = piece(block)
    return (call.tool_use_id, call.name, call.arguments)


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
            ("toolu_1", "read_file", {"path": "a.txt"}),
            "This is what a response of the SDK holds.",
        ),
        Case(
            "a mapping",
            BLOCK,
            ("toolu_1", "read_file", {"path": "a.txt"}),
            "The same call out of a log, or out of a history in plain dicts.",
        ),
        Case(
            "arguments that are a list",
            {**BLOCK, "input": ["a.txt"]},
            ("toolu_1", "read_file", ["a.txt"]),
            "What the model really sent is what the error has to tell it.",
        ),
        Case(
            "arguments that are text",
            {**BLOCK, "input": '{"path": "a.txt"}'},
            ("toolu_1", "read_file", '{"path": "a.txt"}'),
            "Text is not an object. To parse it would be to guess.",
        ),
        Case(
            "no arguments at all",
            _without("input"),
            ("toolu_1", "read_file", None),
            "Nothing is not an empty object: it has to be refused, with a reason.",
        ),
        Case(
            "no name",
            _without("name"),
            ("toolu_1", "", {"path": "a.txt"}),
            "The call still needs an answer, and the answer needs its id.",
        ),
        Case(
            "an id that is no text",
            {**BLOCK, "id": 7},
            ("", "read_file", {"path": "a.txt"}),
            "An id goes back to the provider as it came, so it is text or nothing.",
        ),
        Case(
            "a field that raises",
            Locked(),
            ("toolu_1", "read_file", None),
            "One bad block must not end the turn, in which other calls wait.",
        ),
    ),
)

FIELD = Contract(
    check_id="03.1",
    piece="read_field",
    stub="4b40a205bde9e3f2",
    library=_field,
    observe=lambda piece, sent: piece(*sent),
    cases=(
        Case(
            "a field of an object",
            (SimpleNamespace(**BLOCK), "name"),
            "read_file",
            "The SDK hands you objects.",
            slips=(
                (Raised("TypeError"), "You asked an object for an item. block['name'] is for mappings; an object has attributes."),
                (None, "Only mappings are read: an object's fields are attributes, for getattr()."),
            ),
        ),
        Case(
            "a field of a mapping",
            (BLOCK, "name"),
            "read_file",
            "A log or a test hands you dicts.",
            slips=(
                (Raised("AttributeError"), "You asked a mapping for an attribute. A dict has items: block['name'], or block.get('name')."),
                (None, "Only objects are read: getattr() on a dict finds its methods, not its items."),
            ),
        ),
        Case(
            "an item that is missing",
            ({"type": "tool_use"}, "input"),
            None,
            "A block without input is a bad call, which needs an answer, not a crash.",
            slips=((Raised("KeyError"), "A missing item raises here. block.get('input') gives None instead."),),
        ),
        Case(
            "an attribute that is missing",
            (SimpleNamespace(type="tool_use"), "input"),
            None,
            "A vendor may rename a field. The call then needs an answer, not a crash.",
            slips=((Raised("AttributeError"), "A missing attribute raises here. getattr(block, 'input', None) does not."),),
        ),
        Case(
            "an empty value",
            ({"input": {}}, "input"),
            {},
            "{} is a good set of arguments, for a tool that needs none.",
            slips=((None, "An empty value became None: `or` takes {} for nothing. Ask whether the field is there, not whether it is true."),),
        ),
        Case(
            "a field that raises",
            (Locked(), "input"),
            None,
            "One bad block must not end the turn, in which other calls wait.",
            slips=((Raised("RuntimeError"), "A vendor's property can run any code, and raise. Here the error escapes and takes the whole turn with it."),),
        ),
    ),
)  # fmt: skip


def _openai(arguments: object, **fields: object) -> dict[str, object]:
    return {"id": "call_1", "function": {"name": "read_file", "arguments": arguments}} | fields


PARSED = ("call_1", "read_file", {"path": "a.txt"})
RAN_EMPTY = "The text that could not be read became {}. A tool without required arguments would now run on a call that was cut off."
ESCAPED = (
    Raised("JSONDecodeError"),
    "The error of json.loads escapes: one bad call would end the turn, and the model would never hear of it.",
)

OPENAI = Contract(
    check_id="03.2",
    piece="call_from_openai",
    stub="42db251722645455",
    library=ToolCall.from_openai,
    observe=_call_of,
    cases=(
        Case(
            "JSON text",
            _openai('{"path": "a.txt"}'),
            PARSED,
            "The usual case: the text holds an object.",
            slips=((("call_1", "read_file", '{"path": "a.txt"}'), "The text was not parsed. In OpenAI's shape a good call is text too: read it with json.loads."),),
        ),
        Case(
            "empty text",
            _openai(""),
            ("call_1", "read_file", {}),
            "That is how several servers say: this call has no arguments.",
            slips=(
                ESCAPED,
                (("call_1", "read_file", ""), "Empty text stayed text, so a good call without arguments will be refused."),
                (("call_1", "read_file", None), "Empty text became None, so a good call without arguments will be refused."),
            ),
        ),
        Case(
            "text that was cut off",
            _openai('{"path": "a.t'),
            ("call_1", "read_file", '{"path": "a.t'),
            "The text itself is what the error can show the model.",
            slips=(
                ESCAPED,
                (("call_1", "read_file", {}), RAN_EMPTY),
                (("call_1", "read_file", None), "The text is gone: the error can no longer say what was wrong with it."),
            ),
        ),
        Case(
            "text that holds a list",
            _openai('["a.txt"]'),
            ("call_1", "read_file", ["a.txt"]),
            "It is JSON, so it is parsed. That it is no object is for the check to say.",
            slips=(
                (("call_1", "read_file", {}), "A list became an empty object: what the model sent is lost, and the tool may run."),
                (("call_1", "read_file", '["a.txt"]'), "Only objects were parsed. Which JSON is usable is the next station's question, not this one's."),
                (Raised("TypeError"), "The list was forced into a dict. What is usable is the next station's question."),
                (Raised("ValueError"), "The list was forced into a dict. What is usable is the next station's question."),
            ),
        ),
        Case(
            "an object in place of text",
            _openai({"path": "a.txt"}),
            PARSED,
            "Some servers parse for you. There is nothing left to do.",
            slips=((Raised("TypeError"), "json.loads takes text alone. Look whether it is text before you parse it."),),
        ),
        Case(
            "no function in it",
            {"id": "call_1"},
            ("call_1", "", None),
            "Even this call has an id, and waits for its answer.",
            slips=(
                (Raised("KeyError"), "A missing field raises. read_field from the exercise before gives None."),
                (Raised("AttributeError"), "A missing field raises. read_field from the exercise before gives None."),
            ),
        ),
    ),
)  # fmt: skip


class _Scene:
    """One approval and one run, of which it is noted what each was shown."""

    def __init__(self, says: bool, meanwhile: object = None) -> None:
        self.says = says
        self.meanwhile = meanwhile
        self.log: list[tuple[str, object]] = []

    def __repr__(self) -> str:
        answer = "yes" if self.says else "no"
        change = f", while the block's name turns into {self.meanwhile!r}" if self.meanwhile else ""
        return f"a read_file block; approve says {answer}{change}"


def _play(piece, scene: _Scene) -> object:
    block = SimpleNamespace(**BLOCK)

    def approve(call: object) -> bool:
        scene.log.append(("approve", getattr(call, "name", None)))
        if scene.meanwhile:
            block.name = scene.meanwhile
        return scene.says

    def run(call: object) -> str:
        scene.log.append(("run", getattr(call, "name", None)))
        return "done"

    return [piece(block, approve, run), *scene.log]


def _approve_then_run(block: object, approve, run) -> str:
    call = ToolCall.from_block(block)
    return run(call) if approve(call) else "refused"


APPROVAL = Contract(
    check_id="03.3",
    piece="approve_then_run",
    stub="5df7088f69b5cf62",
    library=_approve_then_run,
    observe=_play,
    cases=(
        Case(
            "approved",
            _Scene(says=True),
            ["done", ("approve", "read_file"), ("run", "read_file")],
            "What was approved is run, once, and its value comes back.",
            slips=(
                ([None, ("approve", "read_file"), ("run", "read_file")], "It ran, but the value of run() was not returned."),
                (["refused", ("approve", "read_file")], "approve said yes, and the call was refused all the same."),
            ),
        ),
        Case(
            "refused",
            _Scene(says=False),
            ["refused", ("approve", "read_file")],
            "A call that was not approved must not run.",
            slips=(
                (["done", ("approve", "read_file"), ("run", "read_file")], "approve said no, and the call ran: its answer was not looked at."),
                ([None, ("approve", "read_file")], 'Nothing came back. The model waits for an answer: return "refused".'),
            ),
        ),
        Case(
            "a block that changes in between",
            _Scene(says=True, meanwhile="bash"),
            ["done", ("approve", "read_file"), ("run", "read_file")],
            "Check and use must look at the same thing.",
            slips=((
                ["done", ("approve", "read_file"), ("run", "bash")],
                "read_file was approved and bash ran. The block was read twice, and changed in between: take the call once, and hand the same call to both.",
            ),),
        ),
    ),
)  # fmt: skip

CONTRACTS = (BLOCKS, FIELD, OPENAI, APPROVAL)

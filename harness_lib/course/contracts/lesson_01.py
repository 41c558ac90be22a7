"""What lesson 01 asks of its pieces: reading a turn, the loop, and an honest cut."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import SimpleNamespace

from harness_lib.course.contract import Case, Contract, Raised
from harness_lib.loop import AgentTurn, agent_loop
from harness_lib.registry import ToolRegistry
from harness_lib.result import clip
from harness_lib.spec import ToolSpec, object_schema


@dataclass
class Text:
    """A text block."""

    text: str
    type: str = field(default="text", repr=False)


@dataclass
class Call:
    """A tool_use block that asks for bash."""

    id: str
    input: dict[str, object]
    name: str = field(default="bash", repr=False)
    type: str = field(default="tool_use", repr=False)


@dataclass
class ServerCall:
    """A call that the provider has run itself: nothing is left to do for the harness."""

    id: str
    name: str = "web_search"
    input: dict[str, object] = field(default_factory=dict, repr=False)
    type: str = field(default="server_tool_use", repr=False)


@dataclass
class Response:
    """What the SDK gives for one turn, as far as the loop looks at it."""

    content: list[object]
    stop_reason: str | None


LS, CAT = Call("toolu_1", {"command": "ls"}), Call("toolu_2", {"command": "cat a"})

# --- the lesson's own reading of a turn -----------------------------------------------------------


def _turn_of(piece, response: object) -> object:
    """The turn that a piece makes of a response: text, calls and stop reason."""
    turn = piece(response)
    try:
        return [turn.text, [_call_of(call) for call in turn.calls], turn.stop_reason]
    except AttributeError:
        return turn  # no turn at all: shown as it is


def _call_of(call: object) -> tuple[object, object]:
    if isinstance(call, Call):
        return call.id, call.input
    return call.tool_use_id, call.arguments


TURN = Contract(
    check_id="01.turn",
    piece="read_turn",
    library=AgentTurn.from_response,
    observe=_turn_of,
    cases=(
        Case(
            "a final answer",
            Response([Text("All done.")], "end_turn"),
            ["All done.", [], "end_turn"],
            "No call in it: the loop ends here.",
        ),
        Case(
            "text and a call",
            Response([Text("I look."), LS], "tool_use"),
            ["I look.", [("toolu_1", {"command": "ls"})], "tool_use"],
            "One turn can hold both.",
        ),
        Case(
            "two calls",
            Response([LS, CAT], "tool_use"),
            ["", [("toolu_1", {"command": "ls"}), ("toolu_2", {"command": "cat a"})], "tool_use"],
            "Both wait for an answer, in this order.",
        ),
        Case(
            "a call beside end_turn",
            Response([LS], "end_turn"),
            ["", [("toolu_1", {"command": "ls"})], "end_turn"],
            "The blocks are the turn; the stop reason only says why it ended.",
        ),
        Case(
            "tool_use without a call",
            Response([Text("Done.")], "tool_use"),
            ["Done.", [], "tool_use"],
            "Nothing is asked for, whatever the stop reason says.",
        ),
        Case(
            "text in two blocks",
            Response([Text("All "), Text("done.")], "end_turn"),
            ["All done.", [], "end_turn"],
            "A text may come in parts.",
        ),
        Case(
            "a call that the provider ran itself",
            Response([ServerCall("srvtoolu_1"), Text("Found.")], "end_turn"),
            ["Found.", [], "end_turn"],
            "Its type is server_tool_use: it is not the harness's to run.",
        ),
        Case(
            "nothing at all",
            Response([], None),
            ["", [], None],
            "An empty turn is a turn too.",
        ),
    ),
)

# --- 01.1 -----------------------------------------------------------------------------------------

ASKED = "Does the stop reason have a say in your code?"
NOT_YES_OR_NO = (
    "A list or a tuple came back, and True or False is wanted. bool(...) turns it into one."
)

WANTS_TOOLS = Contract(
    check_id="01.1",
    piece="wants_tools",
    stub="50b8a7fc0e551bbc",
    library=lambda response: bool(AgentTurn.from_response(response).calls),
    cases=(
        Case(
            "a call, and tool_use",
            Response([LS], "tool_use"),
            True,
            "The usual turn with a call.",
            slips=(
                (None, "Nothing came back. Return True or False."),
                *((calls, NOT_YES_OR_NO) for calls in ([LS], (LS,))),
            ),
        ),
        Case(
            "text, and end_turn",
            Response([Text("Done.")], "end_turn"),
            False,
            "The usual last turn.",
            slips=(
                (True, "There is no tool_use block in it. Having content is not asking for a tool."),
                *((calls, NOT_YES_OR_NO) for calls in ([], ())),
            ),
        ),
        Case(
            "a call, and end_turn",
            Response([LS], "end_turn"),
            True,
            "The call waits for its answer, whatever the stop reason says.",
            slips=((False, f"A call is in it, and was passed over: the work is never done. {ASKED}"),),
        ),
        Case(
            "text, and tool_use",
            Response([Text("Done.")], "tool_use"),
            False,
            "There is nothing to run, so there is nothing to send back.",
            slips=((True, f"No call is in it. The loop would go on with no result to send, and the API refuses that. {ASKED}"),),
        ),
        Case(
            "text first, then a call",
            Response([Text("I look."), LS], "tool_use"),
            True,
            "A model often says what it does before it asks for it.",
            slips=((False, "The call is the second block, and was passed over. One call is enough, wherever it stands."),),
        ),
        Case(
            "a call first, then text",
            Response([LS, Text("That lists it.")], "tool_use"),
            True,
            "The order of blocks is the model's.",
            slips=((False, "The call is the first block, and was passed over. One call is enough, wherever it stands."),),
        ),
        Case(
            "a call that the provider ran itself",
            Response([ServerCall("srvtoolu_1"), Text("Found.")], "end_turn"),
            False,
            "A server tool's block is the provider's own affair.",
            slips=((True, "server_tool_use was taken for tool_use. Compare the whole type with ==."),),
        ),
        Case(
            "no blocks at all",
            Response([], "end_turn"),
            False,
            "An empty turn asks for nothing.",
            slips=((Raised("IndexError"), "There is no block to pick by its number. any(...) over all blocks needs none."),),
        ),
    ),
)  # fmt: skip

# --- 01.2 -----------------------------------------------------------------------------------------


class AskedAgain(Exception):
    """The model was asked when it should not have been."""


@dataclass
class Script:
    """A model that plays these turns, and the limit of the run."""

    turns: list[Response]
    max_turns: int = 8

    def __repr__(self) -> str:
        turns = "; ".join(f"{_line(turn.content)} ({turn.stop_reason})" for turn in self.turns)
        return f"a model that says: {turns}. max_turns is {self.max_turns}"


def _play(piece, script: Script) -> list[object]:
    """What the loop returned, and the history that it left, a line a message."""
    asked: list[int] = []

    def ask(messages: list[dict[str, object]]) -> Response:
        if len(asked) == len(script.turns):
            raise AskedAgain(f"the model was asked a turn more than the {len(asked)} it has")
        asked.append(len(messages))
        return script.turns[len(asked) - 1]

    messages: list[dict[str, object]] = [{"role": "user", "content": "Tidy up."}]
    returned = piece(ask, lambda command: f"ran {command}", messages, script.max_turns)
    return [returned, *(f"{m['role']}: {_line(m['content'])}" for m in messages[1:])]


def _line(content: object) -> str:
    if not isinstance(content, list):
        return shown if len(shown := repr(content)) < 60 else f"{shown[:57]}..."
    return ", ".join(_block(block) for block in content) or "(empty)"


def _block(block: object) -> str:
    plain = block if isinstance(block, dict) else getattr(block, "__dict__", {})
    if plain.get("type") == "text":
        return repr(plain.get("text"))
    if plain.get("type") == "tool_use":
        return f"call {plain.get('id')}"
    return f"result of {plain.get('tool_use_id')}: {plain.get('content')!r}"


def _run_turns(ask, run, messages: list[dict[str, object]], max_turns: int) -> tuple[str, str]:
    """The library's loop, with a registry of one tool, in the shape of the exercise."""
    schema = object_schema({"command": {"type": "string"}}, ["command"])
    ended = agent_loop(
        messages,
        registry=ToolRegistry([ToolSpec("bash", "Run a command.", schema, lambda command: run(command))]),
        client=SimpleNamespace(messages=SimpleNamespace(create=lambda **r: ask(r["messages"]))),
        model="scripted",
        max_turns=max_turns,
    )  # fmt: skip
    return ended.stop_reason.value, ended.final_text


CALLED, ANSWERED = "assistant: call toolu_1", "user: result of toolu_1: 'ran ls'"
WHOLE_INPUT = f"user: result of toolu_1: {f'ran {LS.input}'!r}"
SECOND_ANSWERED = "user: result of toolu_2: 'ran cat a'"
BOTH_CALLED = "assistant: call toolu_1, call toolu_2"
DONE, FINAL = ("final_answer", "Done."), "assistant: 'Done.'"
OUT_OF_TURNS = ("max_turns", "")

RUN_TURNS = Contract(
    check_id="01.2",
    piece="run_turns",
    stub="a1f329cecb212a23",
    library=_run_turns,
    observe=_play,
    cases=(
        Case(
            "an answer at once",
            Script([Response([Text("Done.")], "end_turn")]),
            [DONE, FINAL],
            "No call, so this is the end, and the answer is part of the history.",
            slips=(
                ([None, FINAL], 'Nothing came back. Return the pair ("final_answer", text).'),
                ([DONE], "The last turn is not in the list that you were given. A next question would be asked as if nothing had been said. Was it left out, or appended to a copy?"),
                (Raised("AskedAgain"), "The model asked for no tool, and was asked again. Without a call the loop is over."),
                (["Done.", FINAL], 'The text alone came back. Return the pair: why it ended, and the text.'),
            ),
        ),
        Case(
            "a call, then an answer",
            Script([Response([LS], "tool_use"), Response([Text("Done.")], "end_turn")]),
            [DONE, CALLED, ANSWERED, FINAL],
            "The turn goes into the history, and its answer right after it.",
            slips=(
                ([DONE], "The list that you were given is unchanged; did you copy it? Its caller reads it, and finds neither the call nor the answer."),
                ([DONE, ANSWERED, FINAL], "The turn with the call is not in the history, so the API finds a result that belongs to no call."),
                ([DONE, CALLED, FINAL], "The call has no result in the history. The API refuses the next request."),
                ([("final_answer", ""), CALLED], "It ended at a turn that holds a call. Nothing ran."),
                ([DONE, CALLED, WHOLE_INPUT, FINAL], 'run was given the whole input of the call, not the command in it: call.input["command"].'),
                ([DONE, CALLED, "user: 'ran ls'", FINAL], "The output was sent as plain text. It has to be a tool_result block, with the id of its call."),
            ),
        ),
        Case(
            "two calls in one turn",
            Script([Response([LS, CAT], "tool_use"), Response([Text("Done.")], "end_turn")]),
            [DONE, BOTH_CALLED, f"{ANSWERED}, {SECOND_ANSWERED.removeprefix('user: ')}", FINAL],
            "All answers of a turn, in order, in one user message.",
            slips=(
                ([DONE, BOTH_CALLED, ANSWERED, FINAL], "Only the first call was answered. The API refuses the whole next request for the other."),
                ([DONE, BOTH_CALLED, SECOND_ANSWERED, FINAL], "Only the last call was answered: is the list of results made anew for each call?"),
                ([DONE, BOTH_CALLED, ANSWERED, SECOND_ANSWERED, FINAL], "Each result has a user message of its own. The API would fold them into one; here, collect them and append one message for the turn."),
            ),
        ),
        Case(
            "a call beside end_turn",
            Script([Response([LS], "end_turn"), Response([Text("Done.")], "end_turn")]),
            [DONE, CALLED, ANSWERED, FINAL],
            "Blocks decide, not the stop reason.",
            slips=(([("final_answer", ""), CALLED], "It ended at a turn that holds a call, which was never run: so did the loop of the first cell."),),
        ),
        Case(
            "tool_use without a call",
            Script([Response([Text("Done.")], "tool_use")]),
            [DONE, FINAL],
            "There is nothing to answer, so this is the end.",
            slips=((Raised("AskedAgain"), "There was nothing to answer, and the model was asked again. The stop reason says tool_use, but no call is there."),),
        ),
        Case(
            "a model that never stops",
            Script([Response([LS], "tool_use"), Response([CAT], "tool_use")], max_turns=2),
            [OUT_OF_TURNS, CALLED, ANSWERED, "assistant: call toolu_2", SECOND_ANSWERED],
            "After the limit no call is left open, so that somebody can go on from here.",
            slips=(
                (Raised("AskedAgain"), "max_turns was 2, and the model was asked a third time. A model that never stops would cost you for ever."),
                ([OUT_OF_TURNS, CALLED, ANSWERED], "One turn too few: the model was asked once, and max_turns was 2."),
                ([OUT_OF_TURNS, CALLED, ANSWERED, "assistant: call toolu_2"], "The calls of the last turn have no results. Whoever goes on from this history is refused by the API."),
                ([("final_answer", ""), CALLED, ANSWERED, "assistant: call toolu_2", SECOND_ANSWERED], "It says final_answer, and the model never gave one. Whoever reads this takes half the work for all of it."),
                ([None, CALLED, ANSWERED, "assistant: call toolu_2", SECOND_ANSWERED], 'Nothing came back at the limit. After the loop, return ("max_turns", text).'),
            ),
        ),
        Case(
            "an answer in the very last turn",
            Script([Response([LS], "tool_use"), Response([Text("Done.")], "end_turn")], max_turns=2),
            [DONE, CALLED, ANSWERED, FINAL],
            "The limit was reached and not passed: the answer counts.",
            slips=(
                ([("max_turns", "Done."), CALLED, ANSWERED, FINAL], "The limit was looked at before the answer: a run that ended well is called unfinished."),
                ([OUT_OF_TURNS, CALLED, ANSWERED], "One turn too few: max_turns=2 lets the model speak twice."),
            ),
        ),
    ),
)  # fmt: skip

# --- 01.3 -----------------------------------------------------------------------------------------

MARK = re.compile(r"\n\[\.\.\. ([\d,]+) characters left out \.\.\.\]\n")
NO_MARK = "no mark in it"


@dataclass
class Long:
    """A text and its limit."""

    text: str
    limit: int

    def __repr__(self) -> str:
        return f"a text of {len(self.text):,} characters, and a limit of {self.limit}"


@dataclass(frozen=True)
class Cut:
    """A cut text as it measures, whichever way the room was shared out; equal by its faults."""

    faults: tuple[str, ...] = ()
    measures: str = field(
        default="head, a mark that tells the truth, tail; as long as allowed", compare=False
    )

    def __repr__(self) -> str:
        return "; ".join([self.measures, *self.faults])


def _cut(piece, sent: Long) -> object:
    clipped = piece(sent.text, sent.limit)
    if not isinstance(clipped, str) or len(sent.text) <= sent.limit:
        return clipped
    mark = MARK.search(clipped)
    if mark is None:
        return NO_MARK
    head, tail = clipped[: mark.start()], clipped[mark.end() :]
    missing, said = len(sent.text) - len(head) - len(tail), int(mark[1].replace(",", ""))
    tests = {
        NO_HEAD: bool(head) and sent.text.startswith(head),
        NO_TAIL: bool(tail) and sent.text.endswith(tail),
        UNEQUAL: abs(len(head) - len(tail)) <= 2,
        MISCOUNTED: said == missing,
        TOO_LONG: len(clipped) <= sent.limit,
        TOO_SHORT: len(clipped) >= sent.limit - 2,
    }
    measures = (
        f"{len(clipped)} characters: a head of {len(head)}, a mark that says {said:,} "
        f"where {missing:,} are missing, a tail of {len(tail)}"
    )
    return Cut(tuple(fault for fault, good in tests.items() if not good), measures)


NO_HEAD, NO_TAIL = "the head is not the text's beginning", "the tail is not the text's end"
UNEQUAL, MISCOUNTED = "head and tail are not about equal", "the number is wrong"
TOO_LONG, TOO_SHORT = "longer than the limit", "the limit is not used"
NO_END = "The text's end does not stand after the mark. The last lines of an output often hold the error, or the total."  # fmt: skip
MORE_FAULTS = (
    *((), (TOO_LONG,), (TOO_SHORT,)),
    *((MISCOUNTED,), (MISCOUNTED, TOO_LONG), (MISCOUNTED, TOO_SHORT)),
)
LONG = "".join(f"line {n}\n" for n in range(1, 200))

CLIP = Contract(
    check_id="01.3",
    piece="clip",
    stub="1305edb2b4bba7b6",
    library=clip,
    observe=_cut,
    cases=(
        Case(
            "a text that fits",
            Long("two\nlines\n", 100),
            "two\nlines\n",
            "What fits is not touched.",
            slips=((None, "Nothing came back. Return the text; one that fits goes back as it is."),),
        ),
        Case(
            "a text of exactly the limit",
            Long("x" * 100, 100),
            "x" * 100,
            "It fits, so nothing is cut and nothing is said of a cut.",
        ),
        Case(
            "a text that is too long",
            Long(LONG, 200),
            Cut(),
            "The model sees the beginning and the end, and knows how much is missing.",
            slips=(
                (NO_MARK, "Nothing in the text says that it was cut. That is the first pain again: who reads it takes it for all."),
                *((Cut((NO_TAIL, UNEQUAL, *more)), NO_END) for more in MORE_FAULTS),
                (Cut((MISCOUNTED,)), "The mark gives a wrong number. What is missing is the whole text, less what you kept."),
                (Cut((TOO_LONG,)), "The mark takes room too: with it, the text is longer than the limit."),
                (Cut((TOO_SHORT,)), "Much less than the limit was used, so more was thrown away than need be."),
            ),
        ),
        Case(
            "a text one character too long",
            Long("x" * 101, 100),
            Cut(),
            "The mark needs room, so more than that one character has to go, and is counted.",
            slips=(
                (Cut((MISCOUNTED,)), "The mark gives a wrong number. Missing is all that stands neither in head nor in tail: what the mark pushes out, and the character that two equal halves of an odd room leave free."),
            ),
        ),
        Case(
            "a very long text",
            Long("0123456789" * 5_000, 500),
            Cut(),
            "A number of five digits takes a longer mark; it still has to fit.",
            slips=((Cut((TOO_LONG,)), "With its mark it is too long. A number of five digits takes a longer mark: len(mark(len(text))) is room enough."),),
        ),
    ),
)  # fmt: skip

CONTRACTS = (TURN, WANTS_TOOLS, RUN_TURNS, CLIP)

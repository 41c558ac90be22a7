"""Wrong answers to lesson 03."""

import copy
import json
import sys
import threading
from collections.abc import Mapping

from harness_lib import ToolCall
from tests.wrong_answers import wrong


def field(block, name):
    if isinstance(block, Mapping):
        return block.get(name)
    return getattr(block, name, None)


# --- the lesson's own piece -----------------------------------------------------------------------


@wrong("03.block", "AttributeError")
def only_objects(block):
    return ToolCall(block.id, block.name, block.input)


@wrong("03.block", "TypeError")
def only_mappings(block):
    return ToolCall(block["id"], block["name"], block["input"])


@wrong("03.block", "arguments=['a.txt'])")
def helpful(block):
    arguments = field(block, "input")
    return ToolCall(
        field(block, "id"), field(block, "name"), arguments if isinstance(arguments, dict) else {}
    )


@wrong("03.block", "To parse it would be to guess.")
def guesses(block):
    arguments = field(block, "input")
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    return ToolCall(field(block, "id") or "", field(block, "name") or "", arguments)


@wrong("03.block", "isinstance(block, Mapping) covers them all")
def knows_dicts_alone(block):
    get = dict.get if isinstance(block, dict) else lambda block, name: getattr(block, name, None)
    return ToolCall(get(block, "id") or "", get(block, "name") or "", get(block, "input"))


@wrong("03.block", "One bad block must not end the turn")
@wrong("03.block", "reading never raises")
def unguarded(block):
    tool_use_id = field(block, "id")
    return ToolCall(
        tool_use_id if isinstance(tool_use_id, str) else "",
        field(block, "name") or "",
        field(block, "input"),
    )


# --- 03.1 -----------------------------------------------------------------------------------------


def own_call(block):
    return copy.deepcopy(ToolCall.from_block(block))


@wrong("03.1", "read_file was approved and bash ran.")
def looks_twice(block, approve, run):
    if not approve(own_call(block)):
        return "refused"
    return run(own_call(block))


@wrong("03.1", "a.txt was approved and secrets.txt was read.")
def shares_the_dict(block, approve, run):
    call = ToolCall.from_block(block)
    return run(call) if approve(call) else "refused"


@wrong("03.1", "is still the block's own")
def copies_the_outside_alone(block, approve, run):
    call = ToolCall(block.id, block.name, dict(block.input))
    return run(call) if approve(call) else "refused"


@wrong("03.1", "the call ran: its answer was not looked at")
def does_not_ask(block, approve, run):
    call = own_call(block)
    approve(call)
    return run(call)


@wrong("03.1", "the value of run() was not returned")
def forgets_the_value(block, approve, run):
    call = own_call(block)
    if not approve(call):
        return "refused"
    run(call)


@wrong("03.1", 'return "refused"')
def says_nothing(block, approve, run):
    call = own_call(block)
    if approve(call):
        return run(call)


@wrong("03.1", "approve said yes, and the call was refused all the same")
def always_refuses(block, approve, run):
    approve(own_call(block))
    return "refused"


@wrong("03.1", "approve was not asked.")
def asks_nobody(block, approve, run):
    return run(own_call(block))


@wrong("03.1", "approve was asked twice.")
def asks_twice(block, approve, run):
    call = own_call(block)
    return run(call) if approve(call) and approve(call) else "refused"


@wrong("03.1", "A frozen call cannot be changed.")
def assigns(block, approve, run):
    call = ToolCall.from_block(block)
    call.arguments = copy.deepcopy(call.arguments)
    return run(call) if approve(call) else "refused"


@wrong("03.1", "approve was handed the block, not a call.")
def asks_about_the_block(block, approve, run):
    call = own_call(block)
    return run(call) if approve(block) else "refused"


@wrong("03.1", "approve and run were handed the block, not a call.")
def takes_no_call(block, approve, run):
    return run(block) if approve(block) else "refused"


@wrong("03.1", "an endless loop, or a deadlock?")
def asks_for_ever(block, approve, run):
    while True:
        pass


@wrong("03.1", "it tried to end the program (SystemExit)")
def exits(block, approve, run):
    sys.exit("not approved")


@wrong("03.1", "an endless loop, or a deadlock?")
def deadlocks(block, approve, run):
    lock = threading.Lock()
    with lock, lock:
        return run(own_call(block))


# --- 03.2 -----------------------------------------------------------------------------------------


def text_or_empty(value):
    return value if isinstance(value, str) else ""


def right(call, **changes):
    """The right answer, with one thing done otherwise."""
    function = field(call, "function")
    arguments = field(function, "arguments")
    read = changes.get("read", json.loads)
    if isinstance(arguments, str):
        if not changes.get("strip", str.strip)(arguments):
            arguments = changes.get("empty", {})
        else:
            try:
                arguments = read(arguments)
            except changes.get("catches", (ValueError, RecursionError)):
                arguments = changes.get("broken", arguments)
    elif changes.get("parses_all"):
        arguments = read(arguments)
    tidy = changes.get("tidy", text_or_empty)
    return ToolCall(tidy(field(call, "id")), tidy(field(function, "name")), arguments)


@wrong("03.2", "Nothing came back. Return the call")
def returns_nothing(call):
    right(call)


@wrong("03.2", "A tuple came back.")
def returns_a_tuple(call):
    good = right(call)
    return good.tool_use_id, good.name, good.arguments


@wrong("03.2", "The text was not parsed.")
def hands_text_on(call):
    return right(call, read=lambda text: text)


@wrong("03.2", "json.loads takes text alone.")
def parses_everything(call):
    return right(call, parses_all=True)


@wrong("03.2", "The error of json.loads escapes")
def lets_errors_out(call):
    return right(call, catches=(), strip=lambda text: "parse it")


@wrong("03.2", "would now run on a call that was cut off")
def broken_becomes_empty(call):
    return right(call, broken={})


@wrong("03.2", "the error can no longer say what was wrong")
def broken_becomes_none(call):
    return right(call, broken=None)


@wrong("03.2", "Empty text stayed text")
def empty_stays_text(call):
    return right(call, empty="")


@wrong("03.2", "Empty text became None")
def empty_becomes_none(call):
    return right(call, empty=None)


@wrong("03.2", "Blank text stayed text.")
def takes_blank_for_broken(call):
    return right(call, strip=lambda text: text)


@wrong("03.2", "that is no ValueError: catch both")
def catches_values_alone(call):
    return right(call, catches=ValueError)


def if_list(call, convert):
    good = right(call)
    if isinstance(good.arguments, list):
        return ToolCall(good.tool_use_id, good.name, convert(call, good.arguments))
    return good


@wrong("03.2", "A list became an empty object")
def lists_become_empty(call):
    return if_list(call, lambda call, parsed: {})


@wrong("03.2", "Only objects were parsed.")
def lists_stay_text(call):
    return if_list(call, lambda call, parsed: call["function"]["arguments"])


@wrong("03.2", "The list was forced into a dict.")
def forces_a_dict(call):
    return if_list(call, lambda call, parsed: dict(parsed))


@wrong("03.2", "What came was no text, and became {}: it is lost.")
@wrong("03.2", "No arguments were sent, not even empty text")
def reads_text_alone(call):
    good = right(call)
    function = field(call, "function")
    if isinstance(field(function, "arguments"), str):
        return good
    return ToolCall(good.tool_use_id, good.name, {})


@wrong("03.2", "A missing field raises.")
def indexes_the_function(call):
    call["function"]["name"]
    return right(call)


@wrong("03.2", "A missing name came back as None.")
@wrong("03.2", "The id 7 was handed on.")
def hands_everything_on(call):
    return right(call, tidy=lambda value: value)

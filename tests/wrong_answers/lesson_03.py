"""Wrong answers to lesson 03."""

import json
import sys
import threading
from collections.abc import Mapping
from types import SimpleNamespace

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


@wrong("03.block", "expected   ('toolu_1', 'read_file', ['a.txt'])")
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


# --- 03.1 -----------------------------------------------------------------------------------------


@wrong("03.1", "You asked an object for an item.")
def indexes(block, name):
    return block[name]


@wrong("03.1", "Only mappings are read")
def gets(block, name):
    return block.get(name) if isinstance(block, dict) else None


@wrong("03.1", "You asked a mapping for an attribute.")
def dots(block, name):
    return getattr(block, name)


@wrong("03.1", "Only objects are read")
def attributes_only(block, name):
    try:
        return getattr(block, name, None)
    except Exception:
        return None


@wrong("03.1", "A missing item raises here.")
def strict_item(block, name):
    return block[name] if isinstance(block, Mapping) else getattr(block, name, None)


@wrong("03.1", "A missing attribute raises here.")
def strict_attribute(block, name):
    return block.get(name) if isinstance(block, Mapping) else getattr(block, name)


@wrong("03.1", "`or` takes {} for nothing")
def empty_is_missing(block, name):
    try:
        return field(block, name) or None
    except Exception:
        return None


@wrong("03.1", "A vendor's property can run any code, and raise.")
def unguarded(block, name):
    return field(block, name)


@wrong("03.1", "an endless loop, or a deadlock?")
def loops_for_ever(block, name):
    while True:
        pass


@wrong("03.1", "it tried to end the program (SystemExit)")
def exits(block, name):
    sys.exit("no such field")


@wrong("03.1", "an endless loop, or a deadlock?")
def deadlocks(block, name):
    lock = threading.Lock()
    with lock, lock:
        return field(block, name)


# --- 03.2 -----------------------------------------------------------------------------------------


def parts(call):
    function = field(call, "function")
    return field(call, "id") or "", field(function, "name") or "", field(function, "arguments")


def with_arguments(call, read):
    tool_use_id, name, arguments = parts(call)
    return ToolCall(tool_use_id, name, read(arguments))


@wrong("03.2", "The text was not parsed.")
def hands_text_on(call):
    return with_arguments(call, lambda text: {} if text == "" else text)


@wrong("03.2", "json.loads takes text alone.")
def parses_everything(call):
    def read(text):
        try:
            return json.loads(text) if text != "" else {}
        except ValueError:
            return text

    return with_arguments(call, read)


@wrong("03.2", "The error of json.loads escapes")
def lets_errors_out(call):
    return with_arguments(call, lambda text: json.loads(text) if isinstance(text, str) else text)


def reading(call, on_error, empty={}):
    def read(text):
        if not isinstance(text, str):
            return text
        try:
            return json.loads(text) if text.strip() else empty
        except ValueError:
            return on_error

    return with_arguments(call, read)


@wrong("03.2", "would now run on a call that was cut off")
def broken_becomes_empty(call):
    return reading(call, {})


@wrong("03.2", "the error can no longer say what was wrong")
def broken_becomes_none(call):
    return reading(call, None)


@wrong("03.2", "Empty text stayed text")
def empty_stays_text(call):
    text = parts(call)[2]
    return reading(call, text, empty="")


@wrong("03.2", "Empty text became None")
def empty_becomes_none(call):
    return reading(call, parts(call)[2], empty=None)


@wrong("03.2", "A list became an empty object")
def lists_become_empty(call):
    good = reading(call, parts(call)[2])
    if isinstance(good.arguments, list):
        return ToolCall(good.tool_use_id, good.name, {})
    return good


@wrong("03.2", "Only objects were parsed.")
def lists_stay_text(call):
    good = reading(call, parts(call)[2])
    if isinstance(good.arguments, list):
        return ToolCall(good.tool_use_id, good.name, parts(call)[2])
    return good


@wrong("03.2", "The list was forced into a dict.")
def forces_a_dict(call):
    good = reading(call, parts(call)[2])
    if isinstance(good.arguments, (list, dict)):
        return ToolCall(good.tool_use_id, good.name, dict(good.arguments))
    return good


@wrong("03.2", "A missing field raises.")
def indexes_the_function(call):
    call["function"]["name"]
    return reading(call, parts(call)[2])


# --- 03.3 -----------------------------------------------------------------------------------------


@wrong("03.3", "read_file was approved and bash ran.")
def looks_twice(block, approve, run):
    if not approve(ToolCall.from_block(block)):
        return "refused"
    return run(ToolCall.from_block(block))


@wrong("03.3", "read_file was approved and bash ran.")
def hands_the_block_on(block, approve, run):
    return run(block) if approve(block) else "refused"


@wrong("03.3", "the call ran: its answer was not looked at")
def does_not_ask(block, approve, run):
    call = ToolCall.from_block(block)
    approve(call)
    return run(call)


@wrong("03.3", "the value of run() was not returned")
def forgets_the_value(block, approve, run):
    call = ToolCall.from_block(block)
    if not approve(call):
        return "refused"
    run(call)


@wrong("03.3", 'return "refused"')
def says_nothing(block, approve, run):
    call = ToolCall.from_block(block)
    if approve(call):
        return run(call)


@wrong("03.3", "approve said yes, and the call was refused all the same")
def always_refuses(block, approve, run):
    approve(SimpleNamespace(name="read_file"))
    return "refused"

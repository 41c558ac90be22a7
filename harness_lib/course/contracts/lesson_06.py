"""What lesson 06 asks of its pieces: one result for each call, with the code of where it stopped."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from dataclasses import replace

from harness_lib.call import ToolCall
from harness_lib.course.contract import Case, Contract, Raised
from harness_lib.registry import ToolRegistry
from harness_lib.result import ToolError
from harness_lib.spec import ToolSpec, object_schema


class Unreadable(Exception):
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise ValueError("no text for you")


class Stopped(BaseException):
    """What a library of the tool's raises to be caught by nobody."""


class Exits(Exception):
    """An exception that ends the program when it is asked for its text."""

    def __str__(self) -> str:
        sys.exit("no text for you")


def _raises(error: BaseException) -> Callable[..., object]:
    def handler(*args: object, **kwargs: object) -> object:
        raise error

    return handler


def _keyboard_interrupt(*args: object, **kwargs: object) -> object:
    raise KeyboardInterrupt


class _Scene:
    """One call of a tool `look_up(key)`, of which it is counted how often it was entered."""

    def __init__(
        self,
        says: str,
        does: Callable[[str], object] = lambda key: f"the {key} is green",
        name: object = "look_up",
        arguments: object = None,
    ) -> None:
        self.says = says
        self.does = does
        self.call = ToolCall("toolu_7", name, {"key": "colour"} if arguments is None else arguments)

    def __repr__(self) -> str:
        return f"{self.call.name!r} {self.call.arguments!r}; {self.says}"


def _dispatched(piece: Callable, sent: _Scene) -> object:
    """(code, how often the handler was entered, content, exception kept), told as text."""
    entered = []

    def look_up(key: str) -> object:
        entered.append(key)
        return sent.does(key)

    schema = object_schema({"key": {"type": "string"}}, ["key"])
    registry = ToolRegistry([ToolSpec("look_up", "", schema, look_up)])
    try:
        result = piece(registry, sent.call)
    except KeyboardInterrupt:
        return "the interrupt got out"
    if not all(hasattr(result, name) for name in ("call", "content", "error_code", "exception")):
        return result
    if result.call != sent.call:
        return f"a result for another call: {result.call!r}"
    code = str(result.error_code) if result.error_code else "no error"
    content = result.content
    if code in ("unknown_tool", "invalid_arguments") and isinstance(content, str):
        start, colon, words = content.partition(": ")  # which words is the piece's own business
        lines = len(words.splitlines())
        content = f"{start}{colon}{'no words' if not words.strip() else f'{lines} line(s)'}"
    return {
        "code": code,
        "entered": _times(len(entered)),
        "content": _without_reason(content),
        "exception kept": _class_of(result.exception),
    }


def _without_reason(content: object) -> object:
    """The same text without what Python's json module says, which differs from one to the next."""
    return re.sub(r" \(Object of type .*\)$", "", content) if isinstance(content, str) else content


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _class_of(error: object) -> str:
    return "none" if error is None else type(error).__name__


def _outcome(code: str, content: str, entered: int = 1, kept: str = "none") -> dict[str, str]:
    if code != "no error":
        content = f"Error [{code}]: {content}"
    return {
        "code": code,
        "entered": _times(entered),
        "content": content,
        "exception kept": kept,
    }


RAN = _outcome("no error", "the colour is green")
UNKNOWN = _outcome("unknown_tool", "1 line(s)", entered=0)
REFUSED = _outcome("invalid_arguments", "1 line(s)", entered=0)


def _failed(kept: str, message: str) -> dict[str, str]:
    return _outcome("execution_error", message, kept=kept)


NO_RESULT = (None, "Nothing came back. Each way through the function ends with a result.")

ORDER = (
    Case(
        "a good call",
        _Scene("the handler says what is green"),
        RAN,
        "The usual case: what the handler returned is the content, and there is no code.",
        slips=(
            NO_RESULT,
            ("the colour is green", "The text itself came back. Return a result: MyResult(call, text)."),
            (_outcome("no error", "the {'key': 'colour'} is green"), "The handler got all arguments as one dict. Pass them by name: spec.handler(**call.arguments)."),
            (UNKNOWN, "A tool that is registered was not found. Look into the registry that you are given; code_of() looks into the notebook's."),
            (RAN | {"entered": "twice"}, "The handler ran twice. Call it once, and keep what it returns in a name."),
        ),
    ),
    Case(
        "an unknown tool",
        _Scene("no such tool", name="lookup"),
        UNKNOWN,
        "The model asked for something that was never registered. It has to hear so.",
        slips=(
            NO_RESULT,
            (Raised("AttributeError"), "The registry gave None for this name, and None was asked for more. Return the failure first."),
            (_outcome("execution_error", "AttributeError: 'NoneType' object has no attribute 'input_schema'", 0, "AttributeError"), "The failed look-up was caught as a failure of the handler. Only the handler's own line belongs in the try."),
            (_outcome("unknown_tool", "no words", entered=0), "There is no message. Say which name was not found."),
        ),
    ),
    Case(
        "a name that is no text",
        _Scene("no such tool", name=["look_up"]),
        UNKNOWN,
        "A model, or a bug before you, may send anything as a name.",
        slips=((Raised("TypeError"), "A list cannot be looked up in a dict. registry.get() takes any name."),),
    ),
    Case(
        "a missing argument",
        _Scene("key is missing", arguments={}),
        REFUSED,
        "The handler must not be entered with arguments that do not fit.",
        slips=(
            (_outcome("invalid_arguments", "no words", entered=0), "There is no message. The violations say what the model has to correct."),
        ),
    ),
    Case(
        "an argument of another type",
        _Scene("key is no text", arguments={"key": 7}),
        REFUSED,
        "The handler would have taken it, and done its best with it.",
        slips=(
            (_outcome("no error", "the 7 is green"), "The handler ran with arguments that its schema refuses. Ask validate() first, and return if it finds something."),
            (UNKNOWN, "The arguments were judged before the name, or with the same code. Each station has a code of its own."),
        ),
    ),
    Case(
        "arguments that are a list",
        _Scene("a list", arguments=["colour"]),
        REFUSED,
        "validate() judges any value. ** does not.",
        slips=((Raised("TypeError"), "The list went to the handler by **, which takes a mapping alone. Ask validate() first."),),
    ),
    Case(
        "two violations",
        _Scene("key is missing, and hue is unknown", arguments={"hue": "blue"}),
        _outcome("invalid_arguments", "2 line(s)", entered=0),
        "A model that hears of one at a time needs a turn for each.",
        slips=((REFUSED, 'The violations are not one a line: "\\n".join(violations) makes one text of them.'),),
    ),
    Case(
        "a KeyError in the handler",
        _Scene("the handler raises KeyError('colour')", _raises(KeyError("colour"))),
        _failed("KeyError", "KeyError: 'colour'"),
        "It is the handler's own dict that has no such key. The tool was found.",
        slips=(
            (UNKNOWN | {"entered": "once"}, "The handler's KeyError was taken for a failed look-up: the model now believes that there is no such tool. Do not put look-up and handler into one try."),
            (_failed("none", "KeyError: 'colour'"), "The exception is lost. Hand it to failure(), so that the harness can log it."),
            (_failed("KeyError", "Error [execution_error]: KeyError: 'colour'"), "The code stands in the text twice. failure() writes it: hand it the bare message."),
            (_failed("KeyError", "KeyError('colour')"), "That is the exception's repr. Wanted are its class and its text, as in KeyError: 'colour'."),
            (_failed("KeyError", "'colour'"), "The text of a KeyError is just the key. With the class before it, the model can read it."),
        ),
    ),
    Case(
        "an AttributeError in the handler",
        _Scene("the handler raises AttributeError('no hue')", _raises(AttributeError("no hue"))),
        _failed("AttributeError", "AttributeError: no hue"),
        "Whatever a handler raises, it was entered.",
        slips=((UNKNOWN | {"entered": "once"}, "The handler's AttributeError was taken for a failed look-up, as if it came from asking None. Look at what the registry gave you before the try."),),
    ),
    Case(
        "a TypeError in the handler",
        _Scene("the handler raises TypeError('text + 7')", _raises(TypeError("text + 7"))),
        _failed("TypeError", "TypeError: text + 7"),
        "The arguments were good. A model that is told otherwise changes them and sends the call again.",
        slips=((REFUSED | {"entered": "once"}, "The handler's TypeError was taken for bad arguments. It was entered, and may have done half its work: that is an execution_error."),),
    ),
)  # fmt: skip

DISPATCH = Contract(
    check_id="06.1",
    piece="dispatch",
    stub="dcf78c70f6233739",
    library=ToolRegistry.dispatch,
    observe=_dispatched,
    cases=ORDER,
)


def _cancelled() -> Callable[[], object]:
    return _raises(asyncio.CancelledError("stopped"))


BOUNDARY = Contract(
    check_id="06.dispatch",
    piece="my_dispatch",
    library=ToolRegistry.dispatch,
    observe=_dispatched,
    cases=(
        *(replace(case, slips=()) for case in ORDER),
        Case(
            "a ToolError",
            _Scene("the handler raises ToolError", _raises(ToolError("no colour 'colour'; try 'hue'"))),
            _failed("ToolError", "no colour 'colour'; try 'hue'"),
            "The handler speaks to the model, in its own words.",
        ),
        Case(
            "sys.exit",
            _Scene("the handler raises SystemExit(2)", _raises(SystemExit(2))),
            _failed("SystemExit", "SystemExit: 2"),
            "A tool may end itself, not the harness.",
        ),
        Case(
            "a cancelled task",
            _Scene("the handler raises CancelledError", _cancelled()),
            _failed("CancelledError", "CancelledError: stopped"),
            "CancelledError is no Exception. Other calls of the turn wait.",
        ),
        Case(
            "an exception that cannot be read",
            _Scene("the handler raises an exception whose str() raises", _raises(Unreadable())),
            _failed("Unreadable", "Unreadable: (its message cannot be read)"),
            "The way an error is told must not be an error.",
        ),
        Case(
            "an exception that exits when it is read",
            _Scene("the handler raises an exception whose str() calls sys.exit", _raises(Exits())),
            _failed("Exits", "Exits: (its message cannot be read)"),
            "To ask for a text is to run code, which may do anything.",
        ),
        Case(
            "nothing returned",
            _Scene("the handler returns None", lambda key: None),
            _outcome("no error", "(no output)"),
            "An empty answer looks like one that was lost.",
        ),
        Case(
            "a dict returned",
            _Scene("the handler returns {'hue': None}", lambda key: {"hue": None}),
            _outcome("no error", '{"hue": null}'),
            "JSON is what a model knows.",
        ),
        Case(
            "a set returned",
            _Scene("the handler returns {1}", lambda key: {1}),
            _outcome("execution_error", "TypeError: the handler returned set, which is not text or JSON", kept="TypeError"),
            "What is neither text nor JSON is the tool's bug.",
        ),
        Case(
            "an interrupt",
            _Scene("a person presses stop", _keyboard_interrupt),
            "the interrupt got out",
            "A person who presses stop means the whole program.",
        ),
    ),
)  # fmt: skip


class _Job:
    """A handler and the arguments it is called with."""

    def __init__(self, says: str, handler: Callable[..., object], **arguments: object) -> None:
        self.says = says
        self.handler = handler
        self.arguments = arguments

    def __repr__(self) -> str:
        return f"a handler that {self.says}, and the arguments {self.arguments!r}"


def _ran(piece: Callable, sent: _Job) -> object:
    """(text, class of the exception), or what came back in its place."""
    try:
        pair = piece(sent.handler, sent.arguments)
    except KeyboardInterrupt:
        return "the interrupt got out"
    if not isinstance(pair, tuple) or len(pair) != 2:
        return pair
    return _without_reason(pair[0]), _class_of(pair[1])


def _run_handler(handler: Callable[..., object], arguments: object) -> tuple[str, object]:
    registry = ToolRegistry([ToolSpec("tool", "", {"type": "object"}, lambda **kw: handler(**kw))])
    result = registry.dispatch(ToolCall("toolu_7", "tool", arguments))
    return result.content.removeprefix("Error [execution_error]: "), result.exception


NO_PAIR = (None, "Nothing came back. Each way through the function ends with a pair.")
ALONE = "Only the text came back. Return a pair: the text, and the exception or None."

RUN = Contract(
    check_id="06.2",
    piece="run_handler",
    stub="ea5d7a658fe1e26c",
    library=_run_handler,
    observe=_ran,
    cases=(
        Case(
            "text",
            _Job("returns 'green'", lambda: "green"),
            ("green", "none"),
            "Text goes as it is.",
            slips=(NO_PAIR, ("green", ALONE), (('"green"', "none"), "The text was made JSON, quotes and all. encode() leaves text as it is.")),
        ),
        Case(
            "arguments",
            _Job("returns its argument 'hue'", lambda hue: hue, hue="blue"),
            ("blue", "none"),
            "A handler gets its arguments by name.",
        ),
        Case(
            "nothing",
            _Job("returns None", lambda: None),
            ("(no output)", "none"),
            "An empty answer looks like one that was lost.",
            slips=(((None, "none"), "None itself came back. encode() makes text of what a handler returns."),),
        ),
        Case(
            "a set",
            _Job("returns {1}", lambda: {1}),
            ("TypeError: the handler returned set, which is not text or JSON", "TypeError"),
            "What is neither text nor JSON is the tool's bug, and becomes a failure like any other.",
            slips=((Raised("TypeError"), "encode() raised outside of your try. What it refuses is a failure of the tool, too."),),
        ),
        Case(
            "a KeyError",
            _Job("raises KeyError('colour')", _raises(KeyError("colour"))),
            ("KeyError: 'colour'", "KeyError"),
            "The class says what the text alone does not.",
            slips=(
                NO_PAIR,
                (("KeyError: 'colour'", "none"), "The exception is lost. Return it beside the message, for the harness."),
                (("'colour'", "KeyError"), "str() of a KeyError is just the key. explain() puts the class before it."),
                (Raised("KeyError"), "The handler's exception got out."),
            ),
        ),
        Case(
            "a ToolError",
            _Job("raises ToolError('no such colour; try hue')", _raises(ToolError("no such colour; try hue"))),
            ("no such colour; try hue", "ToolError"),
            "It is a sentence for the model, not an accident.",
            slips=((("ToolError: no such colour; try hue", "ToolError"), "The class was put before a sentence that is meant as it is. explain() knows ToolError."),),
        ),
        Case(
            "sys.exit",
            _Job("calls sys.exit(2)", _raises(SystemExit(2))),
            ("SystemExit: 2", "SystemExit"),
            "A tool may end itself, not the harness.",
            slips=((Raised("SystemExit"), "SystemExit got out, and would have ended the harness. It is no Exception: catch BaseException."),),
        ),
        Case(
            "a cancelled task",
            _Job("raises CancelledError('stopped')", _cancelled()),
            ("CancelledError: stopped", "CancelledError"),
            "Other calls of the turn wait for their answers.",
            slips=((Raised("CancelledError"), "CancelledError got out. It is no Exception, only a BaseException."),),
        ),
        Case(
            "an exception that cannot be read",
            _Job("raises an exception whose str() raises", _raises(Unreadable())),
            ("Unreadable: (its message cannot be read)", "Unreadable"),
            "The way an error is told must not be an error.",
            slips=((Raised("ValueError"), "The exception was caught, then asked for its text, and that raised. explain() cannot raise."),),
        ),
        Case(
            "a BaseException of the tool's own",
            _Job("raises Stopped('at once'), a BaseException", _raises(Stopped("at once"))),
            ("Stopped: at once", "Stopped"),
            "You cannot list all that a tool may raise.",
            slips=((Raised("Stopped"), "An exception got out that is no Exception. A list of classes never ends: catch BaseException, after KeyboardInterrupt."),),
        ),
        Case(
            "an exception that exits when it is read",
            _Job("raises an exception whose str() calls sys.exit", _raises(Exits())),
            ("Exits: (its message cannot be read)", "Exits"),
            "To ask for a text is to run code, which may do anything.",
            slips=((Raised("SystemExit"), "The exception was caught, then asked for its text, and that called sys.exit. explain() stands that, too."),),
        ),
        Case(
            "an interrupt",
            _Job("is interrupted by a person", _keyboard_interrupt),
            "the interrupt got out",
            "A person who presses stop means the whole program.",
            slips=((("KeyboardInterrupt", "KeyboardInterrupt"), "The interrupt became a result: the person pressed stop, and the program goes on. Let KeyboardInterrupt pass, before BaseException is caught."), (("KeyboardInterrupt: ", "KeyboardInterrupt"), "The interrupt became a result: the person pressed stop, and the program goes on. Let KeyboardInterrupt pass, before BaseException is caught.")),
        ),
    ),
)  # fmt: skip

CONTRACTS = (BOUNDARY, DISPATCH, RUN)

"""Wrong answers to lesson 06."""

import asyncio
import sys
import threading

from harness_lib import ToolCall, ToolDispatchResult, ToolError, ToolErrorCode, ToolRegistry
from harness_lib.result import encode, explain
from harness_lib.validation import check_subset
from tests.wrong_answers import wrong

UNKNOWN, INVALID, EXECUTION = ToolErrorCode
failure = ToolDispatchResult.failure


# --- 06.dispatch and 06.1 -------------------------------------------------------------------------


def right(registry, call, **changes):
    """The right answer to 06.1, with one thing done otherwise."""
    spec = registry.get(call.name)
    if spec is None:
        return failure(call, UNKNOWN, changes.get("unknown", f"no tool is named {call.name!r}"))
    violations = changes.get("validate", check_subset)(spec.input_schema, call.arguments)
    if violations:
        return changes.get("refuse", failure)(call, INVALID, "\n".join(violations))
    try:
        content = changes.get("run", lambda spec, call: spec.handler(**call.arguments))(spec, call)
    except changes.get("catches", Exception) as error:
        message = changes.get("explain", lambda error: f"{type(error).__name__}: {error}")(error)
        return changes.get("fail", failure)(call, EXECUTION, message, error)
    return ToolDispatchResult(call, content)


@wrong("06.1", "Each way through the function ends with a result.")
def returns_nothing(registry, call):
    right(registry, call)


@wrong("06.1", "The text itself came back.")
def returns_the_text(registry, call):
    return right(registry, call).content


@wrong("06.1", "The handler ran twice.")
def runs_twice(registry, call):
    def run(spec, call):
        spec.handler(**call.arguments)
        return spec.handler(**call.arguments)

    return right(registry, call, run=run)


@wrong("06.1", "None was asked for more")
def does_not_look(registry, call):
    spec = registry.get(call.name)
    if check_subset(spec.input_schema, call.arguments):
        return failure(call, INVALID, "do not fit")
    return right(registry, call)


@wrong("06.1", "The failed look-up was caught as a failure of the handler.")
def tries_everything(registry, call):
    try:
        spec = registry.get(call.name)
        violations = check_subset(spec.input_schema, call.arguments)
        if violations:
            return failure(call, INVALID, "\n".join(violations))
        return ToolDispatchResult(call, spec.handler(**call.arguments))
    except Exception as error:
        return failure(call, EXECUTION, f"{type(error).__name__}: {error}", error)


class Bare:
    """A result without the library's care for its text."""

    def __init__(self, call, code):
        self.call, self.error_code, self.exception = call, code, None
        self.content = f"Error [{code}]: "


@wrong("06.1", "Say which name was not found.")
def says_no_name(registry, call):
    return right(registry, call) if call.name in registry else Bare(call, UNKNOWN)


@wrong("06.1", "registry.get() takes any name")
def looks_up_by_itself(registry, call):
    if call.name not in {"look_up": 1}:
        return failure(call, UNKNOWN, "no such tool")
    return right(registry, call)


@wrong("06.1", "The violations say what the model has to correct.")
def says_no_violations(registry, call):
    return right(registry, call, refuse=lambda call, code, message: Bare(call, code))


@wrong("06.1", "The handler ran with arguments that its schema refuses.")
def checks_names_alone(registry, call):
    def names(schema, arguments):
        return [] if isinstance(arguments, dict) and "key" in arguments else ["key is missing"]

    return right(registry, call, validate=names)


@wrong("06.1", "Each station has a code of its own.")
def one_code_for_both(registry, call):
    return right(registry, call, refuse=lambda call, code, message: failure(call, UNKNOWN, message))


@wrong("06.1", "** does not.")
@wrong("06.1", "which takes a mapping alone")
def spreads_lists(registry, call):
    spec = registry.get(call.name)
    if spec is not None and isinstance(call.arguments, list):
        spec.handler(**call.arguments)
    return right(registry, call)


@wrong("06.1", "The handler's KeyError was taken for a failed look-up")
def one_try_for_keys(registry, call):
    try:
        return right(registry, call, catches=())
    except KeyError:
        return failure(call, UNKNOWN, "no such tool")
    except Exception as error:
        return failure(call, EXECUTION, f"{type(error).__name__}: {error}", error)


@wrong("06.1", "Hand it to failure(), so that the harness can log it.")
def loses_the_exception(registry, call):
    return right(
        registry, call, fail=lambda call, code, message, error: failure(call, code, message)
    )


@wrong("06.1", "The code stands in the text twice.")
def writes_the_code_itself(registry, call):
    def told(error):
        return f"Error [execution_error]: {type(error).__name__}: {error}"

    return right(registry, call, explain=told)


@wrong("06.1", "The violations are not one a line")
def one_line_for_all(registry, call):
    return right(
        registry,
        call,
        refuse=lambda call, code, text: failure(call, code, text.replace("\n", "; ")),
    )


@wrong("06.1", "The handler got all arguments as one dict.")
def passes_one_dict(registry, call):
    return right(registry, call, run=lambda spec, call: spec.handler(call.arguments))


@wrong("06.1", "as if it came from asking None")
def one_try_for_attributes(registry, call):
    try:
        return right(registry, call, catches=(KeyError, TypeError))
    except AttributeError:
        return failure(call, UNKNOWN, "no such tool")


@wrong("06.1", "That is the exception's repr.")
def shows_the_repr(registry, call):
    return right(registry, call, explain=repr)


@wrong("06.1", "Look into the registry that you are given")
def looks_elsewhere(registry, call):
    return right(ToolRegistry(), call)


@wrong("06.1", "The text of a KeyError is just the key.")
def text_alone(registry, call):
    return right(registry, call, explain=str)


@wrong("06.1", "The handler's TypeError was taken for bad arguments.")
def one_try_for_types(registry, call):
    try:
        return right(registry, call, catches=(KeyError, AttributeError))
    except TypeError:
        return failure(call, INVALID, "bad arguments")


@wrong("06.1", "a result for another call")
def answers_another_call(registry, call):
    result = right(registry, call)
    return ToolDispatchResult(ToolCall("", call.name, call.arguments), result.content)


@wrong("06.1", "an endless loop, or a deadlock?")
def tries_for_ever(registry, call):
    while True:
        pass


@wrong("06.1", "an endless loop, or a deadlock?")
def waits_for_itself(registry, call):
    lock = threading.Lock()
    with lock, lock:
        return right(registry, call)


@wrong("06.1", "it tried to end the program (SystemExit)")
def exits(registry, call):
    sys.exit("no such tool")


@wrong("06.dispatch", "Other calls of the turn wait.")
@wrong("06.dispatch", "A tool may end itself, not the harness.")
@wrong("06.dispatch", "The way an error is told must not be an error.")
@wrong("06.dispatch", "To ask for a text is to run code")
@wrong("06.dispatch", "in its own words")
@wrong("06.dispatch", "JSON is what a model knows.")
@wrong("06.dispatch", "An empty answer looks like one that was lost.")
@wrong("06.dispatch", "What is neither text nor JSON is the tool's bug.")
def the_answer_to_exercise_1(registry, call):
    return right(registry, call, run=lambda spec, call: str(spec.handler(**call.arguments)))


@wrong("06.dispatch", "A person who presses stop means the whole program.")
def swallows_the_interrupt(registry, call):
    return right(registry, call, catches=BaseException, explain=explain)


@wrong("06.dispatch", "It has to hear so.")
@wrong("06.dispatch", "may send anything as a name")
def raises_for_unknown_names(registry, call):
    if registry.get(call.name) is None:
        raise LookupError(call.name)
    return right(registry, call)


@wrong("06.dispatch", "The usual case")
@wrong("06.dispatch", "The handler must not be entered with arguments that do not fit.")
@wrong("06.dispatch", "done its best with it")
def trusts_the_model(registry, call):
    return right(registry, call, validate=lambda schema, arguments: [], run=lambda *_: "ran")


# --- 06.2 -----------------------------------------------------------------------------------------


def run(handler, arguments, **changes):
    """The right answer to 06.2, with one thing done otherwise."""
    try:
        return changes.get("encode", encode)(handler(**arguments)), None
    except changes.get("lets_out", KeyboardInterrupt):
        raise
    except changes.get("catches", BaseException) as error:
        return changes.get("explain", explain)(error), error


@wrong("06.2", "Each way through the function ends with a pair.")
def gives_nothing(handler, arguments):
    run(handler, arguments)


@wrong("06.2", "Only the text came back.")
def gives_text_alone(handler, arguments):
    return run(handler, arguments)[0]


@wrong("06.2", "The text was made JSON, quotes and all.")
def json_for_all(handler, arguments):
    return run(handler, arguments, encode=lambda value: f'"{value}"')


@wrong("06.2", "A handler gets its arguments by name.")
def passes_the_dict(handler, arguments):
    return run(lambda **_: handler(*arguments), arguments)


@wrong("06.2", "None itself came back.")
def hands_on_what_it_gets(handler, arguments):
    return run(handler, arguments, encode=lambda value: value)


@wrong("06.2", "encode() raised outside of your try.")
def encodes_too_late(handler, arguments):
    value, error = run(handler, arguments, encode=lambda value: value)
    return (value, error) if error else (encode(value), None)


@wrong("06.2", "The exception is lost.")
def forgets_the_exception(handler, arguments):
    return run(handler, arguments)[0], None


@wrong("06.2", "str() of a KeyError is just the key.")
def words_alone(handler, arguments):
    return run(handler, arguments, explain=str)


@wrong("06.2", "The handler's exception got out.")
def catches_nothing(handler, arguments):
    return run(handler, arguments, catches=())


@wrong("06.2", "a sentence that is meant as it is")
def names_every_class(handler, arguments):
    def named(error):
        return f"ToolError: {error}" if isinstance(error, ToolError) else explain(error)

    return run(handler, arguments, explain=named)


@wrong("06.2", "SystemExit got out, and would have ended the harness.")
@wrong("06.2", "CancelledError got out.")
def catches_exceptions_alone(handler, arguments):
    return run(handler, arguments, catches=Exception)


@wrong("06.2", "A list of classes never ends")
def lists_classes(handler, arguments):
    return run(handler, arguments, catches=(Exception, SystemExit, asyncio.CancelledError))


@wrong("06.2", "CancelledError got out.")
def knows_exits_alone(handler, arguments):
    return run(handler, arguments, lets_out=(KeyboardInterrupt, asyncio.CancelledError))


@wrong("06.2", "The exception was caught, then asked for its text, and that raised.")
@wrong("06.2", "and that called sys.exit")
def asks_for_the_text(handler, arguments):
    def told(error):
        return str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"

    return run(handler, arguments, explain=told)


@wrong("06.2", "The interrupt became a result")
def lets_nothing_out(handler, arguments):
    return run(handler, arguments, lets_out=())


@wrong("06.2", "The interrupt became a result")
def lets_nothing_out_and_formats(handler, arguments):
    return run(
        handler,
        arguments,
        lets_out=(),
        explain=lambda error: (
            explain(error)
            if not isinstance(error, KeyboardInterrupt)
            else f"{type(error).__name__}: {error}"
        ),
    )

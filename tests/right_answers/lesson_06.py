"""Lesson 06, otherwise."""

import json
from types import SimpleNamespace

from harness_lib import ToolError
from harness_lib.validation import check_subset


def dispatch(registry, call):
    def result(content, code=None, exception=None):
        text = f"Error [{code}]: {content}" if code else content
        return SimpleNamespace(call=call, content=text, error_code=code, exception=exception)

    if call.name not in registry:
        return result("there is none", "unknown_tool")
    spec = registry.get(call.name)
    if lines := check_subset(spec.input_schema, call.arguments):
        return result("\n".join(lines), "invalid_arguments")
    caught = None
    try:
        said = spec.handler(**call.arguments)
    except Exception as error:
        caught = error
    if caught is None:
        return result(said)
    return result(": ".join([type(caught).__qualname__, str(caught)]), "execution_error", caught)


def run_handler(handler, arguments):
    caught = None
    try:
        value = handler(**arguments)
        if value is None or value == "":
            said = "(no output)"
        elif isinstance(value, str):
            said = value
        else:
            try:
                said = json.dumps(value)
            except TypeError:
                kind = type(value).__name__
                raise TypeError(f"the handler returned {kind}, which is not text or JSON") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        caught = error
        try:
            said = str(error)
        except BaseException:
            said = "(its message cannot be read)"
        if not isinstance(error, ToolError):
            said = f"{type(error).__name__}: {said}"
    return said, caught


ANSWERS = {"06.1": dispatch, "06.2": run_handler}

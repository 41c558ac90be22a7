"""Lesson 04, otherwise."""

import difflib
import inspect
import json

from harness_lib.course.contracts.lesson_04 import KNOWN


def model_schema(spec):
    made = {key: getattr(spec, key) for key in ("input_schema", "description", "name")}
    return json.loads(json.dumps(made))


def misspelt(schema):
    pairs, waiting = set(), [schema]
    while waiting:
        here = waiting.pop()
        if here in (True, False):
            continue
        for keyword in here.keys() - set(KNOWN):
            near = difflib.get_close_matches(keyword, KNOWN, n=1) or [None]
            pairs.add((keyword, *near))
        waiting.extend(here.get("anyOf", ()))
        waiting.extend(here.get("properties", {}).values())
        if "items" in here:
            waiting.append(here["items"])
    return pairs


def fits(handler, schema):
    if not callable(handler):
        return False
    try:
        parameters = inspect.signature(handler).parameters
    except ValueError:
        return False
    kinds = {p.kind for p in parameters.values()}
    named = {
        name
        for name, p in parameters.items()
        if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    }
    needed = {
        name
        for name, p in parameters.items()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    }
    takes_any = inspect.Parameter.VAR_KEYWORD in kinds
    return (takes_any or set(schema.get("properties", ())) <= named) and (
        needed <= set(schema.get("required", ())) & (named | needed)
        and not any(parameters[n].kind is inspect.Parameter.POSITIONAL_ONLY for n in needed)
    )


ANSWERS = {"04.1": model_schema, "04.2": misspelt, "04.3": fits}

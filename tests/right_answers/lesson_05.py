"""Lesson 05, otherwise."""

import difflib
import json


def check_names(schema, arguments):
    lines = [f"$: {n} is missing" for n in set(schema.get("required") or ()) - set(arguments)]
    if schema.get("additionalProperties") not in (False,):
        return lines
    return [
        f"$: {n} is unknown" for n in arguments if n not in (schema.get("properties") or {})
    ] + lines


def type_fits(kind, value):
    text = json.dumps(value)
    kinds = {'"': ["string"], "[": ["array"], "{": ["object"], "t": ["boolean"], "f": ["boolean"]}
    if text[0] in kinds or value is None:
        return kind in kinds.get(text[0], ())
    return kind == "number" or (kind == "integer" and value % 1 == 0)


def suggest(name, known):
    rated = [(difflib.SequenceMatcher(None, name, k).ratio(), k) for k in known]
    good = [pair for pair in rated if pair[0] > 0.6]
    return max(good)[1] if good else None


def finite(value):
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


ANSWERS = {"05.1": check_names, "05.2": type_fits, "05.3": suggest, "05.4": finite}

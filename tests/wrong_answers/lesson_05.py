"""Wrong answers to lesson 05."""

import difflib
import json
import math
import sys
import threading

from harness_lib.validation import check_subset
from tests.wrong_answers import wrong

# --- the lesson's own piece -----------------------------------------------------------------------


@wrong("05.validate", "In Python bool is a kind of int")
@wrong("05.validate", "JSON has one kind of number")
def trusts_isinstance(schema, value):
    classes = {"integer": int, "number": (int, float), "string": str, "boolean": bool}
    classes |= {"array": list, "object": dict}
    if not isinstance(value, classes[schema["type"]]):
        return ["the type is wrong"]
    if schema["type"] != "object":
        return ["too small"] if value < schema.get("minimum", value) else []
    found = [name for name in schema.get("required", ()) if name not in value]
    for name, inner in schema["properties"].items():
        found += trusts_isinstance(inner, value[name]) if name in value else []
    return found


@wrong("05.validate", "An inner object has the same rules.")
def looks_at_names_alone(schema, value):
    found = [name for name in schema["required"] if name not in value]
    return found + [name for name in value if name not in schema["properties"]]


@wrong("05.validate", "Text is no object, even if it looks like one.")
@wrong("05.validate", "Text is no number, whatever is in it.")
def repairs(schema, value):
    if isinstance(value, str):
        value = json.loads(value)
    if isinstance(value, dict) and str(value.get("count")).isdigit():
        value["count"] = int(value["count"])
    return check_subset(schema, value)


@wrong("05.validate", "Each integer is a number, too.")
@wrong("05.validate", "1 == True in Python, and not in JSON.")
def compares_class_names(schema, value):
    names = {"integer": "int", "number": "float", "boolean": "bool"}
    inner = schema["properties"]
    found = check_subset(schema, value)
    for name, item in value.items():
        kind = inner.get(name, {}).get("type")
        if kind == "boolean":
            found = [] if item in (True, False) else found
        elif kind in names and type(item).__name__ != names[kind]:
            found.append(name)
    return found


@wrong("05.validate", "minimum allows the number that it names.")
def more_than_the_minimum(schema, value):
    found = check_subset(schema, value)
    count = value.get("count")
    return found + (["count"] if isinstance(count, int) and count <= 1 else [])


@wrong("05.validate", "A check that refuses good calls is switched off.")
def refuses_all(schema, value):
    return ["no"]


@wrong("05.validate", "it tried to end the program (SystemExit)")
def ends_the_program(schema, value):
    if check_subset(schema, value):
        sys.exit("invalid arguments")
    return []


@wrong("05.validate", "here somebody has to compare the two")
@wrong("05.validate", "A list cannot be passed by name.")
@wrong("05.validate", "The handler's default would decide instead of the model.")
@wrong("05.validate", "Most of them are a misspelt name.")
@wrong("05.validate", "null is a value of its own type.")
@wrong("05.validate", "Half a mail cannot be deleted.")
@wrong("05.validate", "A negative count deletes from the wrong end.")
@wrong("05.validate", "true is no number either.")
@wrong("05.validate", "so no minimum stops it.")
def says_yes_to_all(schema, value):
    return []


# --- 05.1 -----------------------------------------------------------------------------------------


def names(schema, arguments):
    return check_subset({"type": "object"} | schema, arguments)


@wrong("05.1", "Nothing came back. Return the list, also when it is empty.")
def prints_them(schema, arguments):
    lines = names(schema, arguments)
    if lines:
        return lines


@wrong("05.1", "A missing name got through.")
@wrong("05.1", "One fault of the two came back.")
def unknown_alone(schema, arguments):
    return [line for line in names(schema, arguments) if line.endswith("unknown")]


@wrong("05.1", "An unknown name got through.")
@wrong("05.1", "allows no name at all")
def missing_alone(schema, arguments):
    return [line for line in names(schema, arguments) if line.endswith("missing")]


@wrong("05.1", "One fault of the two came back.")
def stops_at_the_first(schema, arguments):
    return names(schema, arguments)[:1]


@wrong("05.1", "count is there, and its value is None.")
def asks_for_the_value(schema, arguments):
    lines = [
        f"$: {name} is missing"
        for name in schema.get("required", [])
        if arguments.get(name) is None
    ]
    return lines + unknown_alone(schema, arguments)


@wrong("05.1", "schema[...] raises where it is absent")
def indexes_the_keywords(schema, arguments):
    known = schema["properties"]
    lines = [f"$: {name} is missing" for name in schema["required"] if name not in arguments]
    if not schema["additionalProperties"]:
        lines += [f"$: {name} is unknown" for name in arguments if name not in known]
    return lines


@wrong("05.1", "A keyword that is absent was read as None.")
def walks_over_none(schema, arguments):
    lines = [f"$: {n} is missing" for n in schema.get("required") if n not in arguments]
    return lines + unknown_alone(schema, arguments)


@wrong("05.1", "This schema does not forbid other names.")
def takes_absent_for_false(schema, arguments):
    known = schema.get("properties", {})
    closed = not schema.get("additionalProperties")
    unknown = [f"$: {name} is unknown" for name in arguments if closed and name not in known]
    return missing_alone(schema, arguments) + unknown


@wrong("05.1", "Look at its value, not whether it is there.")
def takes_present_for_false(schema, arguments):
    known = schema.get("properties", {})
    closed = "additionalProperties" in schema
    unknown = [f"$: {name} is unknown" for name in arguments if closed and name not in known]
    return missing_alone(schema, arguments) + unknown


@wrong("05.1", "takes {} for false, too")
@wrong("05.1", "{} is a schema without rules")
def takes_empty_for_false(schema, arguments):
    known = schema.get("properties", {})
    closed = not schema.get("additionalProperties", True)
    unknown = [f"$: {name} is unknown" for name in arguments if closed and name not in known]
    return missing_alone(schema, arguments) + unknown


# --- 05.2 -----------------------------------------------------------------------------------------


def fits(kind, value):
    return check_subset({"type": kind}, value) == []


@wrong("05.2", "Nothing came back. Return True or False.")
@wrong("05.2", "The plain case.")
def only_says_no(kind, value):
    if not fits(kind, value):
        return False


@wrong("05.2", "In Python True is a kind of int")
@wrong("05.2", "value.is_integer() tells")
def plain_isinstance(kind, value):
    classes = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    classes |= {"array": list, "object": dict}
    return isinstance(value, classes[kind])


@wrong("05.2", "Text was taken for a number, probably by int(value).")
@wrong("05.2", "A float with a fraction was let in as an integer.")
@wrong("05.2", "int(value) raises on infinity.")
def converts(kind, value):
    if kind != "integer":
        return fits(kind, value)
    try:
        int(value)
    except (TypeError, ValueError):
        return False
    return True


@wrong("05.2", "In Python int is no float.")
@wrong("05.2", "Text in JSON stands in quotes.")
def floats_are_the_numbers(kind, value):
    if kind == "string":
        return isinstance(str(value), str)
    return isinstance(value, float) if kind == "number" else fits(kind, value)


@wrong("05.2", "1 == True, and `1 in (True, False)` is true as well.")
def compares_with_true(kind, value):
    return value in (True, False) if kind == "boolean" else fits(kind, value)


@wrong("05.2", "false was refused: perhaps your code asks whether the value is true")
@wrong("05.2", "Empty text was refused: perhaps your code asks whether the value is true")
@wrong("05.2", "An empty array is an array.")
@wrong("05.2", "An empty object is an object.")
def asks_for_truth(kind, value):
    return bool(value) and fits(kind, value)


@wrong("05.2", "Text can be iterated, and so passes for an array here.")
def whatever_can_be_walked(kind, value):
    return hasattr(value, "__iter__") if kind == "array" else fits(kind, value)


@wrong("05.2", "null was let in.")
def null_is_welcome(kind, value):
    return value is None or fits(kind, value)


# --- 05.3 -----------------------------------------------------------------------------------------


def near(name, known, cutoff=0.6):
    return difflib.get_close_matches(name, known, n=1, cutoff=cutoff)


@wrong("05.3", "A list came back: get_close_matches gives one.")
@wrong("05.3", "An empty list came back.")
def gives_the_list(name, known):
    return near(name, known)


@wrong("05.3", "All near names came back, in a list.")
def gives_all_of_them(name, known):
    return difflib.get_close_matches(name, known)


@wrong("05.3", "so the list of matches is empty and [0] raises")
@wrong("05.3", "A tool without arguments has no name to suggest.")
def takes_the_first(name, known):
    return near(name, known)[0]


@wrong("05.3", "a misspelt name is never equal")
@wrong("05.3", "The commonest slip.")
def looks_for_the_same(name, known):
    return name if name in known else None


@wrong("05.3", "not the nearest")
def first_that_is_near(name, known):
    return next((k for k in known if near(name, [k])), None)


@wrong("05.3", "Keep a distance beyond which you say nothing.")
@wrong("05.3", "max() of nothing raises.")
def always_has_one(name, known):
    if not known:
        raise ValueError("max() of nothing")  # as max() does, in other words from 3.12 on
    return max(known, key=lambda k: difflib.SequenceMatcher(None, name, k).ratio())


@wrong("05.3", "an endless loop, or a deadlock?")
def deadlock(name, known):
    lock = threading.Lock()
    with lock, lock:
        return near(name, known)


# --- 05.4 -----------------------------------------------------------------------------------------


@wrong("05.4", "Nothing came back. Return True or False.")
@wrong("05.4", "It got through, two levels down.")
@wrong("05.4", "look at its loop, if it has one")
def top_alone(value):
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return None if isinstance(value, float) else True


@wrong("05.4", "with a `return` inside it")
@wrong("05.4", "One bad item is enough.")
def returns_in_the_loop(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            return returns_in_the_loop(item)
    return not isinstance(value, float) or math.isfinite(value)


@wrong("05.4", "It equals nothing, itself included")
@wrong("05.4", "Infinity has two signs.")
def compares(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return all(map(compares, value))
    return value not in (float("nan"), float("inf"))


@wrong("05.4", "Infinity got through.")
def looks_for_nan(value):
    return value == value


@wrong("05.4", "Text was taken for a number")
def converts_to_float(value):
    try:
        return math.isfinite(float(value))
    except TypeError:
        return True


@wrong("05.4", "math.isfinite takes numbers alone.")
def isfinite_alone(value):
    return math.isfinite(value)


@wrong("05.4", "Only floats need the question.")
def asks_everything(value):
    if isinstance(value, dict):
        value = list(value.values())
    return all(map(asks_everything, value)) if isinstance(value, list) else math.isfinite(value)


@wrong("05.4", "Text is made of texts, without end")
def walks_over_text(value):
    def walk(value):
        if isinstance(value, float):
            return math.isfinite(value)
        if isinstance(value, dict):
            value = value.values()
        return all(map(walk, value)) if hasattr(value, "__iter__") else True

    try:
        return walk(value)
    except RecursionError:  # whose words differ from one Python to the next
        raise RecursionError("maximum recursion depth exceeded") from None


@wrong("05.4", "all() of nothing is true")
@wrong("05.4", "or any() for all()")
def any_is_enough(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return any(map(any_is_enough, value))
    return not isinstance(value, float) or math.isfinite(value)


@wrong("05.4", "The plain case.")
def refuses_floats(value):
    return not isinstance(value, float)


@wrong("05.4", "an endless loop, or a deadlock?")
def never_takes_it_off(value):
    waiting = [value]
    while waiting:
        last = waiting[-1]
        if isinstance(last, list):
            waiting += last[:0]
        else:
            waiting.pop()
    return True

"""What lesson 05 asks of its pieces: are these arguments fit to be passed to the handler?"""

from __future__ import annotations

import math
import re

from harness_lib.call import ToolCall
from harness_lib.course.contract import Case, Contract, Raised
from harness_lib.registry import ToolRegistry
from harness_lib.result import ToolErrorCode
from harness_lib.spec import ToolSpec
from harness_lib.validation import check_subset


def _violations(schema: dict[str, object], arguments: object) -> list[str]:
    """What dispatch says about arguments, through the registry's public face; [] if it ran."""
    registry = ToolRegistry([ToolSpec("tool", "", schema, lambda **kw: "ran")])
    result = registry.dispatch(ToolCall("toolu_1", "tool", arguments))
    return (
        result.content.splitlines() if result.error_code == ToolErrorCode.INVALID_ARGUMENTS else []
    )


# --- the lesson's own piece -----------------------------------------------------------------------


class _Ask:
    """Arguments for a tool about mail, whose schema is closed unless said."""

    def __init__(self, arguments: object, closed: bool = True) -> None:
        self.arguments = arguments
        self.schema = _mail(additionalProperties=False) if closed else _mail()

    def __repr__(self) -> str:
        kind = "a closed" if "additionalProperties" in self.schema else "an open"
        return f"{self.arguments!r}, for {kind} schema of {', '.join(self.schema['properties'])}"


def _accepts(piece, sent: _Ask) -> object:
    found = piece(sent.schema, sent.arguments)
    return ("accepted" if not found else "refused") if isinstance(found, list) else found


def _mail(**more: object) -> dict[str, object]:
    properties = {
        "count": {"type": "integer", "minimum": 1},
        "folder": {"type": "string"},
        "dry_run": {"type": "boolean"},
        "weight": {"type": "number", "minimum": 0},
        "tags": {"type": "array"},
        "age": {
            "type": "object",
            "properties": {"days": {"type": "integer", "minimum": 1}},
            "required": ["days"],
            "additionalProperties": False,
        },
    }
    return {"type": "object", "properties": properties, "required": ["count"]} | more


VALIDATE = Contract(
    check_id="05.validate",
    piece="validate",
    library=_violations,
    observe=_accepts,
    cases=(
        Case("all is well", _Ask({"count": 2, "folder": "a", "dry_run": True, "weight": 0.5, "tags": [1], "age": {"days": 3}}), "accepted", "A check that refuses good calls is switched off."),
        Case("a list in place of the object", _Ask(["count"]), "refused", "A list cannot be passed by name."),
        Case("JSON text in place of the object", _Ask('{"count": 2}'), "refused", "Text is no object, even if it looks like one."),
        Case("a property that is missing", _Ask({"folder": "a"}), "refused", "The handler's default would decide instead of the model.", slips=(("accepted", "A required name is missing, and the call got through. The schema said so to the model; here somebody has to compare the two."),)),
        Case("a property that nobody declared", _Ask({"count": 2, "dryrun": True}), "refused", "Most of them are a misspelt name."),
        Case("the same, where the schema is open", _Ask({"count": 2, "dryrun": True}, closed=False), "accepted", "Without additionalProperties a schema allows more names."),
        Case("a digit in quotes", _Ask({"count": "2"}), "refused", "Text is no number, whatever is in it."),
        Case("true for an integer", _Ask({"count": True}), "refused", "In Python bool is a kind of int, in JSON it is not."),
        Case("true for a number", _Ask({"count": 2, "weight": True}), "refused", "true is no number either."),
        Case("1 for a boolean", _Ask({"count": 2, "dry_run": 1}), "refused", "1 == True in Python, and not in JSON."),
        Case("null", _Ask({"count": None}), "refused", "null is a value of its own type."),
        Case("1.5 for an integer", _Ask({"count": 1.5}), "refused", "Half a mail cannot be deleted."),
        Case("5.0 for an integer", _Ask({"count": 5.0}), "accepted", "JSON has one kind of number: 5.0 is the integer 5."),
        Case("an integer for a number", _Ask({"count": 2, "weight": 3}), "accepted", "Each integer is a number, too."),
        Case("less than the minimum", _Ask({"count": 0}), "refused", "A negative count deletes from the wrong end."),
        Case("NaN for a number", _Ask({"count": 2, "weight": math.nan}), "refused", "Every comparison with NaN is False, so no minimum stops it."),
        Case("the minimum itself", _Ask({"count": 1, "weight": 0}), "accepted", "minimum allows the number that it names."),
        Case("a fault in a nested object", _Ask({"count": 2, "age": {"days": 0}}), "refused", "An inner object has the same rules."),
        Case("a nested property that is missing", _Ask({"count": 2, "age": {}}), "refused", "An inner object has the same rules."),
    ),
)  # fmt: skip


# --- 05.1 -----------------------------------------------------------------------------------------

NAMES = {
    "type": "object",
    "properties": {"count": {}, "dry_run": {}},
    "required": ["count"],
    "additionalProperties": False,
}
CRASH = "The schema does not have to hold this keyword: schema[...] raises where it is absent, .get() does not."


def _without(*keywords: str) -> dict[str, object]:
    return {key: value for key, value in NAMES.items() if key not in keywords}


def _sorted_lines(piece, sent: tuple) -> object:
    lines = piece(*sent)
    return (
        sorted(lines) if isinstance(lines, list) and all(type(x) is str for x in lines) else lines
    )


CHECK_NAMES = Contract(
    check_id="05.1",
    piece="check_names",
    stub="25891594d3a302d9",
    library=check_subset,
    observe=_sorted_lines,
    cases=(
        Case(
            "all names are there",
            (NAMES, {"count": 1, "dry_run": True}),
            [],
            "No violation is an empty list.",
            slips=((None, "Nothing came back. Return the list, also when it is empty."),),
        ),
        Case(
            "a name is missing",
            (NAMES, {"dry_run": True}),
            ["$: count is missing"],
            "The handler's default would decide what happens.",
            slips=(([], "A missing name got through. Look at each name in `required`."),),
        ),
        Case(
            "a name that nobody declared",
            (NAMES, {"count": 2, "dryrun": True}),
            ["$: dryrun is unknown"],
            "The model wanted a rehearsal, and the mail is gone.",
            slips=(([], "An unknown name got through. With additionalProperties false, only the names in `properties` are allowed."),),
        ),
        Case(
            "two faults at once",
            (NAMES, {"dryrun": True}),
            ["$: count is missing", "$: dryrun is unknown"],
            "A model that hears of one fault at a time needs a turn for each.",
            slips=(
                (["$: count is missing"], "One fault of the two came back. Collect both kinds in one list, and return it at the end."),
                (["$: dryrun is unknown"], "One fault of the two came back. Collect both kinds in one list, and return it at the end."),
            ),
        ),
        Case(
            "a value that is null",
            (NAMES, {"count": None}),
            [],
            "Present and null is not missing: whether null fits is for `type` to say.",
            slips=((["$: count is missing"], "count is there, and its value is None. Ask `name not in arguments`, not for its value."),),
        ),
        Case(
            "a schema that requires nothing",
            (_without("required"), {}),
            [],
            "Every keyword may be left out.",
            slips=((Raised("KeyError"), CRASH), (Raised("TypeError"), "A keyword that is absent was read as None. schema.get('required', []) gives something to walk over.")),
        ),
        Case(
            "an open schema",
            (_without("additionalProperties"), {"count": 1, "note": "x"}),
            [],
            "Without additionalProperties, more names are allowed.",
            slips=(
                (["$: note is unknown"], "This schema does not forbid other names. Only additionalProperties false does."),
                (Raised("KeyError"), CRASH),
            ),
        ),
        Case(
            "a schema that says it is open",
            (NAMES | {"additionalProperties": True}, {"count": 1, "note": "x"}),
            [],
            "True says: more names are welcome.",
            slips=((["$: note is unknown"], "additionalProperties is there, and it is true. Look at its value, not whether it is there."),),
        ),
        Case(
            "a schema without a rule for other names",
            (NAMES | {"additionalProperties": {}}, {"count": 1, "note": "x"}),
            [],
            "{} is a schema without rules: a name that nobody declared may have any value.",
            slips=((["$: note is unknown"], "additionalProperties is {}, a schema that any value fits, so other names are welcome. Only False closes a schema; Python's `not` takes {} for false, too."),),
        ),
        Case(
            "a schema that declares no name",
            (_without("properties", "required"), {"note": "x"}),
            ["$: note is unknown"],
            "Nothing is declared and nothing else is allowed: a tool without arguments.",
            slips=(([], "A closed schema without properties allows no name at all."), (Raised("KeyError"), CRASH)),
        ),
    ),
)  # fmt: skip


# --- 05.2 -----------------------------------------------------------------------------------------


def _type_fits(kind: str, value: object) -> bool:
    return check_subset({"type": kind}, value) == []


BOOL = "In Python True is a kind of int: isinstance(True, int) holds, and int(True) is 1. Here a model that wrote true would delete one mail: settle bool first."
INEXACT = Raised("OverflowError")

TYPE_FITS = Contract(
    check_id="05.2",
    piece="type_fits",
    stub="84c44487f4419363",
    library=_type_fits,
    observe=lambda piece, sent: piece(*sent),
    cases=(
        Case("an integer", ("integer", 5), True, "The plain case.", slips=((None, "Nothing came back. Return True or False."),)),
        Case("digits in quotes", ("integer", "5"), False, "Text is no number; to convert it would be to guess.", slips=((True, "Text was taken for a number, probably by int(value). The check judges what came, it does not repair it."),)),
        Case("true for an integer", ("integer", True), False, "true is a boolean and nothing else.", slips=((True, BOOL),)),
        Case("true for a number", ("number", True), False, "true is a boolean and nothing else.", slips=((True, BOOL),)),
        Case("1.5 for an integer", ("integer", 1.5), False, "There is a fraction in it.", slips=((True, "A float with a fraction was let in as an integer."),)),
        Case("5.0 for an integer", ("integer", 5.0), True, "JSON has one kind of number; 5.0 and 5 are the same one.", slips=((False, "A float without a fraction is an integer for JSON Schema: value.is_integer() tells."),)),
        Case("infinity for an integer", ("integer", math.inf), False, "Python reads the JSON text 1e400 as infinity.", slips=((INEXACT, "int(value) raises on infinity. value.is_integer() does not: it says False."),)),
        Case("an integer for a number", ("number", 5), True, "Each integer is a number.", slips=((False, "In Python int is no float. A number is one or the other."),)),
        Case("a fraction for a number", ("number", 1.5), True, "The plain case."),
        Case("1 for a boolean", ("boolean", 1), False, "1 == True in Python, and not in JSON.", slips=((True, "1 == True, and `1 in (True, False)` is true as well. isinstance(value, bool) tells them apart."),)),
        Case("false for a boolean", ("boolean", False), True, "false is a good boolean.", slips=((False, "false was refused: perhaps your code asks whether the value is true, not what it is."),)),
        Case("text for a string", ("string", ""), True, "Empty text is text.", slips=((False, "Empty text was refused: perhaps your code asks whether the value is true, not what it is."),)),
        Case("a number for a string", ("string", 5), False, "Text in JSON stands in quotes."),
        Case("a list for an array", ("array", []), True, "An empty array is an array."),
        Case("text for an array", ("array", "abc"), False, "Python can walk over text; JSON's arrays have brackets.", slips=((True, "Text can be iterated, and so passes for an array here. Ask for a list."),)),
        Case("a dict for an object", ("object", {}), True, "An empty object is an object."),
        Case("null for an object", ("object", None), False, "null is of a type of its own.", slips=((True, "null was let in. It is of the seventh type, and fits none of the six."),)),
    ),
)  # fmt: skip


# --- 05.3 -----------------------------------------------------------------------------------------


def _suggest(name: str, known: list[str]) -> str | None:
    schema = {"type": "object", "properties": {k: {} for k in known}, "additionalProperties": False}
    [line] = _violations(schema, {name: 1})
    hint = re.search(r'did you mean "(.*?)"\?', line)
    return hint[1] if hint else None


A_LIST = "A list came back: get_close_matches gives one. Take its first item, if there is one."
EMPTY = "An empty list came back. Say it with None."

SUGGEST = Contract(
    check_id="05.3",
    piece="suggest",
    stub="e0ba86ec10fc3f58",
    library=_suggest,
    observe=lambda piece, sent: piece(*sent),
    cases=(
        Case(
            "a letter is missing",
            ("dryrun", ["count", "dry_run"]),
            "dry_run",
            "With the right name in the error, the model's next call is a good one.",
            slips=(
                (["dry_run"], A_LIST),
                (None, "Nothing came back, though one name is near. If you compare for equality: a misspelt name is never equal."),
            ),
        ),
        Case("two letters are swapped", ("conut", ["count", "dry_run"]), "count", "The commonest slip.", slips=((["count"], A_LIST),)),
        Case(
            "the nearest of two",
            ("counts", ["amounts", "count"]),
            "count",
            "A wrong hint is followed as gladly as a right one.",
            slips=(
                ("amounts", "The first name that is near enough came back, not the nearest."),
                (["count"], A_LIST),
                (["count", "amounts"], "All near names came back, in a list. The model needs one: the first is the nearest."),
            ),
        ),
        Case(
            "nothing is near",
            ("colour", ["count", "dry_run"]),
            None,
            "A far-fetched hint misleads. No hint is better.",
            slips=(
                (Raised("IndexError"), "There is no near name, so the list of matches is empty and [0] raises."),
                ([], EMPTY),
                ("count", "colour and count have a letter or two in common. Keep a distance beyond which you say nothing."),
            ),
        ),
        Case(
            "no names at all",
            ("count", []),
            None,
            "A tool without arguments has no name to suggest.",
            slips=(
                (Raised("IndexError"), "There is no near name, so the list of matches is empty and [0] raises."),
                ([], EMPTY),
                (Raised("ValueError"), "max() of nothing raises. A tool without arguments has no name to suggest."),
            ),
        ),
    ),
)  # fmt: skip


# --- 05.4 -----------------------------------------------------------------------------------------


def _finite(value: object) -> bool:
    return _violations({"type": "object"}, {"value": value}) == []


AS_TEXT = "Text was taken for a number: float('nan') works in Python. Only a float can be NaN or infinite."
NUMBERS_ALONE = "math.isfinite takes numbers alone. Ask for isinstance(value, float) first, and walk over lists and dicts."
INSIDE = "It got through, two levels down. What is inside goes to the handler, too: let the function call itself for each item."
FIRST_ONLY = "The infinity got through behind a good number. If your code finds infinity alone (above), look at its loop, if it has one: with a `return` inside it, or any() for all(), one good item settles it."

FINITE = Contract(
    check_id="05.4",
    piece="finite",
    stub="448911a5f2690d52",
    library=_finite,
    observe=lambda piece, sent: piece(sent),
    cases=(
        Case("a plain number", 1.5, True, "The plain case.", slips=((None, "Nothing came back. Return True or False."),)),
        Case("NaN", math.nan, False, "NaN is neither less nor more than any limit, so it passes all of them.", slips=((True, "NaN got through. It equals nothing, itself included, so == does not find it; math.isfinite does."),)),
        Case("infinity", math.inf, False, "No minimum stops it.", slips=((True, "Infinity got through. math.isfinite finds it, and NaN."),)),
        Case("minus infinity", -math.inf, False, "It is infinite as well.", slips=((True, "Infinity has two signs. math.isfinite finds both."),)),
        Case("NaN in a list in a list", [[math.nan]], False, "Lists in lists are walked over, too.", slips=((True, INSIDE), (Raised("TypeError"), NUMBERS_ALONE))),
        Case("infinity behind a good number", [1, math.inf], False, "One bad item is enough.", slips=((True, FIRST_ONLY), (Raised("TypeError"), NUMBERS_ALONE))),
        Case("infinity in an object", {"a": {"b": math.inf}}, False, "An object's values are values.", slips=((True, INSIDE), (Raised("TypeError"), NUMBERS_ALONE))),
        Case(
            "text",
            "nan",
            True,
            "The text nan is no number.",
            slips=(
                (False, AS_TEXT),
                (Raised("TypeError"), NUMBERS_ALONE),
                (Raised("RecursionError"), "Text is made of texts, without end: walk over lists and dicts only."),
            ),
        ),
        Case("null", {"a": None}, True, "null is good JSON.", slips=((Raised("TypeError"), NUMBERS_ALONE),)),
        Case("a long integer", 10**400, True, "Each int is finite, however long.", slips=((Raised("OverflowError"), "math.isfinite makes a float of its number, and this one is too long. Only floats need the question."),)),
        Case("nothing in it", {"a": [], "b": {}}, True, "Nothing in it is not finite.", slips=((False, "Empty lists and objects hold nothing that could be wrong: all() of nothing is true."),)),
    ),
)  # fmt: skip

CONTRACTS = (VALIDATE, CHECK_NAMES, TYPE_FITS, SUGGEST, FINITE)

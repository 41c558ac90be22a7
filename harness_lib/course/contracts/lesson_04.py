"""What lesson 04 asks of its pieces: one registration for each tool, and one that can work."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

from harness_lib.binding import HandlerKeywords
from harness_lib.course.contract import Case, Contract, Raised
from harness_lib.registry import ToolRegistry
from harness_lib.schema import ANNOTATIONS, ENFORCED, _subschemas
from harness_lib.spec import ToolSpec


class _Scene:
    """What happens in a case, for a reader; and the function that makes it happen."""

    def __init__(self, story: str, play: Callable[..., object]) -> None:
        self.story = story
        self.play = play

    def __repr__(self) -> str:
        return self.story


def _days_schema(**days: object) -> dict[str, object]:
    rules = {"type": "integer", "minimum": 7} | days
    return {"type": "object", "properties": {"days": rules}, "required": ["days"]}


def _delete(days: int) -> str:
    return f"deleted what is {days} days old"


async def _delete_later(days: int) -> str:
    return f"deleted what is {days} days old"


# --- 04.registry: a function that gives the two classes, Spec and Registry ------------------------


def _drafts(Spec, Registry, schema: object = None):
    registry = Registry()
    registry.register(Spec("delete_drafts", "Delete.", schema or _days_schema(), _delete))
    return registry


def _of(found: object) -> object:
    """The limit that a spec or an entry of the catalogue holds."""
    schema = found["input_schema"] if isinstance(found, dict) else found.input_schema
    return schema["properties"]["days"].get("minimum")


def _found(Spec, Registry) -> object:
    registry = _drafts(Spec, Registry)
    answer = registry.get("delete_drafts").handler(days=9)
    return {"in": "delete_drafts" in registry, "len": len(registry), "its handler": answer}


def _unknown(Spec, Registry) -> object:
    registry = _drafts(Spec, Registry)
    return {"get": registry.get("drop_drafts"), "in": "drop_drafts" in registry}


def _catalogue(Spec, Registry) -> object:
    registry = _drafts(Spec, Registry)
    registry.register(Spec("count", "Count.", {"type": "object"}, lambda: "3", True))
    return registry.model_schemas()


def _changed_before(Spec, Registry) -> object:
    schema = _days_schema()
    registry = _drafts(Spec, Registry, schema)
    schema["properties"]["days"]["minimum"] = 0
    return {"get": _of(registry.get("delete_drafts")), "shown": _of(registry.model_schemas()[0])}


def _changed_catalogue(Spec, Registry) -> object:
    registry = _drafts(Spec, Registry)
    registry.model_schemas()[0]["input_schema"]["properties"]["days"]["minimum"] = 0
    return {"get": _of(registry.get("delete_drafts")), "shown": _of(registry.model_schemas()[0])}


def _changed_spec(Spec, Registry) -> object:
    registry = _drafts(Spec, Registry)
    registry.get("delete_drafts").input_schema["properties"]["days"]["minimum"] = 0
    return {"get": _of(registry.get("delete_drafts")), "shown": _of(registry.model_schemas()[0])}


def _verdict_on(registry, spec) -> str:
    try:
        registry.register(spec)
    except ValueError as error:
        return "refused" if spec.name in str(error) else f"refused, without the name: {error}"
    return "taken"


def _alone(handler: object, rules: dict[str, object], Spec, Registry) -> str:
    """What comes of a registration with one property, `a`, that may be left out."""
    schema = {"type": "object", "properties": {"a": rules}}
    return _verdict_on(Registry(), Spec("purge", "Purge.", schema, handler))


def _second(name: str, schema: object, handler: object, Spec, Registry) -> object:
    """What comes of one more registration, and what is left in the registry."""
    registry = _drafts(Spec, Registry)
    verdict = _verdict_on(registry, Spec(name, "One more.", schema, handler))
    return {
        "the second": verdict,
        "registered": [entry["name"] for entry in registry.model_schemas()],
        "the first": registry.get("delete_drafts").description,
    }


REFUSED = {"the second": "refused", "registered": ["delete_drafts"], "the first": "Delete."}


def _refusal(name: str, story: str, why: str, tool: tuple, said: str) -> Case:
    taken = REFUSED | {"the second": "taken", "registered": ["delete_drafts", tool[0]]}
    scene = _Scene(f"delete_drafts, then {story}", partial(_second, *tool))
    return Case(name, scene, REFUSED, why, slips=((taken, said),))


def _finished() -> tuple[type, type]:
    return ToolSpec, ToolRegistry


KEPT, LEAKED = {"get": 7, "shown": 7}, {"get": 0, "shown": 0}

REGISTRY = Contract(
    check_id="04.registry",
    piece="MyToolSpec and MyRegistry",
    library=_finished,
    observe=lambda piece, scene: scene.play(*piece()),
    cases=(
        Case(
            "a registered tool is found",
            _Scene("register delete_drafts, get it, run its handler with days=9", _found),
            {"in": True, "len": 1, "its handler": "deleted what is 9 days old"},
            "Look-up gives what runs.",
        ),
        Case(
            "a name that nobody registered",
            _Scene("register delete_drafts, get drop_drafts", _unknown),
            {"get": None, "in": False},
            "A model may ask for anything. An unknown name is an answer, not a crash.",
            slips=((Raised("KeyError"), "An unknown name raises. The model wrote it, so it will happen: give None."),),
        ),
        Case(
            "the catalogue, in order",
            _Scene("register two tools, and ask for model_schemas()", _catalogue),
            [
                {"name": "delete_drafts", "description": "Delete.", "input_schema": _days_schema()},
                {"name": "count", "description": "Count.", "input_schema": {"type": "object"}},
            ],
            "What is shown comes from the objects that are looked up, so the two cannot drift apart.",
        ),
        Case(
            "the dict that was passed in is changed",
            _Scene("register with minimum 7, then set it to 0 in the dict that was passed in", _changed_before),
            KEPT,
            "Two tools often share one dict of rules, and the second one gets adapted.",
            slips=((LEAKED, "The registry holds a dict that is the caller's own. Copy the schema, all the way down, when it is registered."),),
        ),
        Case(
            "the catalogue that was handed out is changed",
            _Scene("set the minimum to 0 in what model_schemas() gave", _changed_catalogue),
            KEPT,
            "Code that adapts the catalogue to a provider must not loosen what is enforced.",
            slips=((LEAKED, "The catalogue holds the registry's own dicts. Copy them, all the way down, when they are handed out."),),
        ),
        Case(
            "the spec that was handed out is changed",
            _Scene("set the minimum to 0 in the schema of what get() gave", _changed_spec),
            KEPT,
            "A frozen spec still has a dict in it.",
            slips=((LEAKED, "get() hands out the registry's own dict. Give a spec with a copy in it."),),
        ),
        Case(
            "a name for the second time",
            _Scene(
                "delete_drafts, then another tool that is named delete_drafts",
                partial(_second, "delete_drafts", _days_schema(), _delete),
            ),
            REFUSED,
            "Two plug-ins with one name: one of the two would be gone, and nobody told.",
            slips=((
                REFUSED | {"the second": "taken", "the first": "One more."},
                "The second tool took the place of the first, without a word.",
            ),),
        ),
        _refusal(
            "a name with a dot",
            "drafts.count",
            "The API refuses the whole request for one such name.",
            ("drafts.count", {"type": "object"}, lambda: "3"),
            "A name with a dot was taken. From now on each request is refused, whatever is asked.",
        ),
        _refusal(
            "a schema that is not of an object",
            'count, whose schema is {"type": "string"}',
            "Arguments are an object, so the API refuses the whole request.",
            ("count", {"type": "string"}, lambda: "3"),
            "A schema for text was taken. From now on each request is refused, whatever is asked.",
        ),
        _refusal(
            "a keyword that nobody enforces",
            "purge, with minimun for minimum",
            "A validator skips what it does not know, so the limit does not exist.",
            ("purge", {"type": "object", "properties": {"days": {"minimun": 7}}}, _delete),
            "A misspelt keyword was taken. The limit that it names will not be enforced.",
        ),
        _refusal(
            "a handler that takes another name",
            "purge, whose schema says days and whose handler says age",
            "Each call that the schema allows would fail in the handler.",
            ("purge", _days_schema(), lambda age: age),
            "A handler was taken that no good call can enter.",
        ),
        _refusal(
            "a coroutine function",
            "purge, whose handler is an async def",
            "Called, it only makes a coroutine: nothing runs, and nothing fails.",
            ("purge", _days_schema(), _delete_later),
            "A coroutine function was taken. Each call of it will look as if it had worked, and do nothing.",
        ),
        Case(
            "a misspelt keyword in the items of a list",
            _Scene("purge, with typ for type in the rules for the items", partial(_alone, lambda a=(): "", {"items": {"typ": "string"}})),
            "refused",
            "The rules for the items are a schema, too.",
            slips=(("taken", "A misspelt keyword was taken, one level below the property. What it asks for will not be enforced."),),
        ),
        Case(
            "a handler that needs what may be left out",
            _Scene("purge, whose schema requires nothing and whose handler needs a", partial(_alone, lambda a: "", {"type": "string"})),
            "refused",
            "The call without arguments is allowed, and fails in the handler.",
            slips=(("taken", "A handler was taken that the emptiest call cannot enter."),),
        ),
        Case(
            "a type that does not exist",
            _Scene("purge, with int for integer", partial(_alone, lambda a=0: "", {"type": "int"})),
            "refused",
            "A validator that meets an unknown type raises in the middle of a call.",
            slips=(("taken", "The keyword is right, what it holds is not, and the schema was taken."),),
        ),
    ),
)  # fmt: skip


# --- 04.1: an entry for the catalogue, detached ---------------------------------------------------


@dataclass(frozen=True)
class FirstSpec:
    """As in step 1: its own entry shares the schema, so that calling it is no answer."""

    name: str
    description: str
    input_schema: dict[str, object]
    handler: Callable[..., object]
    concurrent_safe: bool = False

    def model_schema(self) -> dict[str, object]:
        shown = ("name", "description", "input_schema")
        return {field: getattr(self, field) for field in shown}


def _spec() -> FirstSpec:
    return FirstSpec("delete_drafts", "Delete.", _days_schema(), _delete)


def _entry(piece) -> object:
    return piece(_spec())


def _changed(change: Callable[[dict], object], piece) -> object:
    """The spec's schema, after a change in the entry's; what came back, if that is no dict."""
    spec = _spec()
    entry = piece(spec)
    if not isinstance(entry, dict):
        return entry
    change(entry["input_schema"])
    return spec.input_schema


def _entry_twice(piece) -> object:
    spec = _spec()
    entry = piece(spec)
    if not isinstance(entry, dict):
        return entry
    entry["input_schema"]["properties"].clear()
    return piece(spec)["input_schema"]


ENTRY = {"name": "delete_drafts", "description": "Delete.", "input_schema": _days_schema()}
SHARED = "The dict in the entry is the spec's own. Whoever changes the entry changes the spec."

MODEL_SCHEMA = Contract(
    check_id="04.1",
    piece="model_schema",
    stub="530ccbc2f4b47b0a",
    library=ToolSpec.model_schema,
    observe=lambda piece, scene: scene.play(piece),
    cases=(
        Case(
            "the three keys",
            _Scene("the FirstSpec of delete_drafts", _entry),
            ENTRY,
            "This is the entry of the request's tools list, as the API knows it.",
            slips=(
                (None, "Nothing came back. Return a dict with the three keys."),
                (_spec(), "A spec came back, with all its fields. The request's list holds dicts: build one with the three keys."),
                (Raised("TypeError", "'FirstSpec' object is not subscriptable"), 'A spec has attributes and no keys: spec.name, not spec["name"].'),
                (
                    ENTRY | {"handler": _delete, "concurrent_safe": False},
                    "All five fields came back. The handler is the harness's business, and a function cannot be sent as JSON.",
                ),
                (
                    {"name": "delete_drafts", "description": "Delete.", "parameters": _days_schema()},
                    'The key "parameters" is OpenAI\'s. This API calls it "input_schema".',
                ),
            ),
        ),
        Case(
            "the entry's schema is changed",
            _Scene("set required to [] in the entry, then look at the spec", partial(_changed, lambda schema: schema.update(required=[]))),
            _days_schema(),
            "What is shown to the model and what is enforced must not be the same dict.",
            slips=((_days_schema() | {"required": []}, SHARED),),
        ),
        Case(
            "the entry is changed deep inside",
            _Scene("take the minimum of days out of the entry, then look at the spec", partial(_changed, lambda schema: schema["properties"]["days"].pop("minimum"))),
            _days_schema(),
            "A limit stands two dicts down, so a copy of the outside alone does not keep it.",
            slips=((
                {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]},
                "The minimum is gone from the spec. Some dict in the entry is still the spec's own: copy all the way down.",
            ),),
        ),
        Case(
            "asked for a second time",
            _Scene("empty the first entry's properties, then ask again", _entry_twice),
            _days_schema(),
            "Each request gets a catalogue of its own.",
            slips=((
                {"type": "object", "properties": {}, "required": ["days"]},
                "A change of the first entry stands in the second. The two share a dict: make a new copy each time.",
            ),),
        ),
    ),
)  # fmt: skip


# --- 04.2: keywords that nobody knows -------------------------------------------------------------

KNOWN = sorted(ENFORCED | ANNOTATIONS)


def _misspelt(schema: dict[str, object]) -> list[tuple[str, str | None]]:
    """With the library's walk; the lesson's reader knows three of its positions."""
    return [
        (keyword, next(iter(difflib.get_close_matches(keyword, KNOWN, n=1)), None))
        for _, subschema in _subschemas(schema)
        for keyword in subschema
        if keyword not in KNOWN
    ]


def _pairs(piece, schema: object) -> object:
    """What came back, in any order, and as pairs whether they are tuples or lists."""
    answer = piece(schema)
    if inspect.isgenerator(answer) or isinstance(answer, (set, tuple)):
        answer = list(answer)
    if not isinstance(answer, list):
        return answer
    return sorted((tuple(x) if isinstance(x, list) else x for x in answer), key=str)


def _object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


TYPES = [("types", "type")]
AS_LISTS = [("types", ["type"])]
A_LIST = "The suggestion is a list. get_close_matches gives a list: take its first."
TWO_FAULTS = "Two things at once. The name of a property, days, was taken for a keyword: the keys of properties are names, their values are schemas. And the suggestion is a list: take its first, or None if it is empty."
ONLY_PROPERTIES = (
    "Nothing was found. A schema stands there too, and its keywords count as everywhere."
)

MISSPELT = Contract(
    check_id="04.2",
    piece="misspelt",
    stub="9174637270fd0517",
    library=_misspelt,
    observe=_pairs,
    cases=(
        Case(
            "nothing is misspelt",
            _days_schema(title="Days", default=30),
            [],
            "A good schema must pass, or nobody will use the check.",
            slips=(
                (None, "Nothing came back. Return a list, empty if there is nothing to say."),
                ([("days", [])], TWO_FAULTS),
                ([("days", None)], "The name of a property, days, was taken for a keyword. The keys of properties are names; their values are schemas."),
            ),
        ),
        Case(
            "in a property",
            _object(days={"types": "integer"}),
            TYPES,
            "The commonest place of a slip.",
            slips=(
                ([], "Nothing was found. The schema of each property is a schema, too: look into properties."),
                (["types"], "The keyword came back alone. Give a pair: the keyword and its suggestion."),
                (AS_LISTS, A_LIST),
                ([("days", []), *AS_LISTS], TWO_FAULTS),
                (None, "Nothing came back. Return the list."),
            ),
        ),
        Case(
            "at the root",
            {"type": "object", "requierd": ["days"]},
            [("requierd", "required")],
            "A root whose required is misspelt requires nothing.",
            slips=(
                ([], "Nothing was found. The root is a schema, too: begin with its own keywords."),
                ([("requierd", ["required"])], A_LIST),
            ),
        ),
        Case(
            "nothing near it",
            {"type": "object", "zzz": 1},
            [("zzz", None)],
            "It is refused all the same, without a suggestion.",
            slips=(
                (Raised("IndexError"), "get_close_matches gave an empty list, and you took its first."),
                ([], "Nothing was found. A keyword without a near one is unknown as well: it belongs in the list, with None."),
                ([("zzz", [])], "The suggestion is an empty list. Take the first of what get_close_matches gives; if there is none, give None."),
                ([("zzz", "")], "The suggestion is empty text. Where there is none, give None."),
            ),
        ),
        Case(
            "a property that is called types",
            _object(types={"type": "string"}),
            [],
            "The keys of properties are the author's names, not keywords.",
            slips=(
                (TYPES, "The name of a property was taken for a keyword. Walk the values of properties, not their keys."),
                (AS_LISTS, "The name of a property was taken for a keyword: walk the values of properties, not their keys. And the suggestion is a list: take its first."),
            ),
        ),
        Case(
            "values that look like schemas",
            _object(title={"enum": [{"types": 1}], "default": {"types": 1}, "const": {"types": 1}}),
            [],
            "What stands in enum, default or const is a value, and may hold any word.",
            slips=(
                (TYPES * 3, "Every dict was taken for a schema. Go down in properties, items and anyOf alone."),
                (TYPES * 2, "The dicts under default and const were taken for schemas. Go down in properties, items and anyOf alone."),
                (TYPES, "The dict in enum was taken for a schema. The list of anyOf holds schemas, the list of enum holds values."),
            ),
        ),
        Case(
            "in the items of an array",
            _object(names={"type": "array", "items": {"types": "string"}}),
            TYPES,
            "The rules for each item are a schema.",
            slips=(([], ONLY_PROPERTIES),),
        ),
        Case(
            "in one branch of anyOf",
            _object(days={"anyOf": [{"type": "integer"}, {"types": "null"}]}),
            TYPES,
            "Each branch is a schema; anyOf holds a list of them.",
            slips=(([], ONLY_PROPERTIES),),
        ),
        Case(
            "four levels down",
            _object(rows={"items": {"anyOf": [_object(cell={"items": {"types": "string"}})]}}),
            TYPES,
            "A schema in a schema in a schema: the walk calls itself.",
            slips=(([], "Nothing was found. Somewhere on the way down your walk ends: let it call itself on each schema that it finds."),),
        ),
        Case(
            "true in place of a schema",
            _object(anything=True, names={"type": "array", "items": True}),
            [],
            "In JSON Schema, true is a schema that allows everything.",
            slips=(
                (Raised("TypeError"), "A schema may be true or false. Only a dict has keywords: look first."),
                (Raised("AttributeError"), "A schema may be true or false. Only a dict has keywords: look before you use it as one."),
            ),
        ),
    ),
)  # fmt: skip


# --- 04.3: does the handler fit its schema? -------------------------------------------------------


class _Handler:
    """A handler with a source to show, and a note of how often it was run."""

    def __init__(self, text: str, make: Callable[[SimpleNamespace], object]) -> None:
        self.text = text
        self.make = make

    def __repr__(self) -> str:
        return self.text


def _fits(handler: object, schema: dict[str, object]) -> bool:
    """With the library's rules, but for a handler without a signature, which the library takes."""
    try:
        if callable(handler):
            inspect.signature(handler)
        HandlerKeywords.of(handler, schema)
    except ValueError:
        return False
    return True


def _verdict(piece, sent: tuple[_Handler, dict]) -> object:
    handler, schema = sent
    notes = SimpleNamespace(runs=0)
    answer = piece(handler.make(notes), schema)
    return f"{answer}, and the handler ran: {notes.runs}" if notes.runs else answer


def _counting(notes: SimpleNamespace) -> object:
    def delete(days):
        notes.runs += 1

    return delete


def _by_position(days, /):
    return days


class _Box:
    def delete(self, days):
        return days


def _two(*required: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {"days": {"type": "integer"}, "folder": {"type": "string"}},
        "required": list(required),
    }


NEEDS_TOO_MUCH = "A call that leaves folder out is allowed by the schema, and the handler cannot take it. Try the required properties alone as well."
TAKES_TOO_LITTLE = "A call with folder is allowed by the schema, and the handler does not take it. Try all the properties as well."
HAS_A_DEFAULT = "folder may be left out of the call, and the handler has a default for it: both calls can be made. The names of the handler and those of the schema need not be the same."

FITS = Contract(
    check_id="04.3",
    piece="fits",
    stub="e0f70774871722c3",
    library=_fits,
    observe=_verdict,
    cases=(
        Case(
            "the same names",
            (_Handler("lambda days: ...", lambda notes: lambda days: days), _days_schema()),
            True,
            "The usual good tool.",
            slips=(
                (None, "Nothing came back. Return True or False."),
                (False, "Both calls can be made here. A mistake inside a try gives False as well: required is a list, and ** needs a mapping, as in bind(**dict.fromkeys(names))."),
                (Raised("TypeError"), "A TypeError leaves your function, and both calls can be made here. Look at how you try them: required is a list, and ** needs a mapping, as in bind(**dict.fromkeys(names))."),
            ),
        ),
        Case(
            "another name",
            (_Handler("lambda age: ...", lambda notes: lambda age: age), _days_schema()),
            False,
            "No call that the schema allows could be made.",
            slips=(
                (Raised("TypeError"), "A TypeError leaves your function. From bind() it means that the call cannot be made: catch it, and return False."),
                (True, "The handler takes age, the schema says days: no call of it can be made."),
            ),
        ),
        Case(
            "optional in the schema, needed by the handler",
            (_Handler("lambda days, folder: ...", lambda notes: lambda days, folder: days), _two("days")),
            False,
            "It works in every test that fills in all fields, and fails when the model leaves one out.",
            slips=((True, NEEDS_TOO_MUCH),),
        ),
        Case(
            "in the schema, unknown to the handler",
            (_Handler("lambda days: ...", lambda notes: lambda days: days), _two("days")),
            False,
            "It works until the model uses the property that it was shown.",
            slips=((True, TAKES_TOO_LITTLE),),
        ),
        Case(
            "optional in both",
            (_Handler('lambda days, folder="all": ...', lambda notes: lambda days, folder="all": days), _two("days")),
            True,
            "A default in the handler is what makes a property optional.",
            slips=((False, HAS_A_DEFAULT),),
        ),
        Case(
            "by keyword only",
            (_Handler("lambda *, days: ...", lambda notes: lambda *, days: days), _days_schema()),
            True,
            "Arguments go to a handler by name, and this one takes no others.",
            slips=((False, "This handler takes days by keyword, and by keyword alone: that fits. Names go to bind() as keywords, bind(**dict.fromkeys(names)); with bind(*names) each name is tried as a value by position."),),
        ),
        Case(
            "the handler takes any name",
            (_Handler("lambda **kw: ...", lambda notes: lambda **kw: kw), _two("days")),
            True,
            "A handler that hands its arguments on has no names of its own.",
            slips=((False, "A handler with **kw takes every name by keyword, and nothing by position. Let bind(**dict.fromkeys(names)) decide: a list of the handler's names does not know it, and bind(*names) tries positions."),),
        ),
        Case(
            "a parameter that the schema does not know",
            (_Handler('lambda days, tz="UTC": ...', lambda notes: lambda days, tz="UTC": days), _days_schema()),
            True,
            "The harness may keep a switch of its own, which the model is not shown.",
            slips=((False, "tz has a default, so no call needs it. The handler may have more than the schema shows."),),
        ),
        Case(
            "no properties at all",
            (_Handler("lambda: ...", lambda notes: lambda: "3"), {"type": "object"}),
            True,
            "properties and required may both be missing from a schema.",
            slips=((Raised("KeyError"), "A schema need not have properties or required. Read them with .get() and an empty default."),),
        ),
        Case(
            "a bound method",
            (_Handler("box.delete, defined as delete(self, days)", lambda notes: _Box().delete), _days_schema()),
            True,
            "self is filled in already, and inspect.signature knows.",
            slips=((False, "self is filled in already, so both calls can be made. inspect.signature() of a bound method leaves self out; __code__ does not."),),
        ),
        Case(
            "a partial",
            (_Handler("partial(lambda root, days: ..., 'drafts')", lambda notes: partial(lambda root, days: days, "drafts")), _days_schema()),
            True,
            "root is filled in already, and inspect.signature knows.",
            slips=((Raised("AttributeError"), "Not every handler is a plain function with a __code__. inspect.signature() works for them all."),),
        ),
        Case(
            "by position only",
            (_Handler("def delete(days, /)", lambda notes: _by_position), _days_schema()),
            False,
            "Arguments go to a handler by name, and this one takes none by name.",
            slips=((True, "The names agree, and yet days cannot be passed by name. bind(**dict.fromkeys(names)) knows; a list of names and bind(*names) do not."),),
        ),
        Case(
            "no function",
            (_Handler("the text 'delete_drafts'", lambda notes: "delete_drafts"), _days_schema()),
            False,
            "The name of a function is not a function.",
            slips=((Raised("TypeError"), "A TypeError leaves your function. From inspect.signature() it means that this cannot be called at all: let all of it stand inside the try."),),
        ),
        Case(
            "a built-in without a signature",
            (_Handler("max, of which Python tells no signature", lambda notes: max), _days_schema()),
            False,
            "Where nobody can know, the answer is no: a registration fails closed.",
            slips=(
                (Raised("ValueError"), "A ValueError leaves your function. inspect.signature() raises it where there is no signature to read: catch it beside the TypeError."),
                (True, "Python tells no signature of max, so nobody knows that it fits. Catch the ValueError, and return False."),
            ),
        ),
        Case(
            "nothing runs",
            (_Handler("lambda days: ..., which counts its runs", _counting), _days_schema()),
            True,
            "At registration nobody has asked for anything to be deleted.",
            slips=(
                ("True, and the handler ran: 1", "The handler was called to find out, and did its work. bind() compares without calling."),
                ("True, and the handler ran: 2", "The handler was called twice to find out, and did its work. bind() compares without calling."),
            ),
        ),
    ),
)  # fmt: skip

CONTRACTS = (REGISTRY, MODEL_SCHEMA, MISSPELT, FITS)

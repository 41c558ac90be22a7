"""Wrong answers to lesson 04."""

import copy
import dataclasses
import difflib
import inspect
import json
import sys
import threading
from dataclasses import dataclass, replace

from harness_lib.course.contracts.lesson_04 import KNOWN
from harness_lib.registry import ToolRegistry
from harness_lib.spec import ToolSpec
from tests.wrong_answers import wrong

# --- the lesson's own pieces ----------------------------------------------------------------------


class Registry(ToolRegistry):
    """The library's, to be spoilt in one place."""

    def __init__(self):
        self.specs = {}

    def register(self, spec):
        ToolRegistry([spec])
        self.add(spec)

    def add(self, spec):
        if spec.name in self.specs:
            raise ValueError(f"{spec.name} is registered already")
        self.specs[spec.name] = self.taken_in(spec)

    def taken_in(self, spec):
        return replace(spec, input_schema=copy.deepcopy(spec.input_schema))

    def given_out(self, spec):
        return replace(spec, input_schema=copy.deepcopy(spec.input_schema))

    def get(self, name):
        return self.given_out(self.specs[name]) if name in self.specs else None

    def model_schemas(self):
        return [spec.model_schema() for spec in self.specs.values()]

    def __len__(self):
        return len(self.specs)

    def __contains__(self, name):
        return name in self.specs


@wrong("04.registry", "An unknown name raises.")
def looks_up_with_brackets():
    class Brackets(Registry):
        def get(self, name):
            return self.given_out(self.specs[name])

    return ToolSpec, Brackets


@wrong("04.registry", "The registry holds a dict that is the caller's own.")
@wrong("04.registry", "get() hands out the registry's own dict.")
def keeps_what_comes():
    class Keeps(Registry):
        def taken_in(self, spec):
            return spec

        given_out = taken_in

    return ToolSpec, Keeps


@wrong("04.registry", "The registry holds a dict that is the caller's own.")
def copies_the_outside_alone():
    class Shallow(Registry):
        def taken_in(self, spec):
            return replace(spec, input_schema=dict(spec.input_schema))

    return ToolSpec, Shallow


@wrong("04.registry", "The catalogue holds the registry's own dicts.")
def shows_its_own_dicts():
    @dataclass(frozen=True)
    class Attached(ToolSpec):
        def model_schema(self):
            shown = ("name", "description", "input_schema")
            return {field: getattr(self, field) for field in shown}

    return Attached, Registry


@wrong("04.registry", "The second tool took the place of the first, without a word.")
def overwrites():
    class Overwrites(Registry):
        def add(self, spec):
            self.specs[spec.name] = self.taken_in(spec)

    return ToolSpec, Overwrites


@wrong("04.registry", "From now on each request is refused")
@wrong("04.registry", "The limit that it names will not be enforced.")
@wrong("04.registry", "A schema for text was taken.")
@wrong("04.registry", "A handler was taken that no good call can enter.")
@wrong("04.registry", "look as if it had worked, and do nothing")
@wrong("04.registry", "one level below the property")
@wrong("04.registry", "that the emptiest call cannot enter")
@wrong("04.registry", "what it holds is not, and the schema was taken")
def checks_nothing():
    class Trusting(Registry):
        def register(self, spec):
            self.add(spec)

    return ToolSpec, Trusting


@wrong("04.registry", "refused, without the name: something is wrong")
def does_not_say_which():
    class Vague(Registry):
        def register(self, spec):
            try:
                super().register(spec)
            except ValueError:
                raise ValueError("something is wrong") from None

    return ToolSpec, Vague


@wrong("04.registry", "'parameters'")
def shows_another_shape():
    class Foreign(Registry):
        def model_schemas(self):
            shown = super().model_schemas()
            for entry in shown:
                entry["parameters"] = entry["input_schema"]
            return shown

    return ToolSpec, Foreign


@wrong("04.registry", "'len': 0")
def counts_nothing():
    class Uncounted(Registry):
        def __len__(self):
            return 0

        def __contains__(self, name):
            return True

    return ToolSpec, Uncounted


# --- 04.1 -----------------------------------------------------------------------------------------


def entry(spec, schema):
    return {"name": spec.name, "description": spec.description, "input_schema": schema}


@wrong("04.1", "Nothing came back. Return a dict with the three keys.")
def forgets_to_return(spec):
    entry(spec, copy.deepcopy(spec.input_schema))


@wrong("04.1", "A spec came back, with all its fields.")
def copies_the_whole_spec(spec):
    return copy.deepcopy(spec)


@wrong("04.1", "A spec has attributes and no keys")
def takes_the_spec_for_a_dict(spec):
    return copy.deepcopy({key: spec[key] for key in ("name", "description", "input_schema")})


@wrong("04.1", "a function cannot be sent as JSON")
def all_five_fields(spec):
    return dataclasses.asdict(spec)


@wrong("04.1", 'The key "parameters" is OpenAI\'s.')
def the_other_providers_key(spec):
    made = entry(spec, copy.deepcopy(spec.input_schema))
    made["parameters"] = made.pop("input_schema")
    return made


@wrong("04.1", "Whoever changes the entry changes the spec.")
@wrong("04.1", "A change of the first entry stands in the second.")
def shares_the_schema(spec):
    return entry(spec, spec.input_schema)


@wrong("04.1", "Whoever changes the entry changes the spec.")
def asks_the_spec(spec):
    return spec.model_schema()


@wrong("04.1", "Some dict in the entry is still the spec's own")
def copies_once(spec):
    return entry(spec, dict(spec.input_schema))


@wrong("04.1", "make a new copy each time")
def remembers_its_entry(spec, made={}):
    if made.get("for") is not spec:
        made.update({"for": spec, "entry": entry(spec, copy.deepcopy(spec.input_schema))})
    return made["entry"]


@wrong("04.1", '"description": "Delete."')
def as_text(spec):
    return json.dumps(entry(spec, spec.input_schema))


# --- 04.2 -----------------------------------------------------------------------------------------


def near_one(keyword):
    return next(iter(difflib.get_close_matches(keyword, KNOWN, n=1)), None)


def walk(schema, pair=near_one, keys=("properties", "items", "anyOf"), depth=99):
    if not isinstance(schema, dict) or depth < 0:
        return []
    found = [(keyword, pair(keyword)) for keyword in schema if keyword not in KNOWN]
    inside = list(schema.get("properties", {}).values()) if "properties" in keys else []
    inside += [schema.get("items")] if "items" in keys else []
    inside += schema.get("anyOf", []) if "anyOf" in keys else []
    for child in inside:
        found += walk(child, pair, keys, depth - 1)
    return found


@wrong("04.2", "Return a list, empty if there is nothing to say.")
@wrong("04.2", "Nothing came back. Return the list.")
def returns_nothing(schema):
    walk(schema)


@wrong("04.2", "The schema of each property is a schema, too")
def the_root_alone(schema):
    return walk(schema, keys=())


@wrong("04.2", "The keyword came back alone.")
def keywords_alone(schema):
    return [keyword for keyword, _ in walk(schema)]


@wrong("04.2", "get_close_matches gives a list: take its first")
@wrong("04.2", "The suggestion is an empty list.")
def the_whole_list(schema):
    return walk(schema, lambda keyword: difflib.get_close_matches(keyword, KNOWN, n=1))


@wrong("04.2", "begin with its own keywords")
def properties_alone(schema):
    return [pair for child in schema.get("properties", {}).values() for pair in walk(child)]


@wrong("04.2", "and you took its first")
def takes_the_first(schema):
    return walk(schema, lambda keyword: difflib.get_close_matches(keyword, KNOWN, n=1)[0])


@wrong("04.2", "it belongs in the list, with None")
def silent_without_a_near_one(schema):
    return [pair for pair in walk(schema) if pair[1]]


@wrong("04.2", "The suggestion is empty text.")
def empty_suggestion(schema):
    return walk(schema, lambda keyword: near_one(keyword) or "")


def every_dict(value, lists=True):
    if isinstance(value, list) and lists:
        return [pair for child in value for pair in every_dict(child)]
    if not isinstance(value, dict):
        return []
    found = [(key, near_one(key)) for key in value if key not in KNOWN]
    return found + [pair for child in value.values() for pair in every_dict(child, lists)]


@wrong("04.2", "The name of a property was taken for a keyword.")
@wrong("04.2", "The name of a property, days, was taken for a keyword.")
@wrong("04.2", "Every dict was taken for a schema.")
def walks_everything(schema):
    return every_dict(schema)


@wrong("04.2", "The dicts under default and const were taken for schemas.")
def walks_every_dict(schema):
    return every_dict(schema, lists=False)


@wrong("04.2", "The dict in enum was taken for a schema.")
def walks_every_list(schema):
    if not isinstance(schema, dict):
        return []
    found = [(keyword, near_one(keyword)) for keyword in schema if keyword not in KNOWN]
    for keyword, value in schema.items():
        if keyword == "properties":
            value = list(value.values())
        for child in value if isinstance(value, list) else [value] if keyword == "items" else []:
            found += walks_every_list(child)
    return found


@wrong("04.2", "Two things at once. The name of a property, days, was taken for a keyword")
@wrong("04.2", "walk the values of properties, not their keys. And the suggestion is a list")
def walks_everything_with_lists(schema):
    return [(key, difflib.get_close_matches(key, KNOWN, n=1)) for key, _ in every_dict(schema)]


@wrong("04.2", "A schema stands there too")
def no_items_and_no_branches(schema):
    return walk(schema, keys=("properties",))


@wrong("04.2", "Somewhere on the way down your walk ends")
def two_levels(schema):
    return walk(schema, depth=2)


@wrong("04.2", "Only a dict has keywords: look first.")
def takes_true_for_a_dict(schema):
    found = [(keyword, near_one(keyword)) for keyword in schema if keyword not in KNOWN]
    for child in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        found += takes_true_for_a_dict(child)
    return found + (takes_true_for_a_dict(schema["items"]) if "items" in schema else [])


@wrong("04.2", "look before you use it as one")
def asks_true_for_items(schema):
    found = [(keyword, near_one(keyword)) for keyword in schema.keys() if keyword not in KNOWN]
    for child in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        found += asks_true_for_items(child)
    return found + (asks_true_for_items(schema["items"]) if "items" in schema else [])


@wrong("04.2", "an endless loop, or a deadlock?")
def never_done(schema):
    waiting = [schema]
    while waiting:
        waiting.append(waiting.pop())


@wrong("04.2", "it tried to end the program (SystemExit)")
def gives_up(schema):
    if walk(schema):
        sys.exit("a misspelt keyword")
    return []


# --- 04.3 -----------------------------------------------------------------------------------------


def can_bind(handler, names):
    try:
        inspect.signature(handler).bind(**dict.fromkeys(names))
    except (TypeError, ValueError):
        return False
    return True


def properties_of(schema):
    return schema.get("properties", {})


def right(handler, schema):
    return can_bind(handler, properties_of(schema)) and can_bind(
        handler, schema.get("required", ())
    )


@wrong("04.3", "Nothing came back. Return True or False.")
def says_nothing(handler, schema):
    right(handler, schema)


@wrong("04.3", "From bind() it means that the call cannot be made: catch it")
@wrong("04.3", "let all of it stand inside the try")
def lets_bind_raise(handler, schema):
    parameters = inspect.signature(handler).parameters.values()
    if any(p.kind is p.POSITIONAL_ONLY for p in parameters):
        return False
    inspect.signature(handler).bind(**properties_of(schema))
    inspect.signature(handler).bind(**dict.fromkeys(schema.get("required", ())))
    return True


@wrong("04.3", "A mistake inside a try gives False as well")
def stars_on_a_list(handler, schema):
    try:
        signature = inspect.signature(handler)
        signature.bind(**properties_of(schema))
        signature.bind(**schema.get("required", []))
    except (TypeError, ValueError):
        return False
    return True


@wrong("04.3", "A TypeError leaves your function, and both calls can be made here.")
def stars_on_a_list_outside_the_try(handler, schema):
    if not can_bind(handler, properties_of(schema)):
        return False
    inspect.signature(handler).bind(**schema.get("required", []))
    return True


@wrong("04.3", "catch it beside the TypeError")
def catches_type_errors_alone(handler, schema):
    try:
        signature = inspect.signature(handler)
        signature.bind(**dict.fromkeys(properties_of(schema)))
        signature.bind(**dict.fromkeys(schema.get("required", ())))
    except TypeError:
        return False
    return True


@wrong("04.3", "nobody knows that it fits")
def takes_what_tells_nothing(handler, schema):
    return handler is max or right(handler, schema)


@wrong("04.3", "The handler takes age, the schema says days")
def takes_all(handler, schema):
    return True


@wrong("04.3", "Try the required properties alone as well.")
def the_fullest_alone(handler, schema):
    return can_bind(handler, properties_of(schema))


@wrong("04.3", "Try all the properties as well.")
def the_emptiest_alone(handler, schema):
    return can_bind(handler, schema.get("required", ()))


@wrong("04.3", "The names of the handler and those of the schema need not be the same.")
def equal_to_the_required(handler, schema):
    return set(inspect.signature(handler).parameters) == set(schema.get("required", ()))


@wrong("04.3", "A handler with **kw takes every name by keyword")
@wrong("04.3", "tz has a default, so no call needs it.")
@wrong("04.3", "A schema need not have properties or required.")
@wrong("04.3", "a list of names and bind(*names) do not")
def equal_to_the_properties(handler, schema):
    return set(inspect.signature(handler).parameters) == set(schema["properties"])


@wrong("04.3", "with bind(*names) each name is tried as a value by position")
@wrong("04.3", "and bind(*names) tries positions")
def the_required_by_position(handler, schema):
    if not can_bind(handler, properties_of(schema)):
        return False
    try:
        inspect.signature(handler).bind(*schema.get("required", ()))
    except (TypeError, ValueError):
        return False
    return True


@wrong("04.3", "a list of names and bind(*names) do not")
@wrong("04.3", "with bind(*names) each name is tried as a value by position")
def all_by_position(handler, schema):
    try:
        signature = inspect.signature(handler)
        signature.bind(*properties_of(schema))
        signature.bind(*schema.get("required", ()))
    except (TypeError, ValueError):
        return False
    return True


@wrong("04.3", "inspect.signature() of a bound method leaves self out")
def counts_self(handler, schema):
    if hasattr(handler, "__func__"):
        handler = handler.__func__
    return right(handler, schema)


@wrong("04.3", "inspect.signature() works for them all")
def reads_the_code(handler, schema):
    return bool(handler.__code__) and right(handler, schema)


@wrong("04.3", "The handler was called to find out, and did its work.")
def calls_it(handler, schema):
    if not right(handler, schema):
        return False
    handler(**properties_of(schema))
    return True


@wrong("04.3", "The handler was called twice to find out")
def calls_it_twice(handler, schema):
    try:
        handler(**properties_of(schema))
        handler(**dict.fromkeys(schema.get("required", ())))
    except TypeError:
        return False
    return True


@wrong("04.3", "an endless loop, or a deadlock?")
def locks_itself_out(handler, schema):
    lock = threading.Lock()
    with lock, lock:
        return right(handler, schema)


@wrong("04.3", "it tried to end the program (SystemExit)")
def exits_where_it_does_not_fit(handler, schema):
    return right(handler, schema) or sys.exit("does not fit")

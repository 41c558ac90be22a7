"""What lesson 02 asks of its pieces: a look-up by name, whole lines, and two lists in step."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

from harness_lib.call import ToolCall
from harness_lib.course.contract import Case, Contract, Raised
from harness_lib.files import read_page
from harness_lib.registry import ToolRegistry
from harness_lib.spec import ToolSpec

HANDLERS = {
    "bash": lambda **kw: f"bash ran {kw['command']}",
    "read_file": lambda **kw: f"read {kw['path']}, {kw.get('limit', 'all')} lines",
    "list_files": lambda **kw: f"listed, with {len(kw)} arguments",
    "grep_file": lambda **kw: f"found {kw['pattern']} in {kw['path']}",
}


class _Calling:
    """One call, and the names of the tools that are in the map."""

    def __init__(self, name: str, arguments: dict[str, object], *known: str) -> None:
        self.name, self.arguments, self.known = name, arguments, known

    def __repr__(self) -> str:
        return f"{self.name} {self.arguments}, with {', '.join(self.known)} in the map"


REFUSED = "an answer that names the tool"


def _answer_of(piece, sent: _Calling) -> object:
    block = SimpleNamespace(type="tool_use", id="toolu_1", name=sent.name, input=sent.arguments)
    answer = piece(block, {name: HANDLERS[name] for name in sent.known})
    if sent.name not in sent.known and isinstance(answer, str) and sent.name in answer:
        return REFUSED  # in whatever words
    return answer


def _by_registry(block: object, handlers: dict) -> str:
    """The library's look-up, with the same handlers and schemas that take anything."""
    specs = [ToolSpec(name, "", {"type": "object"}, run) for name, run in handlers.items()]
    return ToolRegistry(specs).dispatch(ToolCall.from_block(block)).content


MAP = Contract(
    check_id="02.map",
    piece="run_by_map",
    library=_by_registry,
    observe=_answer_of,
    cases=(
        Case(
            "bash is in the map",
            _Calling("bash", {"command": "ls"}, "bash", "read_file"),
            "bash ran ls",
            "The name alone decides what runs.",
        ),
        Case(
            "read_file, limit before path",
            _Calling("read_file", {"limit": 2, "path": "a.txt"}, "bash", "read_file"),
            "read a.txt, 2 lines",
            "Each tool has its own parameters, and a model may write them in any order.",
        ),
        Case(
            "list_files, no arguments",
            _Calling("list_files", {}, "list_files"),
            "listed, with 0 arguments",
            "A tool may need none.",
        ),
        Case(
            "grep_file, added to the map",
            _Calling("grep_file", {"path": "a.txt", "pattern": "Ada"}, "bash", "grep_file"),
            "found Ada in a.txt",
            "A new entry has to be enough: no code changes.",
        ),
        Case(
            "grep_file, not in the map",
            _Calling("grep_file", {"path": "a.txt", "pattern": "Ada"}, "bash", "read_file"),
            REFUSED,
            "The model waits for an answer, and can only mend a name that it is shown.",
        ),
        Case(
            "Read_File, where read_file is",
            _Calling("Read_File", {"path": "a.txt"}, "read_file"),
            REFUSED,
            "A guess would run a tool that nobody asked for.",
        ),
    ),
)


def _page(text: str, limit: int | None) -> str:
    """The library's reader; its note also names the offset to go on with, which is left out."""
    page = str(read_page(io.BytesIO(text.encode()), 1, limit))
    return re.sub(r"; go on with offset=\d+\]$", "]", page)


LINES = "a\nb\nc\n"
NO_LINE_END = "The note stands in the last line shown. Either the end of that line was lost, or your code counted characters in place of lines."

READ = Contract(
    check_id="02.1",
    piece="read_lines",
    stub="a48457089c6bca0b",
    library=_page,
    observe=lambda piece, sent: piece(*sent),
    cases=(
        Case(
            "lines are left over",
            (LINES, 1),
            "a\n[2 more lines]",
            "The model has to know that it saw a part, and how large the rest is.",
            slips=(
                (None, "Nothing came back. Return the text."),
                ("a", "The cut is silent: one line came, without its end, and no word about the other two."),
                ("a\n", "The cut is silent: one line came, and no word about the two that did not."),
                (["a\n", "[2 more lines]"], "A list came back. The model is sent text: join it."),
                ("a[2 more lines]", NO_LINE_END),
                ("a\n[3 more lines]", "One line too many is counted. Either all lines are counted and not those left, or text.split('\\n') made an empty piece behind the last line end."),
                ("a\n[2 more lines]\n", "The note has a line end of its own; the exercise wants none after it."),
            ),
        ),
        Case(
            "one line is left over",
            (LINES, 2),
            "a\nb\n[1 more line]",
            "A note that reads oddly costs trust; this one costs an if.",
            slips=(("a\nb\n[1 more lines]", "One line is left, and the note says 'lines'."),),
        ),
        Case(
            "the limit is the number of lines",
            (LINES, 3),
            LINES,
            "Nothing is missing, so nothing may say so.",
            slips=(
                ("a\nb\nc\n[0 more lines]", "No line is left, and there is a note: the model would read it as a cut."),
                ("a\nb\nc", "The end of the last line was lost. '\\n'.join puts ends between lines alone; splitlines(keepends=True) keeps those that are there."),
                ("a\nb\n[1 more line]", "One line too few was shown: three were asked for, and there are three."),
            ),
        ),
        Case(
            "the limit is larger than the text",
            (LINES, 99),
            LINES,
            "A model asks for a hundred lines without knowing how many there are.",
            slips=(
                ("a\nb\nc\n[-96 more lines]", "The number of lines left went below zero. Count the lines shown, not the limit."),
                (Raised("IndexError"), "Your code asks for a line that is not there. A slice such as lines[:limit] simply ends."),
            ),
        ),
        Case(
            "no limit",
            (LINES, None),
            LINES,
            "A call that names no limit hands on None, and the whole text is wanted.",
            slips=(
                (Raised("TypeError"), "None cannot be compared or counted with. Ask for it before you do."),
                ("a\nb\nc\n[0 more lines]", "No line is left, and there is a note. Without a limit there is none."),
            ),
        ),
        Case(
            "a last line without an end",
            ("a\nb", 1),
            "a\n[1 more line]",
            "Many files end so. The last line is one like the others.",
            slips=(("a\n", "The last line was lost, and nobody is told. It has no line end: if your code counts those, it does not see it."),),
        ),
        Case(
            "the text ends without a line end, and all is shown",
            ("a\nb", 2),
            "a\nb",
            "What is shown is the file, not a tidied version of it.",
            slips=(("a\nb\n", "A line end came in that the text does not have. Keep the ends that are there: splitlines(keepends=True)."),),
        ),
    ),
)  # fmt: skip


def _grep_lines(text: str, pattern: str) -> str:
    lines = enumerate(text.splitlines(), start=1)
    found = [f"{number}: {line}" for number, line in lines if pattern in line]
    return "\n".join(found) or f"no match for {pattern!r}"


SHOP = "apples: $5\npears: $4\nboxes: 125\nrate: 1.5\nold apples: $1\n"
FROM_ZERO = "The first line got the number 0. People and editors count lines from 1."
END_TOO_MANY = "There is a line end after the last line; the exercise wants none."
NOT_LINE_2 = "It is line 2. Either the first line got the number 0, or your code numbers what it found in place of the lines."
THE_FOUND = "Your code numbers what it found. The model needs the number of the line in the file."
BOTH = "Two slips at once: the number is not that of the line (the first one is 1), and there is a line end after the last line."
A_PATTERN = "A sign of the text was taken for a command of a regular expression. The text is meant as it stands: `pattern in line`."

GREP = Contract(
    check_id="02.2",
    piece="grep_lines",
    stub="63262ebf884e12d1",
    library=_grep_lines,
    observe=lambda piece, sent: piece(*sent),
    cases=(
        Case(
            "one line",
            (SHOP, "pears"),
            "2: pears: $4",
            "With the number the model can say which line it means.",
            slips=(
                (None, "Nothing came back. Return the text."),
                (["2: pears: $4"], "A list came back. The model is sent text: join the lines."),
                ("1: pears: $4", NOT_LINE_2),
                ("pears: $4", "The line is right, and its number is missing."),
                ("2: pears", "Only the text that was looked for came back. The model needs the whole line around it."),
                ("2: pears: $4\n", END_TOO_MANY),
                ("1: pears: $4\n", BOTH),
            ),
        ),
        Case(
            "several lines",
            (SHOP, "apples"),
            "1: apples: $5\n5: old apples: $1",
            "All places count, in the order of the file, wherever in a line.",
            slips=(
                ("1: apples: $5", "Only one of two lines came: the search ended at its first match, or looks at the start of a line only."),
                ("1: apples: $55: old apples: $1", "The lines run into each other. Join them with a line end."),
                ("0: apples: $5\n4: old apples: $1", FROM_ZERO),
                ("1: apples: $5\n2: old apples: $1", THE_FOUND),
                ("1: apples: $5\n5: old apples: $1\n", END_TOO_MANY),
                ("0: apples: $5\n4: old apples: $1\n", BOTH),
            ),
        ),
        Case(
            "no line",
            (SHOP, "plums"),
            "no match for 'plums'",
            "Empty text could also mean an empty file, or a broken tool.",
            slips=(
                ("", "Empty text came back. The model cannot tell that from a tool that is broken: say that there is no match."),
                (None, "Nothing came back where no line matches. Say so, in words."),
                ("no match for plums", "The pattern stands there without quotes. {pattern!r} shows where it begins and ends."),
            ),
        ),
        Case(
            "a dot is a dot",
            (SHOP, "1.5"),
            "4: rate: 1.5",
            "That is what went wrong with sed: 125 is not 1.5.",
            slips=(
                ("3: boxes: 125\n4: rate: 1.5", A_PATTERN),
                ("3: rate: 1.5", FROM_ZERO),
                ("1: rate: 1.5", THE_FOUND),
                ("4: rate: 1.5\n", END_TOO_MANY),
                ("3: rate: 1.5\n", BOTH),
            ),
        ),
        Case(
            "a dollar is a dollar",
            (SHOP, "$4"),
            "2: pears: $4",
            "Prices, paths and code are full of signs that other tools give a meaning.",
            slips=(
                ("no match for '$4'", A_PATTERN),
                ("1: pears: $4", NOT_LINE_2),
                ("2: pears: $4\n", END_TOO_MANY),
                ("1: pears: $4\n", BOTH),
            ),
        ),
        Case(
            "capital letters count",
            ("Ada\nada\n", "ada"),
            "2: ada",
            "Exact text: what else to find is for the model to say.",
            slips=(
                ("1: Ada\n2: ada", "Capital and small letters were taken for the same. The text is meant as it stands."),
                ("1: ada", NOT_LINE_2),
                ("2: ada\n", END_TOO_MANY),
                ("1: ada\n", BOTH),
            ),
        ),
        Case(
            "an empty text",
            ("", "Ada"),
            "no match for 'Ada'",
            "An empty file is a file, and has an answer too.",
            slips=(("", "Empty text came back for an empty file. Say that there is no match."),),
        ),
    ),
)  # fmt: skip


class _Lists:
    """Two lists of tools, given by the names in them."""

    def __init__(self, told: str, runs: str) -> None:
        self.told, self.runs = told.split(), runs.split()

    def __repr__(self) -> str:
        return (
            f"tools: {', '.join(self.told) or 'none'}; handlers: {', '.join(self.runs) or 'none'}"
        )


def _two_lists(sent: _Lists) -> tuple[list[dict], dict]:
    tools = [{"name": name, "description": "", "input_schema": {}} for name in sent.told]
    return tools, dict.fromkeys(sent.runs, HANDLERS["bash"])


def _drift_of(piece, sent: _Lists) -> object:
    return piece(*_two_lists(sent))


def _drift_of_kept(piece, sent: _Lists) -> object:
    tools, handlers = _two_lists(sent)
    answer = piece(tools, handlers)
    as_sent, runs_as_sent = _two_lists(sent)
    kept = tools == as_sent and list(handlers.items()) == list(runs_as_sent.items())
    return answer if kept else CHANGED


def _drift(tools: list[dict], handlers: dict) -> tuple[list[str], list[str]]:
    told, runs = {tool["name"] for tool in tools}, set(handlers)
    return sorted(told - runs), sorted(runs - told)


CHANGED = "what was handed in is changed"
SWAPPED = "The two are the wrong way round. What is only told comes first, what only runs second."

DRIFT = Contract(
    check_id="02.3",
    piece="drift",
    stub="ce400d4f74394628",
    library=_drift,
    observe=_drift_of,
    cases=(
        Case(
            "in step",
            _Lists("bash read_file", "bash read_file"),
            ([], []),
            "The state to be in. It must not raise an alarm.",
            slips=(
                (None, "Nothing came back. Return a tuple of two lists."),
                ([[], []], "A list of two lists came back; the exercise wants a tuple: return one, other."),
                ((set(), set()), "Two sets came back. sorted() makes lists of them, in an order that is the same each time."),
                (([], ["bash", "read_file"]), "Names were looked for among the entries of tools, which are dicts. Compare names with names: tool['name']."),
                (Raised("TypeError", "unhashable type: 'dict'"), "An entry of tools is a dict, which no set can hold. Take its name: tool['name']."),
            ),
        ),
        Case(
            "in step, in another order",
            _Lists("bash read_file", "read_file bash"),
            ([], []),
            "A dict and a list need not have the same order to agree.",
            slips=((
                (["bash", "read_file"], ["bash", "read_file"]),
                "The lists were compared place by place. The same names in another order are no drift.",
            ),),
        ),
        Case(
            "told, and nothing runs",
            _Lists("bash list_files read_file", "bash read_file"),
            (["list_files"], []),
            "The model is promised a tool that does not exist.",
            slips=(
                (([], ["list_files"]), SWAPPED),
                (([], []), "list_files is told, and nothing runs it. Your code did not find that: does it look in both directions?"),
                (Raised("KeyError"), "A name that only one list has raises here, and that is just what is to be found."),
            ),
        ),
        Case(
            "runs, and nobody was told",
            _Lists("bash", "bash delete_file"),
            ([], ["delete_file"]),
            "A tool that was taken back can still be called.",
            slips=(
                ((["delete_file"], []), SWAPPED),
                (([], []), "delete_file runs, and nobody was told. Your code did not find that: does it look in both directions?"),
            ),
        ),
        Case(
            "as many names on both sides",
            _Lists("bash list_files", "bash delete_file"),
            (["list_files"], ["delete_file"]),
            "The dangerous case: the numbers agree.",
            slips=((([], []), "Both lists have two names, and the names differ. Equal numbers are not enough."),),
        ),
        Case(
            "several on each side, sorted",
            _Lists("zip ask bash", "run move bash"),
            (["ask", "zip"], ["move", "run"]),
            "A report that changes its order from run to run cannot be compared.",
            slips=(((["zip", "ask"], ["run", "move"]), "All names are found, in the order of the lists. The exercise wants them sorted."),),
        ),
        Case(
            "what was handed in stays as it was",
            _Lists("zip bash", "run bash"),
            (["zip"], ["run"]),
            "The harness goes on working with both.",
            observe=_drift_of_kept,
            slips=((CHANGED, "After your code ran, tools or handlers is no longer as it was. Sort, add or take away in a list of your own; sorted() makes one."),),
        ),
        Case(
            "no tools at all",
            _Lists("", ""),
            ([], []),
            "Empty lists agree.",
        ),
    ),
)  # fmt: skip

CONTRACTS = (MAP, READ, GREP, DRIFT)

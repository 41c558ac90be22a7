"""Wrong answers to lesson 02."""

import re
import sys
import threading

from tests.wrong_answers import wrong

# --- the lesson's own piece -----------------------------------------------------------------------


@wrong("02.map", "came back  None")
def a_chain_that_forgot_one(block, handlers):
    if block.name == "bash":
        return handlers["bash"](command=block.input["command"])
    elif block.name == "read_file":
        return handlers["read_file"](
            path=block.input["path"], limit=block.input.get("limit", "all")
        )


@wrong("02.map", "KeyError: 'grep_file'")
def indexes_the_map(block, handlers):
    return handlers[block.name](**block.input)


@wrong("02.map", "KeyError: 'command'")
def the_call_site_of_one_tool(block, handlers):
    return handlers["bash"](command=block.input["command"])


@wrong("02.map", "takes 0 positional arguments")
def hands_them_on_by_place(block, handlers):
    handler = handlers.get(block.name)
    return handler(*block.input.values()) if handler else f"Unknown tool: {block.name}"


@wrong("02.map", "A guess would run a tool that nobody asked for.")
def guesses(block, handlers):
    handler = handlers.get(block.name.lower())
    return handler(**block.input) if handler else f"Unknown tool: {block.name}"


@wrong("02.map", "The model waits for an answer, and can only mend a name that it is shown.")
def says_only_unknown(block, handlers):
    handler = handlers.get(block.name)
    return handler(**block.input) if handler else "Unknown tool"


# --- 02.1 -----------------------------------------------------------------------------------------


def read(text, limit, **changes):
    """The right answer, with one thing done otherwise."""
    lines = text.splitlines(keepends=True)
    shown = lines[:limit]
    left = changes.get("left", lambda lines, shown: len(lines) - len(shown))(lines, shown)
    if left == 0 and not changes.get("always"):
        return "".join(shown)
    word = "line" if left == 1 and not changes.get("plural") else "lines"
    return "".join(shown) + f"[{left} more {word}]"


@wrong("02.1", "Nothing came back. Return the text.")
def prints_it(text, limit):
    read(text, limit)


@wrong("02.1", "The cut is silent")
def cuts_in_silence(text, limit):
    return "".join(text.splitlines(keepends=True)[:limit])


@wrong("02.1", "one line came, without its end")
def cuts_the_end_too(text, limit):
    return "\n".join(text.split("\n")[:limit])


@wrong("02.1", "A list came back. The model is sent text: join it.")
def returns_a_list(text, limit):
    lines = text.splitlines(keepends=True)
    return [*lines[:limit], f"[{len(lines[limit:])} more lines]"]


@wrong("02.1", "or your code counted characters in place of lines")
def counts_characters(text, limit):
    left = len(text.splitlines()[limit:])
    return text[:limit] + (f"[{left} more line{'s' * (left != 1)}]" if left else "")


@wrong("02.1", "Either all lines are counted and not those left")
def counts_all(text, limit):
    return read(text, limit, left=lambda lines, shown: len(lines) if lines != shown else 0)


@wrong("02.1", "made an empty piece behind the last line end")
def splits_at_line_ends(text, limit):
    lines = text.split("\n")
    shown = lines[:limit]
    left = len(lines) - len(shown)
    if not left:
        return text
    return "\n".join(shown) + "\n" + f"[{left} more line{'' if left == 1 else 's'}]"


@wrong("02.1", "Either the end of that line was lost")
@wrong("02.1", "The end of the last line was lost.")
def joins_with_line_ends(text, limit):
    lines = text.splitlines()
    left = len(lines[limit:]) if limit is not None else 0
    note = f"[{left} more line{'' if left == 1 else 's'}]" if left else ""
    return "\n".join(lines[:limit]) + note


@wrong("02.1", "The note has a line end of its own")
def ends_the_note(text, limit):
    answer = read(text, limit)
    return answer + "\n" if answer.endswith("]") else answer


@wrong("02.1", "One line is left, and the note says 'lines'.")
def always_plural(text, limit):
    return read(text, limit, plural=True)


@wrong("02.1", "the model would read it as a cut")
@wrong("02.1", "Without a limit there is none.")
def always_a_note(text, limit):
    return read(text, limit, always=True)


@wrong("02.1", "One line too few was shown")
def one_too_few(text, limit):
    lines = text.splitlines()
    if limit is not None and limit >= len(lines):
        limit = len(lines) - 1
    return read(text, limit)


@wrong("02.1", "The number of lines left went below zero.")
@wrong("02.1", "None cannot be compared or counted with.")
def trusts_the_limit(text, limit):
    lines = text.splitlines(keepends=True)
    left = len(lines) - limit
    note = f"[{left} more line{'' if left == 1 else 's'}]" if left else ""
    return "".join(lines[:limit]) + note


@wrong("02.1", "Your code asks for a line that is not there.")
def asks_line_by_line(text, limit):
    lines = text.splitlines(keepends=True)
    shown = [lines[place] for place in range(len(lines) if limit is None else limit)]
    return read("".join(shown) + "".join(lines[len(shown) :]), limit)


@wrong("02.1", "The last line was lost")
def counts_line_ends(text, limit):
    left = text.count("\n") - len(text.splitlines()[:limit])
    shown = "".join(text.splitlines(keepends=True)[:limit])
    return shown + (f"[{left} more line{'' if left == 1 else 's'}]" if left > 0 else "")


@wrong("02.1", "A line end came in that the text does not have.")
def tidies(text, limit):
    answer = read("".join(line + "\n" for line in text.splitlines()), limit)
    return answer


# --- 02.2 -----------------------------------------------------------------------------------------


def grep(text, pattern, **changes):
    """The right answer, with one thing done otherwise."""
    fits = changes.get("fits", lambda line: pattern in line)
    line_of = changes.get("line_of", lambda number, line: f"{number}: {line}")
    lines = enumerate(text.splitlines(), start=changes.get("start", 1))
    found = [line_of(number, line) for number, line in lines if fits(line)]
    return changes.get("join", "\n".join)(found) or changes.get("none", f"no match for {pattern!r}")


@wrong("02.2", "Nothing came back. Return the text.")
def returns_nothing(text, pattern):
    grep(text, pattern)


@wrong("02.2", "A list came back.")
def returns_the_list(text, pattern):
    return grep(text, pattern, join=list)


@wrong("02.2", "The first line got the number 0.")
def counts_from_zero(text, pattern):
    return grep(text, pattern, start=0)


@wrong("02.2", "and its number is missing")
def without_numbers(text, pattern):
    return grep(text, pattern, line_of=lambda number, line: line)


@wrong("02.2", "Only the text that was looked for came back.")
def only_the_match(text, pattern):
    return grep(text, pattern, line_of=lambda number, line: f"{number}: {pattern}")


@wrong("02.2", "There is a line end after the last line")
def a_line_end_too_many(text, pattern):
    return grep(text, pattern, line_of=lambda number, line: f"{number}: {line}\n", join="".join)


@wrong("02.2", "Either the first line got the number 0, or your code numbers what it found")
@wrong("02.2", "The model needs the number of the line in the file.")
def numbers_what_it_found(text, pattern):
    found = [line for line in text.splitlines() if pattern in line]
    numbered = [f"{number}: {line}" for number, line in enumerate(found, start=1)]
    return "\n".join(numbered) or f"no match for {pattern!r}"


@wrong("02.2", "Two slips at once")
def from_zero_and_a_line_end_too_many(text, pattern):
    return grep(
        text,
        pattern,
        start=0,
        line_of=lambda number, line: f"{number}: {line}\n",
        join="".join,
    )


@wrong("02.2", "Only one of two lines came")
def ends_at_the_first(text, pattern):
    return grep(text, pattern).split("\n")[0]


@wrong("02.2", "Only one of two lines came")
def looks_at_the_start(text, pattern):
    return grep(text, pattern, fits=lambda line: line.startswith(pattern))


@wrong("02.2", "The lines run into each other.")
def runs_together(text, pattern):
    return grep(text, pattern, join="".join)


@wrong("02.2", "The model cannot tell that from a tool that is broken")
@wrong("02.2", "Empty text came back for an empty file.")
def silent_without_a_match(text, pattern):
    return grep(text, pattern, none="")


@wrong("02.2", "Nothing came back where no line matches.")
def none_without_a_match(text, pattern):
    return grep(text, pattern, none=None)


@wrong("02.2", "The pattern stands there without quotes.")
def without_quotes(text, pattern):
    return grep(text, pattern, none=f"no match for {pattern}")


@wrong("02.2", "was taken for a command of a regular expression")
def a_regular_expression(text, pattern):
    return grep(text, pattern, fits=lambda line: re.search(pattern, line))


@wrong("02.2", "Capital and small letters were taken for the same.")
def blind_to_capitals(text, pattern):
    return grep(text, pattern, fits=lambda line: pattern.lower() in line.lower())


@wrong("02.2", "an endless loop, or a deadlock?")
def looks_for_ever(text, pattern):
    while pattern not in text or pattern in text:
        pass


# --- 02.3 -----------------------------------------------------------------------------------------


def names_of(tools, handlers):
    return [tool["name"] for tool in tools], list(handlers)


@wrong("02.3", "Nothing came back. Return a tuple of two lists.")
def prints_the_drift(tools, handlers):
    pass


@wrong("02.3", "A list of two lists came back")
def a_list_of_lists(tools, handlers):
    told, runs = names_of(tools, handlers)
    return [sorted({*told} - {*runs}), sorted({*runs} - {*told})]


@wrong("02.3", "Two sets came back.")
def two_sets(tools, handlers):
    told, runs = names_of(tools, handlers)
    told, runs = {*told} - {*runs}, {*runs} - {*told}
    return set(sorted(told)[:1]), set(sorted(runs)[:1])  # of one: the order of more is chance


@wrong("02.3", "tools or handlers is no longer as it was.")
def sorts_in_place(tools, handlers):
    tools.sort(key=lambda tool: tool["name"])
    told, runs = names_of(tools, handlers)
    return [name for name in told if name not in runs], sorted({*runs} - {*told})


@wrong("02.3", "tools or handlers is no longer as it was.")
def uses_them_up(tools, handlers):
    told = []
    while tools:
        name = tools.pop()["name"]
        if name in handlers:
            del handlers[name]
        else:
            told.append(name)
    return sorted(told), sorted(handlers)


@wrong("02.3", "An entry of tools is a dict, which no set can hold.")
def a_set_of_entries(tools, handlers):
    return sorted(set(tools) - set(handlers)), sorted(set(handlers) - set(tools))


@wrong("02.3", "Names were looked for among the entries of tools")
def looks_among_entries(tools, handlers):
    told = sorted(tool["name"] for tool in tools if tool["name"] not in handlers)
    return told, sorted(name for name in handlers if name not in tools)


@wrong("02.3", "The lists were compared place by place.")
def place_by_place(tools, handlers):
    told, runs = names_of(tools, handlers)
    pairs = [(a, b) for a, b in zip(told, runs) if a != b]
    return sorted(a for a, b in pairs), sorted(b for a, b in pairs)


@wrong("02.3", "The two are the wrong way round.")
def the_wrong_way_round(tools, handlers):
    told, runs = names_of(tools, handlers)
    return sorted({*runs} - {*told}), sorted({*told} - {*runs})


@wrong("02.3", "delete_file runs, and nobody was told. Your code did not find that")
def only_what_is_told(tools, handlers):
    told, runs = names_of(tools, handlers)
    return sorted({*told} - {*runs}), []


@wrong("02.3", "list_files is told, and nothing runs it. Your code did not find that")
def only_what_runs(tools, handlers):
    told, runs = names_of(tools, handlers)
    return [], sorted({*runs} - {*told})


@wrong("02.3", "A name that only one list has raises here")
def removes_by_name(tools, handlers):
    left = dict(handlers)
    for tool in tools:
        left.pop(tool["name"])
    return [], sorted(left)


@wrong("02.3", "Equal numbers are not enough.")
def counts(tools, handlers):
    told, runs = names_of(tools, handlers)
    if len(told) == len(runs):
        return [], []
    return sorted({*told} - {*runs}), sorted({*runs} - {*told})


@wrong("02.3", "The exercise wants them sorted.")
def unsorted(tools, handlers):
    told, runs = names_of(tools, handlers)
    return [name for name in told if name not in runs], [name for name in runs if name not in told]


@wrong("02.3", "it tried to end the program (SystemExit)")
def exits_on_drift(tools, handlers):
    sys.exit("the lists differ")


@wrong("02.3", "an endless loop, or a deadlock?")
def locks_twice(tools, handlers):
    lock = threading.Lock()
    with lock, lock:
        return [], []

"""The five tools: what the model is told about them, and what runs. Built in lessons 09 and 10.

Each handler speaks for itself: it returns text, or raises ToolError with words for the model. No
message holds the host's absolute path. Nothing here knows of the registry.
"""

from __future__ import annotations

import codecs
import functools
import math
import os
import signal
import sys
from bisect import bisect_right
from collections.abc import Callable

from harness_lib import globbing
from harness_lib.environment import build_subprocess_env, find_shell
from harness_lib.files import MAX_EDIT_BYTES, encoded, read_page, replace_once
from harness_lib.process import run_process
from harness_lib.result import ToolError
from harness_lib.spec import ToolSpec, object_schema
from harness_lib.workspace import ROOT, Workspace

MAX_OUTPUT = 48_000  # bytes kept, characters shown; a result also holds a first line and a mark
_CONTINUATION = bytes(range(0x80, 0xC0))  # of a character in UTF-8
MAX_COMMAND_BYTES = 128 * 1024 - 1  # MAX_ARG_STRLEN, Linux's for one argument, without its NUL


def workspace_tools(
    workdir: str | os.PathLike[str], *, bash_timeout_s: float = 120.0
) -> tuple[ToolSpec, ...]:
    """bash, read_file, write_file, edit_file and glob, for one workspace. Built in lessons 09, 10.

    workdir: the directory that paths cannot leave and that commands start in.
    bash_timeout_s: seconds until a command is killed, math.inf for never.
    Raises ValueError for what cannot be a workspace (no directory, or "/"), or a time limit.
    """
    workspace = Workspace(workdir)
    shell = find_shell(workspace.root)
    seconds = isinstance(bash_timeout_s, int | float) and not isinstance(bash_timeout_s, bool)
    if not seconds or not (0 < bash_timeout_s <= sys.float_info.max or bash_timeout_s == math.inf):
        raise ValueError("bash_timeout_s must be a number of seconds above 0")

    @_for_the_model
    def bash(command: str) -> str:
        return _run_shell(workspace, shell, command, bash_timeout_s)

    @_for_the_model
    def read_file(path: str, limit: int | None = None, offset: int = 1) -> str:
        with workspace.open(path) as file:
            try:
                return str(read_page(file, offset, limit))
            except ValueError as error:
                raise _about(workspace, path, error) from None

    @_for_the_model
    def write_file(path: str, content: str) -> str:
        data = encoded(content, "content")  # all of it, before the file is touched
        workspace.write(path, data)
        size = f"{len(data):,} byte{'' if len(data) == 1 else 's'}"
        return f"wrote {size} to {_named(workspace, path)}"

    @_for_the_model
    def edit_file(path: str, old_text: str, new_text: str) -> str:
        line = 0

        def change(data: bytes) -> bytes:
            nonlocal line
            try:
                changed, line = replace_once(data, old_text, new_text)
            except ValueError as error:
                raise _about(workspace, path, error) from None
            return changed

        workspace.edit(path, change, MAX_EDIT_BYTES)
        return f"edited {_named(workspace, path)}: 1 replacement, at line {line:,}"

    @_for_the_model
    def glob(pattern: str) -> str:
        return globbing.find(workspace, pattern)

    path = _name("Path of a file, relative to the workspace; an absolute one inside it works too.")
    text = {"type": "string"}
    content = text | {"description": "The whole new content."}
    old_text = text | {"description": "What stands there now, exactly once."}
    new_text = text | {"description": "What takes its place; may be empty."}
    count = {"type": "integer", "minimum": 1}
    limit = count | {"description": "At most so many lines; all if left out."}
    offset = count | {"description": "The first line, counted from 1."}
    page = object_schema({"path": path, "limit": limit, "offset": offset}, ["path"])
    edit = _schema(path=path, old_text=old_text, new_text=new_text)
    pattern = _name("A pattern, relative to the workspace, such as **/*.py.")
    return (
        ToolSpec("bash", _BASH, _schema(command=_name("What to run; at most 128 KiB.")), bash),
        ToolSpec("read_file", _READ_FILE, page, read_file, concurrent_safe=True),
        ToolSpec("write_file", _WRITE_FILE, _schema(path=path, content=content), write_file),
        ToolSpec("edit_file", _EDIT_FILE, edit, edit_file),
        ToolSpec("glob", _GLOB, _schema(pattern=pattern), glob, concurrent_safe=True),
    )


_BASH = """\
Run a command with bash (with POSIX sh where there is no bash) in the workspace, and get what it \
wrote to stdout and stderr, in order. For what the other tools cannot do: run programs and tests, \
search in files. Each call is a new shell: no variable and no cd lasts. There is no input and no \
terminal, and what still runs in its session is killed when the command ends or its time is \
over. A non-zero exit status is an error that shows the output. Of long output only the beginning \
and the end are kept. HOME is the workspace, and few environment variables are passed on."""

_READ_FILE = """\
Read a UTF-8 text file, in whole lines, with its line ends as they are. Use it in place of cat. \
A long file comes in pages: the last line then says how many lines are left and the offset to go \
on with. A line that is too long for a page is cut, and the cut is named."""

_WRITE_FILE = """\
Write a whole file as UTF-8: a new one, or in place of all that an old one holds. Missing \
directories are made, and the text is taken as it is. To change a part of a file, use edit_file."""

_EDIT_FILE = """\
Replace one piece of text in a file by another; all other bytes stay as they are. old_text must \
stand in the file exactly once, down to spaces and line ends: take it from read_file, and add \
neighbouring lines until it is the only one. No match and several matches are errors, which \
change nothing. Files up to 10 MiB."""

_GLOB = """\
List the files and directories whose path fits a pattern: sorted, one a line, directories with a \
final slash. * and ? and [abc] stand for characters of one name, ** for any number of directories; \
there is no {a,b}. Names that begin with a dot are left out, unless that part of the pattern \
begins with one. Links are listed, not followed. At most 1,000 entries are listed."""


def _schema(**properties: dict[str, object]) -> dict[str, object]:
    return object_schema(properties, properties)


def _name(description: str) -> dict[str, object]:
    """A string that goes to the system, where no text may be empty or hold a NUL."""
    return {
        "type": "string",
        "minLength": 1,
        "pattern": r"^[^\x00]*$",
        "description": description,
    }


def _for_the_model(handler: Callable[..., str]) -> Callable[..., str]:
    """The one place where errors of files and paths turn into words for the model."""

    @functools.wraps(handler)
    def speaking(*args: object, **arguments: object) -> str:
        try:
            return handler(*args, **arguments)
        except OSError as error:
            raise ToolError(f"{error.filename!r}: {error.strerror}") from error
        except ValueError as error:
            raise ToolError(str(error)) from error

    return speaking


def _about(workspace: Workspace, path: str, error: ValueError) -> ValueError:
    """The error with the name of the file, of whose content alone it knows."""
    return ValueError(f"{workspace.shown(path)!r}: {error}")


def _named(workspace: Workspace, path: str) -> str:
    shown = workspace.shown(path)
    return shown if shown.isprintable() else repr(shown)


def _run_shell(
    workspace: Workspace, shell: tuple[str, list[str]], command: str, timeout_s: float
) -> str:
    """Run a command; its output, or a ToolError that begins with how it failed."""
    raw = encoded(command, "command")
    if not raw or b"\0" in raw:
        raise ToolError("the command is empty" if not raw else "the command holds a NUL character")
    if len(raw) > MAX_COMMAND_BYTES:
        raise ToolError(
            f"the command is {len(raw):,} bytes long, and the limit is {MAX_COMMAND_BYTES:,} "
            "(MAX_ARG_STRLEN, 128 KiB); write it to a file first and run that"
        )
    try:
        result = run_process(
            [*shell[1], raw],
            executable=shell[0],
            cwd=workspace.unmoved_root(),
            env=build_subprocess_env(workspace.root),
            timeout_s=timeout_s,
            max_output_bytes=MAX_OUTPUT,
        )
    except ChildProcessError as error:
        raise ToolError(f"no command was run: {error}") from error
    except OSError as error:  # its filename is the host's
        at_root = str(error.filename) in (ROOT, str(workspace.root))
        what = "the workspace cannot be entered" if at_root else "the shell could not be started"
        raise ToolError(f"{what}: {error.strerror}") from error
    output = _shown(result.head, result.left_out, result.tail)
    if result.timed_out:
        failure = f"timed out after {timeout_s:g} s, and was killed with all of its session"
    elif result.signal is not None:
        names = {known.value: known.name for known in signal.Signals}  # a real-time one has none
        failure = f"killed by signal {result.signal} ({names.get(result.signal, 'no name')})"
    elif result.exit_status is None:
        failure = "it ended, and something else in the harness took its exit status"
    elif result.exit_status:
        failure = f"exit status {result.exit_status}"
    else:
        return output
    raise ToolError(f"{failure}\n{output}" if output else failure)


def _shown(head: bytes, left_out: int, tail: bytes) -> str:
    """Output as text, whose escapes may leave less room for either end than it has bytes.

    Both are cut to their share, and the one mark between them counts all bytes that are missing.
    """
    size = len(head) + left_out + len(tail)
    if not left_out:
        head = tail = head + tail
        if len(text := _text(head)) <= MAX_OUTPUT:
            return text
    head = head[: _fitting(lambda n: head[:n], len(head))]
    tail = tail[len(tail) - _fitting(lambda n: tail[len(tail) - n :], len(tail)) :]
    head = head[: codecs.utf_8_decode(head, "replace")[1]]  # without the half of a character,
    tail = tail[:3].lstrip(_CONTINUATION) + tail[3:]  # of which no more than 3 bytes are here
    mark = f"[... {size - len(head) - len(tail):,} bytes left out ...]"
    return f"{_text(head)}\n{mark}\n{_text(tail)}"


def _fitting(end: Callable[[int], bytes], most: int) -> int:
    """How many bytes of an end can be shown in its share: all, or as many as a search finds."""
    if len(_text(end(most))) <= MAX_OUTPUT // 2:
        return most
    sizes = range(most)
    return bisect_right(sizes, MAX_OUTPUT // 2, key=lambda size: len(_text(end(size)))) - 1


def _text(data: bytes) -> str:
    return globbing.harmless(data.decode("utf-8", "replace").replace("\r\n", "\n"))

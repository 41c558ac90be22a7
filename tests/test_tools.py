"""What the five tools tell a model, and that they keep what they promise about files."""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import functools
import inspect
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from harness_lib import files, globbing, process, tools, walk
from harness_lib.result import MAX_CONTENT_CHARS, ToolError
from harness_lib.tools import workspace_tools
from harness_lib.workspace import Workspace
from tests.test_process import said_on

COPY_OF_LINUX_LIMIT = 131_072  # MAX_ARG_STRLEN, the last NUL included


class Tools:
    """The handlers of one workspace, by name: tools.read_file("a.txt")."""

    def __init__(self, root, **options):
        self.root = root
        self.specs = {spec.name: spec for spec in workspace_tools(root, **options)}

    def __getattr__(self, name):
        return self.specs[name].handler


@pytest.fixture
def root(tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.txt").write_text("A\n")
    (tmp_path / "ws" / "b.txt").write_text("B\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("SECRET")
    return tmp_path / "ws"


@pytest.fixture
def tool(root):
    return Tools(root)


def error_of(act, *arguments, **options) -> str:
    with pytest.raises(ToolError) as caught:
        act(*arguments, **options)
    return str(caught.value)


# The specs.


def test_the_table_of_tools(tool):
    table = {
        name: (
            spec.input_schema["required"],
            sorted(spec.input_schema["properties"]),
            spec.concurrent_safe,
        )
        for name, spec in tool.specs.items()
    }
    assert table == {
        "bash": (["command"], ["command"], False),
        "read_file": (["path"], ["limit", "offset", "path"], True),
        "write_file": (["path", "content"], ["content", "path"], False),
        "edit_file": (
            ["path", "old_text", "new_text"],
            ["new_text", "old_text", "path"],
            False,
        ),
        "glob": (["pattern"], ["pattern"], True),
    }
    for spec in tool.specs.values():
        assert spec.input_schema["additionalProperties"] is False
        assert set(inspect.signature(spec.handler).parameters) == set(
            spec.input_schema["properties"]
        )


@pytest.mark.parametrize(
    ("name", "arguments", "valid"),
    [
        ("read_file", {"path": "a.txt"}, True),
        ("read_file", {"path": "line\nbreak"}, True),
        ("read_file", {"path": ""}, False),
        ("read_file", {"path": "a\0"}, False),
        ("read_file", {"path": "a\0\n"}, False),
        ("read_file", {"path": "a", "limit": 0}, False),
        ("read_file", {"path": "a", "offset": 0}, False),
        ("bash", {"command": "echo\necho"}, True),
        ("bash", {"command": ""}, False),
        ("bash", {"command": "a\0"}, False),
        ("glob", {"pattern": "\n\0"}, False),
        ("write_file", {"path": "a", "content": ""}, True),
        ("write_file", {"path": "a", "content": "\0"}, True),
        ("edit_file", {"path": "a", "old_text": "", "new_text": "\0"}, True),
    ],
)
def test_the_schemas(tool, name, arguments, valid):
    import jsonschema

    checker = jsonschema.Draft202012Validator(tool.specs[name].input_schema)
    assert checker.is_valid(arguments) == valid


def test_the_descriptions_are_the_same_text_everywhere(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    others = Tools(tmp_path).specs
    assert {n: s.model_schema() for n, s in others.items()} == {
        n: s.model_schema() for n, s in tool.specs.items()
    }
    assert all(str(tmp_path) not in str(spec.model_schema()) for spec in others.values())


@pytest.mark.parametrize("bad", ["/", "{root}/a.txt", "{root}/nope"])
def test_what_cannot_be_a_workspace(root, bad):
    with pytest.raises(ValueError, match="workspace"):
        workspace_tools(bad.format(root=root))


@pytest.mark.parametrize(
    "bad", [0, -1, 0.0, -0.5, float("nan"), -float("inf"), "5", None, True, 10**400]
)
def test_what_cannot_be_a_time_limit(root, bad):
    with pytest.raises(ValueError, match=r"^bash_timeout_s must be a number of seconds"):
        workspace_tools(root, bash_timeout_s=bad)


@pytest.mark.parametrize("good", [5, 1e300, float("inf")])
def test_what_can_be_a_time_limit(root, good):
    assert Tools(root, bash_timeout_s=good).bash("echo hi") == "hi\n"


def test_importing_the_tools_is_cheap():
    script = (
        "import sys, harness_lib.tools as t; print([m for m in sys.argv[1:] if m in sys.modules])"
    )
    source = Path(tools.__file__).parents[1]
    code = (
        "import sys, types; package = types.ModuleType('harness_lib')\n"
        f"package.__path__ = [{str(source / 'harness_lib')!r}]\n"
        "sys.modules['harness_lib'] = package\n" + script  # without what the package itself imports
    )
    heavy = ["jsonschema", "anthropic", "ctypes", "harness_lib.registry", "harness_lib.loop"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, *heavy], capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr


# All file tools: errors are ToolErrors, and say nothing about the host.


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../outside/secret.txt", "path escapes workspace"),
        ("{root}/../outside/secret.txt", "path escapes workspace"),
        ("/etc/passwd", "path escapes workspace"),
        ("out", "path escapes workspace"),
        ("dangling-out", "path escapes workspace"),
        ("loop/../out", "too many links, or a loop"),
        ("", "path is empty"),
        ("a.txt\0.png", "NUL"),
        ("\ud83d", "not valid Unicode"),
        ("a.txt/", "not a directory"),
        ("a.txt/b.txt", "not a directory"),
        ("dir", "is a directory"),
        ("{root}", "is a directory"),
        ("fifo", "not a regular file"),
        ("nope/../a.txt", "no such file"),
        ("../\x1b[2J\x1b]0;pwned\x07\nError [ok]: fake line", "path escapes workspace"),
    ],
)
def test_a_bad_path(root, tool, path, reason):
    os.mkfifo(root / "fifo")
    (root / "dir").mkdir()
    (root / "out").symlink_to("../outside/secret.txt")
    (root / "dangling-out").symlink_to("../outside/new.txt")
    (root / "loop").symlink_to("loop")
    path = path.format(root=root)
    for act in (
        tool.read_file,
        functools.partial(tool.write_file, content="pwned"),
        functools.partial(tool.edit_file, old_text="SECRET", new_text="pwned"),
    ):
        message = error_of(act, path)
        assert reason in message
        assert str(root.parent) not in message
        assert message.isprintable()
    assert os.listdir(root.parent / "outside") == ["secret.txt"]
    assert (root.parent / "outside" / "secret.txt").read_text() == "SECRET"


def test_a_missing_file(root, tool):
    assert error_of(tool.read_file, f"{root}/x.txt") == "'x.txt': no such file or directory"
    assert error_of(tool.edit_file, "x.txt", "a", "b") == "'x.txt': no such file or directory"


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file here that fails to read")
def test_a_file_that_cannot_be_read_to_its_end_is_named():
    tool = Tools("/proc/self")
    for act in (tool.read_file, functools.partial(tool.edit_file, old_text="a", new_text="b")):
        assert error_of(act, "./mem") == "'./mem': input/output error"


def test_the_workspace_is_fixed_at_the_start(root, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(tmp_path)
    tool = Tools("link")
    monkeypatch.chdir("/")
    assert tool.read_file("a.txt") == "A\n"
    assert tool.read_file(str(tmp_path / "link" / "a.txt")) == "A\n"
    assert tool.bash("pwd; echo $HOME $PWD") == f"{root}\n{root} {root}\n".replace(
        str(root), str(root.resolve())
    )


def gone(root):
    shutil.rmtree(root)


def become_a_link_to_outside(root):
    root.rename(root.parent / "moved")
    root.symlink_to(root.parent / "outside")


def become_a_file(root):
    shutil.rmtree(root)
    root.touch()


@pytest.mark.parametrize("become", [gone, become_a_link_to_outside, become_a_file])
def test_a_workspace_that_is_no_longer_there(root, tool, become):
    become(root)
    for message in (
        error_of(tool.read_file, "a.txt"),
        error_of(tool.write_file, "secret.txt", "pwned"),
        error_of(tool.glob, "*"),
        error_of(tool.bash, "echo pwned > secret.txt"),
    ):
        assert "workspace" in message
        assert "shell" not in message
        assert str(root.parent) not in message
        assert "\n" not in message
    assert (root.parent / "outside" / "secret.txt").read_text() == "SECRET"


def test_a_directory_above_the_workspace_that_becomes_a_link(root, tmp_path):
    """Elsewhere, a directory of the workspace's name may stand."""
    above = tmp_path / "above"
    (above / "ws").mkdir(parents=True)
    (tmp_path / "elsewhere" / "ws").mkdir(parents=True)
    tool = Tools(above / "ws")
    above.rename(tmp_path / "moved")
    above.symlink_to(tmp_path / "elsewhere")
    assert error_of(tool.bash, "touch new").startswith("the workspace cannot be entered: ")
    assert not (tmp_path / "elsewhere" / "ws" / "new").exists()


def test_a_workspace_that_may_not_be_entered():
    script = (
        "import os, sys; from harness_lib.tools import workspace_tools\n"
        "bash = workspace_tools(sys.argv[1])[0].handler\n"
        "os.chmod(sys.argv[1], 0)\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: bash('true')\n"
        "except Exception as error: print(error)\n"
    )
    with tempfile.TemporaryDirectory() as base:
        root = Path(base, "ws")
        root.mkdir()
        os.chmod(base, 0o755)
        done = subprocess.run([sys.executable, "-c", script, root], capture_output=True, text=True)
        root.chmod(0o755)
    assert done.stdout == "the workspace cannot be entered: Permission denied\n", done.stderr


# read_file

LOOKS_LIKE_UTF_16 = "[it looks like UTF-16: bash can convert it with iconv]"


@pytest.mark.parametrize(
    ("data", "arguments", "text"),
    [
        (b"", {}, "(empty file)"),
        (b"\xef\xbb\xbf", {}, "(empty file)"),
        (b"\xef\xbb\xbfhi\n", {}, "hi\n"),
        (b"a\nb\nc\n", {}, "a\nb\nc\n"),
        (b"a\nb\nc\n", {"limit": 3}, "a\nb\nc\n"),
        (b"a\nb\nc\n", {"limit": 1}, "a\n[2 more lines; go on with offset=2]"),
        (b"a\nb\nc", {"limit": 2}, "a\nb\n[1 more line; go on with offset=3]"),
        (b"a\nb\nc", {"offset": 3}, "c"),
        (b"a\nb\nc\n", {"offset": 2, "limit": 1}, "b\n[1 more line; go on with offset=3]"),
        (b"a\x0cb\nsecond\n\xe2\x80\xa8third\n", {"limit": 1},
         "a\x0cb\n[2 more lines; go on with offset=2]"),
        (b"a\x0bb\x1cc\x85\n".replace(b"\x85", "\x85".encode()), {"limit": 1}, "a\x0bb\x1cc\x85\n"),
        (b"10%\r20%\rdone\n", {}, "10%\r20%\rdone\n"),
        (b"10%\r20%\rdone\n", {"offset": 3}, "done\n"),
        (b"10%\r20%\r", {"limit": 1}, "10%\r\n[1 more line; go on with offset=2]"),
        (b"a\r\nb\r\n", {"limit": 1}, "a\r\n[1 more line; go on with offset=2]"),
        (b"\n\n\n", {"limit": 1}, "\n[2 more lines; go on with offset=2]"),
        ("你好é".encode(), {}, "你好é"),
        (b"\x1b[2J\0\n", {}, "\x1b[2J\0\n"),
        (b"a\nb\n", {"limit": 2**31}, "a\nb\n"),
        (b"a\nb\n", {"limit": 2**63}, "a\nb\n"),
        (b"a\nb\n", {"limit": 10**5_000, "offset": 2}, "b\n"),
        ("hi\n".encode("utf-16-le"), {}, "h\0i\0\n\0\n" + LOOKS_LIKE_UTF_16),
        ("hi\n".encode("utf-16-be"), {}, "\0h\0i\0\n" + LOOKS_LIKE_UTF_16),
        (b"a\0bb\0ccc\0\0", {}, "a\0bb\0ccc\0\0"),
        ("hi\n".encode("utf-32-le"), {}, "h\0\0\0i\0\0\0\n\0\0\0"),
        (b"\0" * 9, {}, "\0" * 9),
    ],
)  # fmt: skip
def test_what_is_read(root, tool, data, arguments, text):
    (root / "f").write_bytes(data)
    assert tool.read_file("f", **arguments) == text


@pytest.mark.parametrize(
    ("data", "arguments", "reason"),
    [
        (b"a\nb\n", {"offset": 3}, "offset 3 is past the end: the file has 2 lines"),
        (b"a\nb", {"offset": 3}, "offset 3 is past the end: the file has 2 lines"),
        (b"a\r", {"offset": 9}, "offset 9 is past the end: the file has 1 line"),
        (b"", {"offset": 2}, "offset 2 is past the end: the file has 0 lines"),
        (b"a\n", {"limit": 0}, "at least 1"),
        (b"a\n", {"limit": -1}, "at least 1"),
        (b"a\n", {"offset": 0}, "at least 1"),
        (b"caf\xe9\n", {}, "not UTF-8 text (a byte 0xe9)"),
        ("hi\n".encode("utf-16"), {}, "looks like UTF-16"),
        (b"a\0b\0\xff\xd8", {}, "looks like UTF-16"),
        ("hi\n".encode("utf-32"), {}, "looks like UTF-32"),
        (b"\x7fELF\2\1\1" + b"\0" * 9 + b"\3\0\x3e\0\1\0\0\0\xc0", {}, "(a byte 0xc0)"),
        (b"a\n", {"offset": 2**63}, "is past the end: the file has 1 line"),
        (b"a\n", {"offset": 10**5_000}, "is past the end: the file has 1 line"),
        (b"\xed\xa0\x80", {}, "not UTF-8"),
    ],
)
def test_what_is_not_read(root, tool, data, arguments, reason):
    (root / "f").write_bytes(data)
    message = error_of(tool.read_file, "f", **arguments)
    assert message.startswith("'f': ")
    assert reason in message
    assert message.endswith(reason) or "looks like" in reason or "looks like" not in message


def test_a_long_file_comes_in_pages(root, tool):
    (root / "f").write_text("".join(f"line {n}\n" for n in range(1, 20_001)))
    pages, offset = [], 1
    while offset:
        page = tool.read_file("f", offset=offset)
        assert len(page) < MAX_CONTENT_CHARS - 100
        text, note, more = page.partition("[")
        pages.append(text)
        offset = int(more.split("offset=")[1][:-1]) if note else None
    assert "".join(pages) == (root / "f").read_text()
    assert len(pages) == 5


@pytest.mark.parametrize("character", ["x", "é", "你", "\U0001f600"])
def test_a_line_that_is_too_long_is_cut(root, tool, character):
    line = "a" + character * 100_000
    (root / "f").write_text(f"{line}\nnext\n")
    for arguments in ({}, {"limit": 1}, {"limit": 7}):
        page = tool.read_file("f", **arguments)
        shown, _, notes = page.partition("\n")
        assert len(page) < MAX_CONTENT_CHARS
        assert line.startswith(shown)
        left = len(line.encode()) - len(shown.encode())
        assert notes == (
            f"[line 1 is cut: {left:,} more bytes of it are not shown]\n"
            "[1 more line; go on with offset=2]"
        )
    assert tool.read_file("f", offset=2) == "next\n"


lines = st.lists(
    st.sampled_from(["", "a", "é", "bb" * 9, "\x0c", "\n", "\r", "\r\n", "x" * 70, "\0"])
)


@settings(deadline=None)
@given(lines, st.integers(1, 5), st.integers(8, 80), st.integers(1, 9))
@example(["\r", "\n"], 1, 8, 1)
@example(["x" * 70, "\r\n", "a"], 5, 70, 1)
def test_pages_together_are_the_file(pieces, limit, page_bytes, chunk_bytes):
    """For every size of page and chunk, with lines that fit in a page."""
    data = "".join(pieces).encode()
    longest = max(map(len, re.split(rb"\r\n|\n|\r", data)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PAGE_BYTES", max(page_bytes, longest))
        patch.setattr(files, "CHUNK_BYTES", chunk_bytes)
        offset, read = 1, ""
        while True:
            page = files.read_page(io.BytesIO(data), offset, limit)
            read += page.text
            notes = [note for note in page.notes if "UTF-16" not in note]
            if not notes:
                break
            left, _, following = notes[0].partition(" more line")
            rest = data[len(read.encode()) :]
            assert int(left) == len(re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", rest))
            offset = int(following.split("offset=")[1])
        assert read.encode() == data


PEAK = """
import resource, sys, time
from harness_lib.tools import workspace_tools
read = {spec.name: spec.handler for spec in workspace_tools(sys.argv[1])}["read_file"]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for arguments in ({"limit": 1}, {}, {"offset": 2}, {"limit": 5, "offset": 3}):
    try:
        print(read("big", **arguments)[-150:])
    except Exception as error:
        print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("head", [b"", b"line\n" * 100_000])
@pytest.mark.parametrize("size", [250 << 20, 2 << 30])
def test_a_huge_file_takes_little_memory_and_time(root, head, size):
    with (root / "big").open("wb") as file:
        file.write(head)
        file.truncate(size)
    before = time.monotonic()
    done = subprocess.run([sys.executable, "-c", PEAK, root], capture_output=True, text=True)
    assert time.monotonic() - before < 10
    assert int(done.stdout.split()[-1]) < 10_000, done.stderr  # KiB on Linux
    if head:
        assert "[at least 100,000 more lines; go on with offset=2]" in done.stdout
    else:
        assert "[line 1 is cut: at least" in done.stdout
        wanted = "the file has 1 line" if size < files.SKIPPED_BYTES else "line 2 begins more than"
        assert wanted in done.stdout


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (b"x" * 200_000, "at least 1 more line"),
        (b"x" * 200_000 + b"\n" + b"y" * 200_000, "at least 1 more line"),
        (b"\n" + b"x" * 200_000, "at least 2 more lines"),
        (b"\n" * 200_000, "at least 131,0"),
    ],
)
def test_where_counting_ends_what_is_said_is_true(root, tool, monkeypatch, behind, said):
    monkeypatch.setattr(files, "COUNTED_BYTES", 100_000)
    (root / "f").write_bytes(b"first\n" + behind)
    assert f"[{said}" in tool.read_file("f", limit=1)


def test_a_first_line_beyond_the_search_is_an_error(root, tool, monkeypatch):
    monkeypatch.setattr(files, "SKIPPED_BYTES", 100_000)
    (root / "f").write_text("line\n" * 100_000)
    assert "begins more than 100,000 bytes behind" in error_of(tool.read_file, "f", offset=99_999)


@pytest.mark.parametrize(
    "act", ["read_file('ü')", "write_file('ü', '你')", "edit_file('ü', 'é', '你')"]
)
def test_text_is_utf8_in_every_locale(root, act):
    (root / "ü").write_bytes("é\n".encode())
    script = (
        "import sys; from harness_lib.tools import workspace_tools\n"
        "tool = {spec.name: spec.handler for spec in workspace_tools(sys.argv[1])}\n"
        f"print(ascii(tool[{act.partition('(')[0]!r}]({act.partition('(')[2]}))\n"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", "exec(bytes.fromhex('" + script.encode().hex() + "'))", root],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = {"r": "é\n", "w": "你", "e": "你\n"}[act[0]]
    assert (root / "ü").read_bytes().decode() == expected


# write_file


def test_writing_counts_bytes(root, tool):
    assert tool.write_file("n.txt", "你好é") == "wrote 8 bytes to n.txt"
    assert tool.write_file("new/deep/e", "") == "wrote 0 bytes to new/deep/e"
    assert tool.write_file(f"{root}/n.txt", "x\r\n\\'\"$`") == "wrote 8 bytes to n.txt"
    assert (root / "n.txt").read_bytes() == b"x\r\n\\'\"$`"
    assert tool.write_file("a\nb", "x") == r"wrote 1 byte to 'a\nb'"


@pytest.mark.parametrize("text", ["\ud83d", "ok\udfff"])
def test_text_that_is_no_unicode_changes_nothing(root, tool, text):
    assert "lone surrogate" in error_of(tool.write_file, "a.txt", text)
    assert "lone surrogate" in error_of(tool.edit_file, "a.txt", "A", text)
    assert "lone surrogate" in error_of(tool.edit_file, "a.txt", text, "A")
    assert "lone surrogate" in error_of(tool.bash, f"echo {text}")
    assert (root / "a.txt").read_text() == "A\n"


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))  # a NUL can look like UTF-16
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_what_was_written_is_read(text):
    with tempfile.TemporaryDirectory() as base:
        tool = Tools(base)
        tool.write_file("f", text)
        assert Path(base, "f").read_bytes() == text.encode()
        assert tool.read_file("f") == (text.removeprefix("\ufeff") or files.EMPTY_FILE)


# edit_file


@pytest.mark.parametrize(
    ("data", "old", "new", "result", "line"),
    [
        (b"a\r\nb\r\nc\r\n", "b", "B", b"a\r\nB\r\nc\r\n", 2),
        (b"a\r\nb\r\n", "a\r\nb", "Z", b"Z\r\n", 1),
        (b"a\nb", "b", "c", b"a\nc", 2),
        (b"a\nb\n", "b\n", "", b"a\n", 2),
        (b"\xef\xbb\xbfhi\n", "hi", "ho", b"\xef\xbb\xbfho\n", 1),
        (b"caf\xe9 x\n", "x", "y", b"caf\xe9 y\n", 1),
        (b"/ * . \\1 & $x\n", "* . \\1 & $x", "\\g<0>&", b"/ \\g<0>&\n", 1),
        (b"a\x0cb\xe2\x80\xa8c\n", "c", "d", b"a\x0cb\xe2\x80\xa8d\n", 1),
    ],
)
def test_an_edit_changes_one_place_and_no_other_byte(root, tool, data, old, new, result, line):
    (root / "e").write_bytes(data)
    assert tool.edit_file("e", old, new) == f"edited e: 1 replacement, at line {line}"
    assert (root / "e").read_bytes() == result


@pytest.mark.parametrize(
    ("data", "old", "new", "reason"),
    [
        (b"abc\n", "", "X", "old_text is empty"),
        (b"abc\n", "b", "b", "are the same"),
        (b"abc\n", "zzz", "y", "no match"),
        (b"abab", "ab", "y", "2 matches"),
        (b"foo\nfoo\nfoo\n", "foo\nfoo\n", "bar\n", "2 matches"),
        (b"aaaa", "aa", "b", "3 matches"),
        (b"a\r\nb\r\n", "a\nb", "Z", "lines end in CRLF (\\r\\n), those of old_text in LF (\\n)"),
        (b"a\nb\n", "a\r\nb", "Z", "lines end in LF (\\n), those of old_text in CRLF (\\r\\n)"),
        (b"a\r\nb\r\n", "a\r\nc", "Z", "no match for old_text"),
        (b"\xff" * 9, "ÿ", "y", "no match"),
        (b"a" * 50_000, "a", "b", "more than 10,000 matches"),
        (
            "hi\n".encode("utf-16"),
            "i",
            "o",
            "not UTF-8 text (a byte 0xff); it looks like UTF-16: bash",
        ),
        (b"\xfe\xff" + "hi\n".encode("utf-16-be"), "i", "o", "it looks like UTF-16"),
        ("hi\n".encode("utf-32"), "i", "o", "it looks like UTF-32"),
        (b"\0\0\xfe\xff" + "hi\n".encode("utf-32-be"), "i", "o", "it looks like UTF-32"),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing(root, tool, data, old, new, reason):
    (root / "e").write_bytes(data)
    message = error_of(tool.edit_file, "e", old, new)
    assert message.startswith("'e': ")
    assert reason in message
    assert (root / "e").read_bytes() == data


def test_counting_matches_has_an_end(root, tool):
    (root / "e").write_bytes(b"a" * files.MAX_EDIT_BYTES)
    before = time.monotonic()
    assert "matches" in error_of(tool.edit_file, "e", "a" * (1 << 20), "b")
    assert time.monotonic() - before < 5
    (root / "e").write_bytes(b"a" * (files.MAX_EDIT_BYTES + 1))
    assert "larger than 10,485,760 bytes" in error_of(tool.edit_file, "e", "b", "c")


@given(st.binary(), st.text("ab\r\n", min_size=1), st.text("ab\r\n"), st.binary())
def test_an_edit_is_exact(head, old, new, tail):
    data = head + old.encode() + tail
    assume(not data.startswith(files.WIDE_MARKS))
    count = sum(data.startswith(old.encode(), place) for place in range(len(data)))
    if count == 1 and old != new:
        changed, line = files.replace_once(data, old, new)
        assert changed == head + new.encode() + tail
        assert line == 1 + len(re.findall(rb"\r\n|\r|\n", head))
    else:
        with pytest.raises(ValueError, match=f"^{count} matches|the same"):
            files.replace_once(data, old, new)


def test_an_update_by_another_is_not_lost(root, tool, monkeypatch):
    real = tools.replace_once

    def meddled(*arguments):
        with (root / "a.txt").open("a") as file:
            file.write("by another\n")
        return real(*arguments)

    monkeypatch.setattr(tools, "replace_once", meddled)
    assert error_of(tool.edit_file, "a.txt", "A", "B") == "'a.txt': changed while being edited"
    assert (root / "a.txt").read_text() == "A\nby another\n"


def test_an_update_in_the_very_last_moment_is_lost(root, tool, monkeypatch):
    """Said in BOUNDARY.md: no call of the system replaces a file only if it is still the same."""
    real = os.replace

    def late(*arguments, **more):
        with (root / "a.txt").open("a") as file:
            file.write("by another\n")
        return real(*arguments, **more)

    monkeypatch.setattr(os, "replace", late)
    tool.edit_file("a.txt", "A", "B")
    assert (root / "a.txt").read_text() == "B\n"


# glob


def grow(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.touch()


TREE = ("d/x.txt", "d/e/y.txt", "d/e/y.py", ".env", ".github/x.txt", "d/.hidden", "empty/")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.txt", "a.txt b.txt"),
        ("*", "a.txt b.txt d/ empty/"),
        ("*/", "d/ empty/"),
        ("**/*", "a.txt b.txt d/ d/e/ d/e/y.py d/e/y.txt d/x.txt empty/"),
        ("**", "a.txt b.txt d/ d/e/ d/e/y.py d/e/y.txt d/x.txt empty/"),
        ("**/", "d/ d/e/ empty/"),
        ("**/**/**/*.txt", "a.txt b.txt d/e/y.txt d/x.txt"),
        ("**/*.txt", "a.txt b.txt d/e/y.txt d/x.txt"),
        ("d/**", "d/ d/e/ d/e/y.py d/e/y.txt d/x.txt"),
        ("d/**/y.*", "d/e/y.py d/e/y.txt"),
        ("./d//*.txt", "d/x.txt"),
        ("d/e/y.py", "d/e/y.py"),
        ("[ab].txt", "a.txt b.txt"),
        ("[!a].txt", "b.txt"),
        ("?.txt", "a.txt b.txt"),
        (".*", ".env .github/"),
        (".env", ".env"),
        (".github/*", ".github/x.txt"),
        ("**/.*", ".env .github/ d/.hidden"),
        ("[.]env", "(no matches)"),
        ("A.TXT", "(no matches)"),
        ("a.txt/", "(no matches)"),
        ("nope/*", "(no matches)"),
        ("[", "(no matches)"),
        (".", "./"),
        ("{root}/*.txt", "a.txt b.txt"),
        ("{root}", "./"),
    ],
)
def test_which_names_fit(root, tool, pattern, found):
    grow(root, *TREE)
    lines = tool.glob(pattern.format(root=root)).splitlines()
    assert lines == ([found] if found == globbing.NO_MATCHES else found.split())


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("../*", "path escapes workspace"),
        ("d/../../outside/*", "path escapes workspace"),
        ("d/..", "path escapes workspace"),
        ("/etc/host*", "path escapes workspace"),
        ("{root}/../outside/*", "path escapes workspace"),
        ("{root}*", "path escapes workspace"),
        ("", "pattern is empty"),
        ("a\0*", "NUL"),
        ("\ud800", "not valid Unicode"),
        ("*" * 5_000, "longer than 4,096"),
    ],
)
def test_which_patterns_are_refused(root, tool, pattern, reason):
    message = error_of(tool.glob, pattern.format(root=root))
    assert reason in message
    assert str(root) not in message


def test_links_are_listed_and_not_followed(root, tool):
    grow(root, "d/x.txt")
    for name, target in {"l1": "..", "l2": "..", "loop": "loop", "out": "../../outside"}.items():
        (root / "d" / name).symlink_to(target)
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to("../outside")
    assert tool.glob("*").split() == ["a.txt", "b.txt", "d/", "loop", "out"]
    assert tool.glob("**/*.txt").split() == ["a.txt", "b.txt", "d/x.txt"]
    for pattern in ("out/*", "d/out/*", "d/l1/*", "out/"):
        assert tool.glob(pattern) == globbing.NO_MATCHES


def test_a_root_whose_name_looks_like_a_pattern(tmp_path):
    root = tmp_path / "ws[1]*"
    root.mkdir()
    (root / "a.txt").touch()
    assert Tools(root).glob("*.txt") == Tools(root).glob(f"{root}/*.txt") == "a.txt"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (b"caf\xe9.txt", r"caf\xe9.txt"),
        (b"a\nb", r"a\nb"),
        (b"\x1b[2J", r"\x1b[2J"),
        ("\u202egpj.exe".encode(), r"\u202egpj.exe"),
        ("\u2028".encode(), r"\u2028"),
        ("\u200fa\u061c\u2067".encode(), r"\u200fa\u061c\u2067"),
        (b"a\tb", r"a\tb"),
        ("ü 你.txt".encode(), "ü 你.txt"),
    ],
)
def test_one_line_an_entry_whatever_its_name(tmp_path, name, line):
    try:
        os.close(os.open(os.path.join(os.fsencode(tmp_path), name), os.O_CREAT))
    except OSError as error:
        pytest.skip(f"this file system refuses the name: {error.strerror}")
    found = Tools(tmp_path).glob("*")
    assert found.encode().decode() == line


def test_each_bound_is_named(root, tool, monkeypatch):
    grow(root, *(f"many/{n:04}" for n in range(1_200)))
    lines = tool.glob("many/*").splitlines()
    assert lines[-1] == "[only 1,000 entries are listed; narrow the pattern]"
    assert lines[:-1] == [f"many/{n:04}" for n in range(1_000)]
    monkeypatch.setattr(globbing, "MAX_LISTED_CHARS", 100)
    assert tool.glob("many/*").splitlines()[-1].startswith("[only 10 entries")
    monkeypatch.setattr(globbing, "MAX_VISITED", 100)
    assert tool.glob("many/9*").splitlines()[-1] == "[only the first 100 entries were looked at]"
    monkeypatch.undo()
    grow(root, "d/" * 70 + "f")
    lines = tool.glob("d/**").splitlines()
    assert lines[-1] == "[directories below 64 others were not entered]"
    assert max(line.count("d/") for line in lines) == 64


def test_a_directory_that_cannot_be_read_is_named(root, tool, monkeypatch):
    grow(root, "closed/f", "open/f")

    def refuse(directory, name):
        if name == b"closed":
            raise PermissionError(errno.EACCES, "no")
        return real(directory, name)

    real = walk.enter
    monkeypatch.setattr(walk, "enter", refuse)
    assert tool.glob("*/*") == "open/f\n[some directories could not be read]"


def test_a_pattern_costs_no_more_than_the_tree(root, tool):
    grow(root, *(f"{a}/{b}/{'a' * 200}" for a in range(10) for b in range(100)))
    before = time.monotonic()
    for pattern in ("**/" * 1_000 + "x", "*a" * 1_000, "**/*/" * 500, "[a-z]*" * 600):
        tool.glob(pattern)
    assert time.monotonic() - before < 5


def test_by_names_the_list_is_the_same(root, tool, monkeypatch):
    grow(root, *TREE)
    before = tool.glob("**/*")
    monkeypatch.setattr(walk, "BY_DESCRIPTOR", False)
    assert tool.glob("**/*") == before


def test_glob_leaves_no_descriptor_open(root, tool, monkeypatch):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no /proc to count descriptors in")
    grow(root, *TREE)
    monkeypatch.setattr(globbing, "MAX_LISTED", 3)  # ends in the middle of the tree
    before = sorted(os.listdir("/proc/self/fd"))
    for pattern in ("**/*", "d/e/*", "nope", "**/y*"):
        tool.glob(pattern)
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    grow(root, *TREE, "d/d/d/d/x.txt", "e/x", "x/x/x.txt")
    (root / "out").symlink_to("/usr")
    (root / "d" / "loop").symlink_to("..")
    return root


def slow_fit(parts: list[str], names: list[str]) -> bool:
    """The meaning of a pattern, word for word."""
    if not parts:
        return not names
    if parts[0] == "**":
        below = bool(names) and not names[0].startswith(".") and slow_fit(parts, names[1:])
        return below or slow_fit(parts[1:], names)
    if not names or (names[0].startswith(".") and not parts[0].startswith(".")):
        return False
    return fnmatch.fnmatchcase(names[0], parts[0]) and slow_fit(parts[1:], names[1:])


PARTS = ["**", "*", "d", "?", "*.txt", ".*", "[de]", "x*", "out", "loop", "e", "[", "."]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=6))
def test_any_pattern_lists_what_fits_and_only_what_is_inside(tree, parts):
    root = tree
    listed = Tools(root).glob("/".join(parts)).splitlines()
    every = [path for path in root.rglob("*") if not beyond_a_link(path, root)]
    only_directories = parts[-1] == "."
    wanted = [part for part in parts if part != "."]
    expected = {
        f"{path.relative_to(root)}{'/' * is_directory}"
        for path in every
        if slow_fit(wanted, list(path.relative_to(root).parts))
        and ((is_directory := path.is_dir() and not path.is_symlink()) or not only_directories)
    }
    if not wanted:
        expected = {"./"}
    assert set(listed) == (expected or {globbing.NO_MATCHES})


def beyond_a_link(path: Path, root: Path) -> bool:
    return any(parent.is_symlink() for parent in path.relative_to(root).parents and path.parents)


@settings(deadline=None)
@given(st.text(st.sampled_from("*?[]!-^ab/{}\\\n\x1b|&~"), min_size=1, max_size=30))
def test_any_text_is_a_pattern_or_refused(tree, text):
    glob = Tools(tree).glob
    if text.startswith("/"):
        assert "path escapes workspace" in error_of(glob, text)
    else:
        assert glob(text)


# bash


def test_output_in_order_and_nothing_for_nothing(tool):
    assert tool.bash("echo out; echo err >&2; echo out") == "out\nerr\nout\n"
    assert tool.bash("true") == ""
    assert tool.bash("cd /; x=1") == ""
    assert tool.bash("echo [$x] $(basename $PWD)") == "[] ws\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("echo out; exit 3", "exit status 3\nout\n"),
        ("false", "exit status 1"),
        ("kill -9 $$", "killed by signal 9 (SIGKILL)"),
        ("echo x; kill -40 $$", "killed by signal 40 (no name)\nx\n"),
        ("echo x; sleep 60", "timed out after 0.5 s, and was killed with all of its session\nx\n"),
    ],
)
def test_a_failure_is_named_first_and_keeps_the_output(root, command, message):
    assert error_of(Tools(root, bash_timeout_s=0.5).bash, command) == message


UNSAFE = "".join(map(chr, (0x61C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), 0x2067)))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f"printf '{UNSAFE}'", UNSAFE.encode("unicode_escape").decode()),
        ("printf 'ü 你 \u200d \u05d0'", "ü 你 \u200d \u05d0"),
        (r"printf '\033]0;title\007\033[31mred\033[2J'", r"\x1b]0;title\x07\x1b[31mred\x1b[2J"),
        (r"printf 'a\r\nb\r\n'", "a\nb\n"),
        (r"printf '10%%\r20%%\rdone'", r"10%\r20%\rdone"),
        (r"printf 'tab\there\n'", "tab\there\n"),
        (r"printf 'a\0b\177\b'", r"a\x00b\x7f\x08"),
        (r"printf '\302\233'", r"\x9b"),
        (r"printf 'before\n\377\376'; touch side_effect", "before\n\ufffd\ufffd"),
    ],
)
def test_output_is_harmless_text(root, tool, command, output):
    assert tool.bash(command) == output
    assert "side_effect" not in command or (root / "side_effect").exists()


def test_long_output_keeps_both_ends(tool):
    for command in ("seq 1 20000; echo FINAL-ERROR", "seq 1 20000; echo FINAL-ERROR; exit 1"):
        try:
            output = tool.bash(command)
        except ToolError as error:
            output = str(error).partition("\n")[2]
        assert output.startswith("1\n2\n")
        assert output.endswith("20000\nFINAL-ERROR\n")
        assert "60,906 bytes left out" in output
        assert len(output) < MAX_CONTENT_CHARS - 500


@pytest.mark.parametrize(
    ("command", "head", "tail"),
    [
        ("head -c 200000 /dev/zero", r"\x00\x00", r"\x00\x00"),
        ("head -c 13000 /dev/zero", r"\x00\x00", r"\x00\x00"),  # nothing was cut before
        (r"seq 1 9999 | sed 's/.*/\x1b[31m&/'", "\\x1b[31m1\n\\x1b[31m2\n", "\\x1b[31m9999\n"),
        (r"head -c 99999 /dev/zero | tr '\0' '\200'", "\ufffd\ufffd", "\ufffd\ufffd"),
        (r"head -c 99999 /dev/zero | tr '\0' '\301'", "\ufffd\ufffd", "\ufffd\ufffd"),
    ],
)
def test_a_cut_is_named_once_with_the_size_of_all_that_is_missing(tool, command, head, tail):
    """Escaping makes text longer, so more may have to go than what was not kept."""
    output = tool.bash(command)
    assert len(output) < MAX_CONTENT_CHARS - 500
    first, size, last = re.split(r"\n\[\.\.\. ([\d,]+) bytes left out \.\.\.\]\n", output)
    assert first.startswith(head)
    assert last.endswith(tail)
    shown = sum(
        len(re.sub(r"\\x..", "_", part).encode("utf-8", "replace").replace("\ufffd".encode(), b"_"))
        for part in (first, last)
    )
    whole = int(tool.bash(f"{command} | wc -c"))
    assert shown + int(size.replace(",", "")) == whole


OUTPUT = st.one_of(
    st.binary(), st.text().map(str.encode), st.text("a\r\n\0\x1bé你\u202e").map(str.encode)
)


@given(st.lists(OUTPUT, max_size=30).map(b"".join), st.integers(30, 60))
@example(b"\x80" * 90, 40)
@example(b"\xc1" * 90, 40)
@example(b"\0" * 20, 40)
def test_what_is_shown_of_any_output(data, limit):
    """All of it, or as much of both ends as there is room for, and never a part of a character."""
    kept = process._Kept(limit // 2)
    kept.add(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tools, "MAX_OUTPUT", limit)
        output = tools._shown(*kept.ends())
    if len(data) <= 2 * (limit // 2) and len(tools._text(data)) <= limit:
        assert output == tools._text(data)
        return
    first, size, last = re.split(r"\n\[\.\.\. ([\d,]+) bytes left out \.\.\.\]\n", output)
    size = int(size.replace(",", ""))
    possible = [
        (head, tail)
        for head in range(len(data) - size + 1)
        if tools._text(data[:head]) == first
        and tools._text(data[len(data) - (tail := len(data) - size - head) :]) == last
    ]
    assert possible
    assert max(len(first), len(last)) <= limit // 2
    half, (head, tail) = limit // 2, possible[0]
    for size, end in ((head, lambda n: data[:n]), (tail, lambda n: data[max(0, len(data) - n) :])):
        if len(data) > 2 * half and len(tools._text(end(half))) <= half:
            assert size >= half - 3  # nothing but a part of a character is lost
        else:  # a few characters, since a part of one is longer than the whole
            assert len(tools._text(end(size + 12))) > half
    with contextlib.suppress(UnicodeDecodeError):
        assert "\ufffd" not in output or "\ufffd" in data.decode()


def test_the_shell_speaks_without_the_hosts_path(root, tool, tmp_path, monkeypatch):
    shell = "bash" if shutil.which("bash") else "sh"
    message = error_of(tool.bash, "zzcmd")
    assert message.startswith(f"exit status 127\n{shell}: ")
    assert tool.bash("echo $0") == f"{shell}\n"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to(shutil.which("sh"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert error_of(Tools(root).bash, "zzcmd").startswith("exit status 127\nsh: ")


def test_the_longest_command(tool):
    longest = "#" * (COPY_OF_LINUX_LIMIT - 1)
    assert tool.bash(longest) == ""
    assert "the limit is 131,071 (MAX_ARG_STRLEN" in error_of(tool.bash, longest + "#")
    assert "the limit is 131,071" in error_of(tool.bash, "#" + "é" * 70_000)
    assert error_of(tool.bash, "") == "the command is empty"
    assert error_of(tool.bash, "echo \0") == "the command holds a NUL character"


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("command", ["-x", "+x", "--version", "-c", "--", "-", "+", "-o posix"])
def test_a_command_that_begins_as_an_option_does_is_none(
    root, tmp_path, monkeypatch, shell, command
):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / shell).symlink_to(shutil.which(shell))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    message = error_of(Tools(root).bash, command)
    assert message.startswith("exit status 127")
    assert "not found" in message
    assert Tools(root).bash(f"{command} 2>/dev/null; echo hi") == "hi\n"


@pytest.mark.parametrize("path", ["/nonexistent", "/nonexistent:relative:", ""])
def test_the_shell_is_found_whatever_the_path(root, monkeypatch, path):
    monkeypatch.setenv("PATH", path)
    assert Tools(root).bash("echo hi") == "hi\n"


def test_a_harness_that_ignores_the_end_of_children_says_so(tool):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        message = error_of(tool.bash, "exit 3")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert message.startswith("no command was run: the harness ignores SIGCHLD")
    assert "shell" not in message


@pytest.mark.parametrize(("command", "output"), [("true", ""), ("echo x; exit 3", "\nx\n")])
def test_a_command_whose_status_another_took_is_no_success(tool, monkeypatch, command, output):
    real = process._kill_session
    monkeypatch.setattr(process, "_kill_session", lambda pid: real(pid) or os.waitpid(pid, 0))
    message = "it ended, and something else in the harness took its exit status"
    assert error_of(tool.bash, command) == message + output


def test_it_is_bash_where_there_is_one(tool):
    if not shutil.which("bash"):
        pytest.skip("no bash here")
    assert tool.bash("[[ a == a ]] && echo yes; echo {1..3}; source /dev/null") == "yes\n1 2 3\n"


def test_without_bash_it_is_sh(root, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to(shutil.which("sh"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert (
        Tools(root).bash("echo $0 | grep -c bash || :; echo hi".replace("grep -c bash", "cat"))
        != ""
    )
    (tmp_path / "bin" / "sh").unlink()
    monkeypatch.setattr(os, "defpath", str(tmp_path / "bin"))
    message = error_of(Tools(root).bash, "true")
    assert message.startswith("the shell could not be started: ")
    assert str(tmp_path) not in message


def test_a_child_sees_no_secret_in_its_environment(tool, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "MY_DB_URL", "BASH_ENV", "BASH_FUNC_ls%%", "PYTHONPATH"):
        monkeypatch.setenv(name, "canary")
    assert "canary" not in tool.bash("env; set; bash -c 'env; set' 2>/dev/null; :")


def test_a_bad_locale_makes_no_noise(tool, monkeypatch):
    monkeypatch.setenv("LC_ALL", "xx_YY.UTF-8")
    monkeypatch.setenv("LANG", "C.UTF-8")
    assert tool.bash("bash -c 'echo hi' || sh -c 'echo hi'; command -v perl >/dev/null || exit 0; "
                     "perl -e 'print 1'") in ("hi\n1", "hi\n")  # fmt: skip


def test_a_command_is_not_found_in_the_workspace(root, tool, monkeypatch):
    (root / "zzcmd").write_text("#!/bin/sh\necho planted\n")
    (root / "zzcmd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}::.:")
    assert "not found" in error_of(tool.bash, "zzcmd")


def test_no_output_of_the_harness_itself(root, tool):
    Workspace(root).write("noise.sh", b"echo hi; echo ho >&2")
    assert tool.bash("sh noise.sh") == "hi\nho\n"


# Not guaranteed: bash is no sandbox. These show what it can do; if one fails, a boundary has
# been added, and the docstrings have to say so.

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into Linux's /proc")


def outside_harness(root: Path, command: str, **variables: str) -> subprocess.CompletedProcess:
    """A harness of its own runs one command; what the command gave is its output."""
    script = (
        "import sys; from harness_lib.tools import workspace_tools\n"
        "secret = open(sys.argv[1] + '/../held', 'w+'); secret.write('held'); secret.flush()\n"
        "bash = workspace_tools(sys.argv[1])[0].handler\n"
        "print(bash(sys.argv[2]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script, root, command],
        capture_output=True, text=True, env={**os.environ, **variables}, timeout=60,
    )  # fmt: skip


@needs_linux
def test_not_guaranteed_the_parents_environment_and_files_are_in_proc(root):
    command = "tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/$PPID/fd/3"
    done = outside_harness(root, command, CANARY="sk-canary")
    if "ermission denied" in done.stderr:
        pytest.skip("this system hides /proc of the parent")
    assert "CANARY=sk-canary" in done.stdout
    assert "held" in done.stdout


@needs_linux
def test_not_guaranteed_a_command_can_kill_the_harness(root):
    assert outside_harness(root, "kill -9 $PPID").returncode == -9


@needs_linux
@pytest.mark.parametrize("name", ["KILL", "TERM"])
def test_not_guaranteed_a_child_outlives_a_killed_harness(root, name):
    command = f"echo $$ > pid; kill -{name} $PPID; sleep 0.2; echo alive > alive; sleep 60"
    assert outside_harness(root, command).returncode == -signal.Signals[f"SIG{name}"]
    deadline = time.monotonic() + 10
    while not (root / "alive").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(int((root / "pid").read_text()), 9)
    assert (root / "alive").exists()


@needs_linux
def test_not_guaranteed_the_harness_terminal_can_be_opened_by_its_name(root):
    """A child has no controlling terminal, but the device has a name, and belongs to the user."""
    script = (
        "import fcntl, sys, termios; from harness_lib.tools import workspace_tools\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "workspace_tools(sys.argv[1])[0].handler(sys.argv[2])\n"
    )
    terminal, its_end = os.openpty()
    os.write(terminal, b"typed\n")
    command = f"! : > /dev/tty && read -r x < {os.ttyname(its_end)} && echo got $x > {os.ttyname(its_end)}"
    said = said_on(terminal, its_end, [sys.executable, "-c", script, root, command])
    assert said == b"typed\r\ngot typed\r\n"  # the first is the terminal's echo


@needs_linux
def test_not_guaranteed_setsid_leaves_the_session(root, tool):
    if not shutil.which("setsid"):
        pytest.skip("no setsid command here")
    tool.bash("setsid sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1 & "
              "while ! test -s pid; do :; done")  # fmt: skip
    os.kill(int((root / "pid").read_text()), 9)  # ProcessLookupError if it were gone


def test_not_guaranteed_files_of_the_user_and_secrets_in_the_workspace(root, tool):
    (root / ".env").write_text("KEY=sk-canary\n")
    assert tool.bash("cat .env ../outside/secret.txt") == "KEY=sk-canary\nSECRET"


def test_not_guaranteed_home_is_the_workspace_with_its_dot_files(root, tool):
    if not shutil.which("bash"):
        pytest.skip("no bash here")
    tool.write_file(".bash_profile", "echo PROFILE-RAN\n")
    assert tool.bash("true") == ""
    assert "PROFILE-RAN" in tool.bash("bash -lc true")
    tool.bash("mkdir -p ~/.cache/tool")
    assert (root / ".cache" / "tool").is_dir()


def test_not_guaranteed_the_network(tool):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port})).send(b'out')"
        tool.bash(f'"{sys.executable}" -c "{code}"')
        with server.accept()[0] as connection:
            assert connection.recv(10) == b"out"

"""Another process swaps a directory and a link out of the workspace, all the time.

Whoever checks a path and then opens it by name loses this race sooner or later: the first test
shows that, so that the others mean something. The tools never lose it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness_lib import files, tools
from harness_lib.result import ToolError

SECONDS = 1.2
TRIES = 1_000

SWAPPER = """
import ctypes, os, sys
os.chdir(sys.argv[1])
try:
    rename = ctypes.CDLL(None, use_errno=True).renameat2
    exchange = lambda a, b: rename(-100, a, -100, b, 2)  # AT_FDCWD, RENAME_EXCHANGE
    possible = exchange(b"d", b"link") == 0
except AttributeError:
    possible = False
print("swapping", flush=True)
while os.getppid() == int(sys.argv[2]):
    if possible:
        exchange(b"d", b"link")
        exchange(b"f", b"f-link")
    else:
        for name, other in (("d", "link"), ("f", "f-link")):
            os.rename(name, "spare"); os.rename(other, name); os.rename("spare", other)
"""


@pytest.fixture
def root(tmp_path):
    """d and link, f and f-link change places as fast as a process can do it."""
    root, outside = tmp_path / "ws", tmp_path / "outside"
    for directory, text in ((root / "d", "inside"), (outside, "OUTSIDE")):
        directory.mkdir(parents=True)
        (directory / "f.txt").write_text(text)
    (root / "f").write_text("inside")
    (outside / "only-outside.txt").touch()
    (root / "link").symlink_to(outside)
    (root / "f-link").symlink_to("../outside/f.txt")
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, root, str(os.getpid())], stdout=subprocess.PIPE
    )
    with swapper:
        assert swapper.stdout.readline() == b"swapping\n"
        yield root
        swapper.kill()


def attempts(minimum=TRIES):
    deadline = time.monotonic() + SECONDS
    number = 0
    while number < minimum or time.monotonic() < deadline:
        yield number
        number += 1
        if time.monotonic() > deadline + 3 * SECONDS:  # a slow machine
            return


def handlers(root):
    return {spec.name: spec.handler for spec in tools.workspace_tools(root)}


def test_the_short_version_loses(root):
    """realpath, check, open: the race is real."""

    def read(path):
        full = os.path.realpath(root / path)
        if not Path(full).is_relative_to(root):
            raise ValueError
        return Path(root / path).read_text()

    for _ in attempts(10**9):
        with contextlib.suppress(OSError, ValueError):
            if read("d/f.txt") == "OUTSIDE":
                return
    pytest.skip("this machine was too slow to lose the race")


@pytest.mark.parametrize("path", ["d/f.txt", "link/f.txt", "f", "d/../f"])
def test_nothing_outside_is_read(root, path):
    read_file = handlers(root)["read_file"]
    outcomes = set()
    for _ in attempts():
        try:
            outcomes.add(read_file(path))
        except ToolError as error:
            outcomes.add(str(error).partition(":")[0])
    assert "inside" in outcomes  # both sides of the race were met
    assert "path escapes workspace" in outcomes or path.startswith("d/..")
    assert "OUTSIDE" not in outcomes


@pytest.mark.parametrize("path", ["d/f.txt", "d/new/f.txt", "f"])
def test_nothing_outside_is_written(root, path):
    write_file = handlers(root)["write_file"]
    outside = root.parent / "outside"
    written = 0
    for number in attempts():
        with contextlib.suppress(ToolError):
            write_file(path, f"written {number}")
            written += 1
    assert written
    assert sorted(os.listdir(outside)) == ["f.txt", "only-outside.txt"]
    assert (outside / "f.txt").read_text() == "OUTSIDE"


@pytest.mark.parametrize("path", ["d/f.txt", "f"])
def test_nothing_outside_is_edited(root, path):
    edit_file = handlers(root)["edit_file"]
    outside = root.parent / "outside"
    outcomes, old, new = set(), "in", "IN"
    for _ in attempts():
        try:
            edit_file(path, f"{old}side", f"{new}side")
            outcomes.add("edited")
            old, new = new, old
        except ToolError as error:
            outcomes.add(str(error).rpartition(": ")[2])
    # A file that is itself renamed all the time has nearly always changed meanwhile.
    assert "edited" in outcomes or (path == "f" and "changed while being edited" in outcomes)
    assert sorted(os.listdir(outside)) == ["f.txt", "only-outside.txt"]
    assert (outside / "f.txt").read_text() == "OUTSIDE"


@pytest.mark.parametrize("pattern", ["d/*", "**/*", "*/only-outside.txt"])
def test_nothing_outside_is_listed(root, pattern):
    glob = handlers(root)["glob"]
    listed = set()
    for _ in attempts():
        listed |= set(glob(pattern).splitlines())
    assert not [line for line in listed if "only-outside" in line]
    assert "d/f.txt" in listed or pattern.startswith("*/")


def test_a_reader_sees_the_old_content_or_the_new(tmp_path):
    """Never a part of it: one process rewrites a large file, this one reads it."""
    script = (
        "import os, sys; from harness_lib.tools import workspace_tools\n"
        "write = {spec.name: spec.handler for spec in workspace_tools(sys.argv[1])}['write_file']\n"
        "texts = ['a' * 1_000_000, 'b' * 1_000_000]\n"
        "write('f', texts[0]); print('writing', flush=True)\n"
        "while os.getppid() == int(sys.argv[2]):\n"
        "    texts.reverse(); write('f', texts[0])\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path, str(os.getpid())], stdout=subprocess.PIPE
    )
    with writer:
        assert writer.stdout.readline() == b"writing\n"
        seen = set()
        for _ in attempts(100):
            data = (tmp_path / "f").read_bytes()
            seen.add((data[:1], data == data[:1] * 1_000_000))
        writer.kill()
    assert {whole for _, whole in seen} == {True}
    assert {first for first, _ in seen} == {b"a", b"b"}


def test_two_editors_lose_little_and_break_nothing(tmp_path):
    """Each edit is made on the content that it read, or is refused; the file is always whole."""
    script = (
        "import sys; from harness_lib.tools import workspace_tools\n"
        "from harness_lib.result import ToolError\n"
        "edit = {spec.name: spec.handler for spec in workspace_tools(sys.argv[1])}['edit_file']\n"
        "for n in range(300):\n"
        "    try: edit('f', f'{sys.argv[2]}{n}\\n', f'{sys.argv[2]}{n + 1}\\n')\n"
        "    except ToolError: pass\n"
    )
    (tmp_path / "f").write_text("a0\nb0\n")
    editors = [subprocess.Popen([sys.executable, "-c", script, tmp_path, who]) for who in "ab"]
    for editor in editors:
        assert editor.wait(timeout=60) == 0
    lines = (tmp_path / "f").read_text().split("\n")
    assert [line[:1] for line in lines] == ["a", "b", ""]
    assert os.listdir(tmp_path) == ["f"]
    assert len((tmp_path / "f").read_bytes()) < files.PAGE_BYTES

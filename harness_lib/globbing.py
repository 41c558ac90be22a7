"""Which names in a workspace fit a pattern. Built in lesson 09.

One walk over the tree, whatever the pattern: each directory is entered at most once, with all the
positions in the pattern that its path has reached. So `**/**/**` costs what `**` costs, and what
cannot fit is never entered. Links are listed and never followed, so nothing goes round in circles.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice

from harness_lib.walk import Directory, entries, subdirectory
from harness_lib.workspace import Workspace

MAX_LISTED = 1_000
"""Entries in one answer."""

MAX_LISTED_CHARS = 40_000
"""Characters in one answer."""

MAX_VISITED = 100_000
"""Entries looked at for one answer."""

MAX_DEPTH = 64
"""Directories below each other that are entered."""

MAX_PATTERN_CHARS = 4_096
NO_MATCHES = "(no matches)"

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"  # without tab and line feed
_BIDI_CONTROLS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_IN_TEXT = re.compile(f"[{_CONTROLS}{_BIDI_CONTROLS}]")
_IN_A_LINE = re.compile(f"[\t\n{_CONTROLS}{_BIDI_CONTROLS}]")


def find(workspace: Workspace, pattern: str) -> str:
    """The entries that fit, sorted, one a line, directories with a final slash.

    Only `*`, `?`, `[...]` and `**` (any number of directories) are special; a name that begins
    with a dot fits only a name in the pattern that does. Characters that would break a line or a
    terminal are escaped. Each bound that was hit is named in a last line. Raises ValueError for a
    pattern that leaves the workspace, and OSError if it cannot be listed.
    """
    if not pattern:
        raise ValueError("pattern is empty")
    if len(pattern) > MAX_PATTERN_CHARS:
        raise ValueError(f"pattern is longer than {MAX_PATTERN_CHARS:,} characters")
    names = workspace.names(pattern)
    if ".." in names:
        raise ValueError(f"path escapes workspace: {workspace.shown(pattern)!r}")
    search = _Search(names)
    if not search.parts:
        return "./"
    listed: list[str] = []
    chars = 0
    with workspace.directory() as root, closing(search.fitting(root, "", search.start, 1)) as found:
        for line in found:
            chars += len(line) + 1
            if len(listed) == MAX_LISTED or chars > MAX_LISTED_CHARS:
                search.notes[f"only {len(listed):,} entries are listed; narrow the pattern"] = None
                break
            listed.append(line)
    lines = sorted(listed) + [f"[{note}]" for note in search.notes]
    return "\n".join(lines) or NO_MATCHES


def harmless(text: str) -> str:
    """Text of several lines, with what else moves a cursor or turns its order round escaped."""
    return _IN_TEXT.sub(_escaped, text)


class _Search:
    """One pattern on its way through the tree.

    A position is the number of names of the pattern that a path has used up; a path holds several
    at once, because `**` may stand for any number of directories. At the last one it fits.
    """

    def __init__(self, names: list[str]) -> None:
        self.only_directories = names[-1:] == ["."]
        parts = [_matcher(name) for name in names if name != "."]
        # `**/**` means no more than `**`, and would only multiply the positions.
        self.parts = [p for p, before in zip(parts, [True, *parts], strict=False) if p or before]
        self.start = self._with_skips({0})
        self.notes: dict[str, None] = {}  # in order, each once
        self.visited = 0

    def fitting(
        self, directory: Directory, path: str, positions: frozenset[int], depth: int
    ) -> Iterator[str]:
        """The lines for all that fits below an open directory, whose path has these positions."""
        room = MAX_VISITED - self.visited
        batch = sorted(islice(entries(directory), room + 1))
        if len(batch) > room:
            self.notes[f"only the first {MAX_VISITED:,} entries were looked at"] = None
            batch = batch[:room]
        self.visited += len(batch)
        for raw, is_directory in batch:
            name = raw.decode("utf-8", "surrogateescape")
            reached = self._after(positions, name)
            if len(self.parts) in reached and (is_directory or not self.only_directories):
                yield _IN_A_LINE.sub(_escaped, path + name) + "/" * is_directory
            if not is_directory or not reached - {len(self.parts)}:
                continue
            if depth == MAX_DEPTH:
                self.notes[f"directories below {MAX_DEPTH} others were not entered"] = None
                continue
            try:
                with subdirectory(directory, raw) as below:
                    yield from self.fitting(below, f"{path}{name}/", reached, depth + 1)
            except OSError:  # not ours to read, or no longer there
                self.notes["some directories could not be read"] = None

    def _after(self, positions: frozenset[int], name: str) -> frozenset[int]:
        reached = set()
        for position in positions - {len(self.parts)}:
            fits = self.parts[position]
            if fits is None:
                if not name.startswith("."):
                    reached.add(position)
            elif fits(name):
                reached.add(position + 1)
        return self._with_skips(reached)

    def _with_skips(self, positions: set[int]) -> frozenset[int]:
        """Also the positions behind each `**`, which may stand for no directory at all."""
        for position in sorted(positions):
            while position < len(self.parts) and self.parts[position] is None:
                position += 1
                positions.add(position)
        return frozenset(positions)


def _matcher(part: str) -> Callable[[str], object] | None:
    """Whether a name fits a part of the pattern; None for `**`."""
    if part == "**":
        return None
    match = re.compile(fnmatch.translate(part)).match
    if part.startswith("."):
        return match
    return lambda name: not name.startswith(".") and match(name)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return repr(match[0])[1:-1]

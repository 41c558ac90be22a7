"""Text files as a model reads and edits them: in pages of whole lines. Built in lesson 09.

Only LF, CRLF and CR end a line. str.splitlines() and text mode know more ends (form feed, U+2028)
or change the ones that are there; so lines are cut in bytes, and decoded when a page is complete.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO

PAGE_BYTES = 48_000
"""The most that one page shows of a file; a result holds 50,000 characters."""

CHUNK_BYTES = 1 << 16

COUNTED_BYTES = 64 << 20
"""Read behind a page to count what is left: more than that is not worth the wait."""

SKIPPED_BYTES = 256 << 20
"""Read before a page to find its first line."""

MAX_EDIT_BYTES = 10 << 20
"""The largest file that is edited; it is held in memory twice."""

MAX_MATCHES = 10_000
MAX_COMPARED_BYTES = 64 << 20
"""Where counting the matches for an error ends, so that no text makes it take for ever."""

EMPTY_FILE = "(empty file)"
BOM = b"\xef\xbb\xbf"
_UTF_32_MARKS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
WIDE_MARKS = (*_UTF_32_MARKS, b"\xff\xfe", b"\xfe\xff")
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file, just as they are in it, and what there is to say about the rest."""

    text: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.notes:
            return self.text or EMPTY_FILE
        line_end = "" if self.text.endswith("\n") else "\n"
        return self.text + line_end + "\n".join(f"[{note}]" for note in self.notes)


def read_page(file: BinaryIO, offset: int = 1, limit: int | None = None) -> Page:
    """Whole lines of a file from line `offset` (the first is 1) on, `limit` of them at most.

    A page ends before PAGE_BYTES; only a single line that is longer is cut. However large the
    file, memory and time are bounded. A byte order mark is no part of the text. Raises ValueError
    for an offset or limit below 1, an offset behind the last line, and bytes that are no UTF-8.
    """
    if offset < 1 or (limit is not None and limit < 1):
        raise ValueError("offset and limit must be at least 1")
    offset = min(offset, sys.maxsize)  # no file has more lines
    limit = None if limit is None else min(limit, sys.maxsize)
    chunks = _chunks(file)
    buffer = _skip_lines(chunks, offset - 1)
    while len(buffer) < PAGE_BYTES + 2 and (chunk := next(chunks, b"")):
        buffer += chunk
    whole = len(buffer) < PAGE_BYTES + 2  # all that is left of the file
    if whole and limit is None:
        return _page(buffer)
    # A line's text must fit, its end (2 bytes at most) may stand out.
    matches = islice(_LINE_END.finditer(buffer, 0, PAGE_BYTES + 2), limit)
    ends = [match.end() for match in matches if match.start() <= PAGE_BYTES]
    if whole and len(ends) != limit:
        return _page(buffer)
    notes = []
    behind: bytes | None
    if ends:
        shown, behind = buffer[: ends[-1]], buffer[ends[-1] :]
    else:
        shown = buffer[: _character_start(buffer, PAGE_BYTES)]
        left, behind = _rest_of_line(buffer[len(shown) :], chunks)
        notes.append(f"line {offset} is cut: {left} more bytes of it are not shown")
    if behind is not None and (more := _lines_left(behind, chunks)):
        notes.append(f"{more}; go on with offset={offset + (len(ends) or 1)}")
    return _page(shown, *notes)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """The file without its BOM, in pieces that never end between CR and LF, none of them empty."""
    held = b""
    first = True
    while data := file.read(CHUNK_BYTES):
        if first:
            data = data.removeprefix(BOM)
            first = False
        data = held + data
        held = b"\r" if data.endswith(b"\r") else b""
        if data := data[: len(data) - len(held)]:
            yield data
    if held:
        yield held


def _skip_lines(chunks: Iterator[bytes], count: int) -> bytes:
    """What follows the first `count` lines in the chunk where they end."""
    if not count:
        return b""
    lines = size = 0
    last = b"\n"
    for chunk in chunks:
        ends = _count_ends(chunk)
        if lines + ends >= count:
            end = next(islice(_LINE_END.finditer(chunk), count - lines - 1, None)).end()
            if behind := chunk[end:] or next(chunks, b""):
                return behind
        lines += ends
        size += len(chunk)
        last = chunk
        if size > SKIPPED_BYTES:
            raise ValueError(
                f"line {count + 1} begins more than {SKIPPED_BYTES:,} bytes behind the start; "
                "bash can get at it, with tail or sed"
            )
    lines += not last.endswith((b"\r", b"\n"))
    raise ValueError(f"offset {count + 1} is past the end: the file has {_lines(lines)}")


def _rest_of_line(rest: bytes, chunks: Iterator[bytes]) -> tuple[str, bytes | None]:
    """How many bytes of a line are left, and what follows it; None if nobody looked so far."""
    size = 0
    for chunk in chain([rest], chunks):
        # Asking for a byte first is many times faster than the search, and mostly enough.
        if (b"\n" in chunk or b"\r" in chunk) and (match := _LINE_END.search(chunk)):
            return f"{size + match.start():,}", chunk[match.end() :]
        size += len(chunk)
        if size > COUNTED_BYTES:
            return f"at least {size:,}", None
    return f"{size:,}", b""


def _lines_left(behind: bytes, chunks: Iterator[bytes]) -> str:
    """ "3 more lines", "" for none, or "at least 3 more lines" where counting ended early."""
    lines = size = 0
    last = b"\n"
    for chunk in chain(filter(None, [behind]), chunks):
        lines += _count_ends(chunk)
        size += len(chunk)
        last = chunk
        if size > COUNTED_BYTES:
            lines += not last.endswith((b"\r", b"\n"))
            return f"at least {_lines(lines, 'more ')}"
    lines += not last.endswith((b"\r", b"\n"))
    return _lines(lines, "more ") if lines else ""


def _lines(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}line{'' if count == 1 else 's'}"


def _count_ends(data: bytes) -> int:
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def _character_start(data: bytes, position: int) -> int:
    """The position, or up to 3 bytes before it, where a UTF-8 character begins."""
    nearby = range(position, position - 4, -1)
    return next((start for start in nearby if data[start] & 0xC0 != 0x80), position)


def _page(data: bytes, *notes: str) -> Page:
    hint = _wide_hint(data)
    return Page(_decoded(data), (*notes, hint) if hint else notes)


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        hint = _wide_hint(data)
        reason = f"not UTF-8 text (a byte 0x{data[error.start]:02x})"
        raise ValueError(f"{reason}; {hint}" if hint else reason) from None


def _wide_hint(data: bytes) -> str:
    """What to do about a text in UTF-16 or UTF-32; "" for any other data.

    Latin text in UTF-16 has a NUL in every other byte, and is valid UTF-8 without its byte order
    mark; a program has NULs everywhere.
    """
    nuls = sorted((data[::2].count(0), data[1::2].count(0)))
    if data.startswith(_UTF_32_MARKS):
        encoding = "UTF-32"
    elif data.startswith(WIDE_MARKS) or (not nuls[0] and nuls[1] > len(data) // 4):
        encoding = "UTF-16"
    else:
        return ""
    return f"it looks like {encoding}: bash can convert it with iconv"


def replace_once(data: bytes, old_text: str, new_text: str) -> tuple[bytes, int]:
    """The bytes with the one place that holds `old_text` changed, and the number of its line.

    Raises ValueError where there is not exactly one, overlapping places counted, for an
    `old_text` that is empty or the same as `new_text`, and for UTF-16 and UTF-32.
    """
    old, new = encoded(old_text, "old_text"), encoded(new_text, "new_text")
    if not old:
        raise ValueError("old_text is empty; write_file can make a whole file")
    if old == new:
        raise ValueError("old_text and new_text are the same")
    if data.startswith(WIDE_MARKS):
        _decoded(data)  # which refuses it, as for a reader
    place = data.find(old)
    if place < 0:
        raise ValueError(f"no match for old_text{_line_end_hint(data, old)}")
    if data.find(old, place + 1) >= 0:
        count = _count_matches(data, old)
        raise ValueError(f"{count} matches for old_text; add lines around it until one is left")
    return data[:place] + new + data[place + len(old) :], _count_ends(data[:place]) + 1


def encoded(text: str, name: str) -> bytes:
    """The text as UTF-8; ValueError, naming the argument, for text that is no Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is not valid Unicode (it holds a lone surrogate)") from None


def _line_end_hint(data: bytes, old: bytes) -> str:
    if b"\n" in old and b"\r\n" not in old and b"\r\n" in data:
        return "; the file's lines end in CRLF (\\r\\n), those of old_text in LF (\\n)"
    if b"\r\n" in old and b"\r\n" not in data and b"\n" in data:
        return "; the file's lines end in LF (\\n), those of old_text in CRLF (\\r\\n)"
    return ""


def _count_matches(data: bytes, old: bytes) -> str:
    """Overlapping ones too, which bytes.count() does not see."""
    count = 0
    place = data.find(old)
    while place >= 0:
        count += 1
        if count * len(old) > MAX_COMPARED_BYTES or count > MAX_MATCHES:
            return f"more than {count - 1:,}"
        place = data.find(old, place + 1)
    return f"{count:,}"

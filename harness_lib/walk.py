"""How a path is followed below a root, without ever leaving it. Built in lesson 08.

The kernel would follow a whole path in one go, links and `..` included, and tell nobody where it
went. Here every name is looked up in a directory that is already open: a link is read and its
names take its place, and `..` goes back to the directory that the walk came from. Nothing is
looked up twice, so nothing that another process renames in between changes where this ends.
"""

from __future__ import annotations

import errno
import ntpath
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

Directory = int | bytes
"""An open directory: a descriptor, or its absolute name where BY_DESCRIPTOR is False."""

_NEEDED = {os.open, os.stat, os.readlink, os.mkdir, os.rename, os.unlink}
BY_DESCRIPTOR = os.supports_dir_fd >= _NEEDED
"""False on Windows. The same walk then goes by names: it still checks each of them before the
last is used, but a directory that is swapped for a link in between can win."""

WINDOWS = os.name == "nt"
MAX_LINKS = 40  # followed for one path, as in the Linux kernel: more means a loop
MAX_DEPTH = 256  # directories held open for one path


def flags(*names: str) -> int:
    """Flags for os.open, as far as the platform has them: never inherited, no link followed."""
    return sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", *names))


_ENTER = flags("O_DIRECTORY", "O_PATH")
_SCAN = flags("O_DIRECTORY", "O_RDONLY")


class Place(NamedTuple):
    """Where a walk ended: a name in an open directory."""

    directory: Directory
    name: bytes
    status: os.stat_result | None  # what it was when it was looked at; None: nothing is there
    names: list[bytes]  # the way from the root, free of links and `..`

    def at(self, name: bytes | None = None) -> tuple[bytes, int | None]:
        """Path and dir_fd for the os functions: of this place, or of a neighbour's name."""
        return _at(self.directory, name or self.name)


def follow(
    roots: tuple[bytes, ...], path: bytes, opened: list[Directory], missing: str = "refuse"
) -> Place:
    """Follow a path to the place where it ends, which need not exist.

    roots: spellings of the root; the first is opened, an absolute path may begin with any.
    opened: filled with the directories on the way, for the caller to `leave`, also on an error.
    missing: what to do about missing directories: "refuse" them, "make" them, or "pass" by them.
    Raises ValueError where the path leaves the root or has too many links, and OSError.
    """
    rest = below(roots, path)[::-1]  # the next name is the last
    names: list[bytes] = []  # of the directories in `opened`, without the root
    links = 0
    opened.append(enter(None, roots[0]))
    while rest:
        name = rest.pop()
        if name == b".":
            continue
        if name == b"..":
            if not names:
                raise ValueError("path escapes workspace")
            _back(names, opened)
        elif rest and _try_forward(name, names, opened):
            pass
        elif (status := _look(opened[-1], name)) and stat.S_ISLNK(status.st_mode):
            target, dir_fd = _at(opened[-1], name)
            target = os.readlink(target, dir_fd=dir_fd)
            links += 1
            if links > MAX_LINKS:
                raise ValueError("path has too many links, or a loop of them")
            rest += below(roots, target)[::-1]
            while names and _is_absolute(target):
                _back(names, opened)
        elif not rest:
            return Place(opened[-1], name, status, [*names, name])
        elif status is None and missing == "pass":
            if gone := _pass_by(name, rest):
                return Place(opened[-1], b".", None, [*names, *gone])
        else:
            if status is None and missing == "make" and not {b".", b".."} & set(rest):
                _make(opened[-1], name)
            _forward(name, names, opened)  # a file raises here, or what is missing
    return Place(opened[-1], b".", _look(opened[-1], b"."), names)


def encoded(text: str) -> bytes:
    """A path's bytes, the same in every locale; ValueError for what cannot be a path."""
    try:
        path = text.encode()
    except UnicodeEncodeError:
        raise ValueError("path is not valid Unicode") from None
    if not path:
        raise ValueError("path is empty")
    if b"\0" in path:
        raise ValueError("path holds a NUL character")
    return path


def below(roots: tuple[bytes, ...], path: bytes) -> list[bytes]:
    """A path's names from the root on; a last "." says that it must be a directory.

    Raises ValueError for an absolute path that does not begin with a spelling of the root.
    """
    names = split(path)
    if _is_absolute(path):
        fitting = [root for root in map(split, roots) if names[: len(root)] == root]
        if not fitting:
            raise ValueError("path escapes workspace")
        names = names[len(fitting[0]) :]
    if WINDOWS and any(map(_is_special_on_windows, names)):
        raise ValueError("path escapes workspace")
    return names


def split(path: bytes) -> list[bytes]:
    """The names in a path, with a last "." where it ends in a slash."""
    if WINDOWS:
        path = path.replace(b"\\", b"/")
    if b"/" not in path:
        return [path]
    names = [name for name in path.split(b"/") if name not in (b"", b".")]
    if path.endswith((b"/", b"/.")):
        names.append(b".")
    return names


def _is_absolute(path: bytes) -> bool:
    return path.startswith(b"/") or (WINDOWS and (path[:1] == b"\\" or path[1:2] == b":"))


def _is_special_on_windows(name: bytes) -> bool:
    """A drive, a stream of a file, or a device such as NUL, which is there in every directory."""
    reserved = getattr(ntpath, "isreserved", None)  # from Python 3.13 on
    text = os.fsdecode(name)
    return text not in (".", "..") and (":" in text or bool(reserved and reserved(text)))


def _back(names: list[bytes], opened: list[Directory]) -> None:
    names.pop()
    leave(opened.pop())


def _forward(name: bytes, names: list[bytes], opened: list[Directory]) -> None:
    if len(names) == MAX_DEPTH:
        raise OSError(errno.ENAMETOOLONG, f"more than {MAX_DEPTH} directories deep")
    opened.append(enter(opened[-1], name))
    names.append(name)


def _try_forward(name: bytes, names: list[bytes], opened: list[Directory]) -> bool:
    """Enter what is most likely a directory: one call to the system instead of two."""
    try:
        _forward(name, names, opened)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.ENOENT):
            return False  # a file, a link or nothing
        raise
    return True


def _pass_by(name: bytes, rest: list[bytes]) -> list[bytes]:
    """The names below a missing directory, which hold no links; [] where `..` left it again."""
    gone = [name]
    while rest and gone:
        following = rest.pop()
        if following == b"..":
            gone.pop()
        elif following != b".":
            gone.append(following)
    return gone


# What follows knows both kinds of Directory; nothing else does.


def _at(directory: Directory | None, name: bytes) -> tuple[bytes, int | None]:
    if isinstance(directory, bytes):
        return os.path.join(directory, name), None
    return name, directory


def _look(directory: Directory, name: bytes) -> os.stat_result | None:
    path, dir_fd = _at(directory, name)
    try:
        return os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _make(directory: Directory, name: bytes) -> None:
    path, dir_fd = _at(directory, name)
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(path, dir_fd=dir_fd)


def enter(directory: Directory | None, name: bytes) -> Directory:
    """Open a directory in an open one (None: by its absolute name); OSError for all else."""
    if BY_DESCRIPTOR:
        return os.open(name, _ENTER, dir_fd=directory)
    path, _ = _at(directory, name)
    status = os.lstat(path)
    is_junction = getattr(status, "st_reparse_tag", 0) != 0  # a link to a directory, on Windows
    if is_junction or not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return path


def leave(directory: Directory) -> None:
    """Close a directory that `enter` opened."""
    if isinstance(directory, int):
        os.close(directory)


@contextmanager
def subdirectory(directory: Directory, name: bytes) -> Iterator[Directory]:
    """A directory in an open one, for as long as the block runs; OSError for a link to one."""
    entered = enter(directory, name)
    try:
        yield entered
    finally:
        leave(entered)


def entries(directory: Directory) -> Iterator[tuple[bytes, bool]]:
    """Name and "is a directory, not a link to one" of all in an open directory, in no order."""
    listed = directory
    if isinstance(directory, int):  # opened to pass through, which is not enough for a list
        listed = os.open(b".", _SCAN, dir_fd=directory)
    try:
        with os.scandir(listed) as found:
            for entry in found:
                yield os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)
    finally:
        if listed is not directory:
            leave(listed)

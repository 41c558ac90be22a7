"""Where a tool may touch files: inside one directory, whatever the path says. Built in lesson 08.

Join, resolve, check, open are four acts, and the files can change between any two of them. Here
check and use are one act: walk.py ends in an open directory, and the file is opened, made or
replaced in that directory, by its last name alone.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from harness_lib.replacing import identity, replace
from harness_lib.walk import Directory, Place, below, encoded, flags, follow, leave

MAX_SHOWN = 200  # characters of a path in a message
ROOT = "(workspace)"  # in a message

_READ = flags("O_RDONLY", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")
_WRITE = flags("O_WRONLY", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")
_EDIT = flags("O_RDWR", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")


def safe_path(path_text: str, workdir: str | os.PathLike[str]) -> Path:
    """`Workspace(workdir).safe_path(path_text)`, for a single question. Built in lesson 08."""
    return Workspace(workdir).safe_path(path_text)


@dataclass(frozen=True, slots=True)
class Workspace:
    """One directory that paths cannot leave. Built in lesson 08.

    root: any spelling of an existing directory. It is resolved once, so that a later chdir
        changes nothing. ValueError for what is no directory or cannot be reached, for "/", which
        confines nothing, and for "", which is an unset variable more often than a directory.

    Every path is text relative to the root; an absolute one is accepted if it begins with the
    root, as it was given or as it was resolved. Two kinds of errors, and neither's text holds the
    root: ValueError for a broken rule (leaves the root, a loop of links, empty, a NUL), OSError
    for what the system refuses, with the path as asked in `filename` and why in `strerror`.
    """

    root: Path
    _spellings: tuple[bytes, bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if os.fspath(self.root) == "":
            raise ValueError("the workspace is empty text; '.' is the current directory")
        try:
            given = Path(self.root).absolute()  # asks for the current directory only if it has to
            resolved = Path(os.path.realpath(given, strict=True))
            os.stat(os.path.join(resolved, ""))
        except (OSError, ValueError) as error:
            message = f"the workspace is not a directory: {str(self.root)!r} ({error})"
            raise ValueError(message) from None
        if resolved == resolved.parent:
            raise ValueError(f"{str(given)!r} as the workspace would confine nothing")
        object.__setattr__(self, "root", resolved)
        object.__setattr__(self, "_spellings", (os.fsencode(resolved), os.fsencode(given)))

    def safe_path(self, text: str) -> Path:
        """The absolute path, free of links, that `text` stands for; it need not exist.

        ValueError "path escapes workspace: ..." where it would leave. The answer is about this
        moment: to act on a file, use the methods below, which check and act at once.
        """
        with self._walk(text, missing="pass") as place:
            return self.root.joinpath(*map(os.fsdecode, place.names))

    @contextmanager
    def open(self, text: str) -> Iterator[FileIO]:
        """A regular file, open for reading bytes, unbuffered, while the block runs."""
        with self._walk(text) as place, _open_regular(place, _READ) as file:
            try:
                yield file
            except OSError as error:
                _keep_name(error)
                raise

    def read(self, text: str) -> bytes:
        """All bytes of a regular file."""
        with self.open(text) as file:
            return file.readall()

    def write(self, text: str, data: bytes) -> None:
        """Make `data` the content of a regular file, old or new; missing parents are made.

        The file is replaced by a finished one, which keeps the mode and, where possible, owner,
        ACL and attributes. So a reader sees the old content or the new, and a write that fails
        leaves the old; a power loss may still lose both, since nothing is forced to disk. Other
        hard links keep the old content. A file that the user may not write is not replaced.
        """
        with self._walk(text, missing="make") as place:
            if place.status is None:
                return replace(place, data)
            with _open_regular(place, _WRITE) as old:
                return replace(place, data, old)

    def edit(self, text: str, change: Callable[[bytes], bytes], max_bytes: int) -> None:
        """Replace a regular file's content by `change(content)`, in one walk; see `write`.

        OSError "changed while being edited" if another process touched the file meanwhile, but
        for the very last moment, between that look and the new file's name. What `change` raises
        passes through, and the file stays. Larger than `max_bytes`: OSError.
        """
        with self._walk(text) as place, _open_regular(place, _EDIT) as old:
            status = os.fstat(old.fileno())
            if status.st_size > max_bytes:
                raise OSError(errno.EFBIG, f"larger than {max_bytes:,} bytes")
            try:
                data = change(old.readall())
            except OSError as error:
                _keep_name(error)
                raise
            replace(place, data, old, identity(status))

    @contextmanager
    def directory(self, text: str = ".") -> Iterator[Directory]:
        """An open directory, for `walk.entries` and `walk.subdirectory`."""
        with self._walk(text + "/") as place:
            yield place.directory

    def names(self, text: str) -> list[str]:
        """A path's names from the root on, a last "." for a directory; nothing is looked up.

        ValueError for an absolute path that does not begin with the root, and for no path at all.
        """
        try:
            return [name.decode() for name in below(self._spellings, encoded(text))]
        except ValueError as broken_rule:
            raise ValueError(f"{broken_rule}: {self.shown(text)!r}") from None

    def shown(self, text: str) -> str:
        """A path as messages tell it: without the root, clipped. Quote it with repr()."""
        plain = re.sub(r"/(?:\.?/)+", "/", text)
        for raw in sorted(self._spellings, key=len, reverse=True):
            root = raw.decode("utf-8", "surrogateescape")  # as `text` is, in every locale
            if plain.startswith(root):
                rest = plain[len(root) :]
                text = rest[1:] or ROOT if rest.startswith(("/", os.sep)) else ROOT + rest
                break
        return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."

    def unmoved_root(self) -> Path:
        """The root, for a child to start in; OSError where a link leads from there elsewhere.

        Not told by its number (st_ino), which some network and FUSE file systems change.
        """
        if os.path.realpath(self.root) != str(self.root):
            raise OSError(errno.ENOTDIR, "a link has taken its place", ROOT)
        return self.root

    @contextmanager
    def _walk(self, text: str, missing: str = "refuse") -> Iterator[Place]:
        """The place where a path ends, open while the block runs; see `walk.follow`.

        Every error gets its path here, those of the system that the block meets included.
        """
        opened: list[Directory] = []
        try:
            try:
                place = follow(self._spellings, encoded(text), opened, missing)
            except ValueError as broken_rule:
                raise ValueError(f"{broken_rule}: {self.shown(text)!r}") from None
            yield place
        except OSError as error:
            if vars(error).pop("_is_callers", False):
                raise
            reason = error.strerror or "input or output failed"
            reason = reason[0].lower() + reason[1:]
            path = self.shown(text) if opened else ROOT  # the root itself could not be opened
            raise OSError(error.errno or errno.EIO, reason, path) from error
        finally:
            for directory in opened:
                leave(directory)


def _keep_name(error: OSError) -> None:
    """What the caller's own code raises passes through `_walk`; only its reads have no name yet."""
    error._is_callers = error.filename is not None or error.errno is None


def _open_regular(place: Place, how: int) -> FileIO:
    """Open what must be a regular file. A pipe or a device is not even opened: that can act."""
    if place.status is None:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    _check_regular(place.status)
    path, dir_fd = place.at()
    descriptor = os.open(path, how, dir_fd=dir_fd)
    try:
        _check_regular(os.fstat(descriptor))  # it may be another one by now
        return FileIO(descriptor, "rb" if how == _READ else "rb+")
    except BaseException:
        os.close(descriptor)
        raise


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")

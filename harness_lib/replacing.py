"""How a file is replaced by a finished one, in a directory that is open. Built in lesson 09.

The new content is written beside the old and takes its name in one step: a reader sees one or the
other, and a write that fails leaves all as it was.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from io import FileIO

from harness_lib.walk import Place, flags

_CREATE = flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_BINARY")
_ACL = "system.posix_acl_access"
_CLEARED = {"security.capability", "security.ima", "security.evm"}  # by a write, as setuid is


def replace(
    place: Place, data: bytes, old: FileIO | None = None, before: tuple[int, ...] | None = None
) -> None:
    """Put a finished file in the place of the old one, or leave all as it was.

    before: OSError if the old one's `identity` is another by now; the last moment stays open.
    """
    name = os.path.join(os.path.dirname(place.name), f".{os.urandom(8).hex()}.tmp".encode())
    temporary, dir_fd = place.at(name)
    try:
        mode = 0o666 if old is None else 0o600
        with open(os.open(temporary, _CREATE, mode, dir_fd=dir_fd), "wb") as file:
            file.write(data)
            if old is not None:
                _take_over(file.fileno(), old.fileno())
                old.close()  # Windows replaces no open file
        target, _ = place.at()
        if before and before != identity(os.stat(target, dir_fd=dir_fd, follow_symlinks=False)):
            raise OSError(errno.EBUSY, "changed while being edited")
        os.replace(temporary, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:  # also on an interrupt
        with suppress(OSError):
            os.unlink(temporary, dir_fd=dir_fd)
        raise


def _take_over(new: int, old: int) -> None:
    """Owner, mode, ACL and attributes of the old file; not what any write clears, such as setuid.

    Nobody gains by it: where the group cannot be kept, it and all others have what both had; with
    an ACL, where the mode's bits for the group are the most that anybody on it has, nothing.
    """
    if not hasattr(os, "fchown"):  # Windows
        return
    status, names = os.fstat(old), set()
    for owner in (status.st_uid, -1):  # only root gives a file away; a member, to another group
        with suppress(OSError):
            os.fchown(new, owner, status.st_gid)
            break
    with suppress(OSError, AttributeError):  # macOS, or a file system without
        names = set(os.listxattr(old)) - _CLEARED
        os.removexattr(new, _ACL)  # which the directory gave it
    mode = stat.S_IMODE(status.st_mode) & 0o777
    same_group = os.fstat(new).st_gid == status.st_gid
    if not same_group:
        both = 0 if _ACL in names else mode & mode >> 3 & 7
        mode = mode & 0o700 | both << 3 | both
        names.discard(_ACL)
    elif _ACL in names:  # which brings the group's bits along
        mode &= 0o707 | (mode & 7) << 3
    os.fchmod(new, mode)
    for name in names:
        with suppress(OSError):
            os.setxattr(new, name, os.getxattr(old, name))


def identity(status: os.stat_result) -> tuple[int, ...]:
    """What tells a file from another one, and from itself before any change of it."""
    # Nobody can set st_ctime back; the times alone may be too coarse on some file systems.
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

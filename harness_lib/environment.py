"""What a child process inherits: what is on a list, and nothing else. Built in lesson 10.

The harness's own environment holds the provider's key. A list of what to remove always misses
one (DATABASE_URL is not called a secret); a list of what to pass on fails on the safe side.

This is no sandbox: on most systems a child of the same user can still read the parent's
environment under /proc, and every file that the user can read.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Mapping

WINDOWS = os.name == "nt"
LOCALE_NAMES = (
    *("LANG", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION"),
    *("LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER"),
    *("LC_TELEPHONE", "LC_TIME"),
)
TEMPORARY_NAMES = ("TMPDIR", "TMP", "TEMP")
WINDOWS_NAMES = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT")
"""Without these, most programs do not start on Windows."""

MAX_VALUE_BYTES = 128 * 1024 - 100
"""Linux starts no child with more in one variable (MAX_ARG_STRLEN, its name included)."""

_ALWAYS_KNOWN = {"C", "POSIX", "C.UTF-8"}
_LOCALE = re.compile(r"[A-Za-z0-9_.@=,-]+")
_LANGUAGES = re.compile(r"[A-Za-z0-9_.@:-]+")
_HARMFUL = re.compile(r"[\x00-\x1f\x7f]|\(\) *\{")  # the second: a function for an old bash


def build_subprocess_env(
    workdir: str | os.PathLike[str], environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment for a child that works in `workdir`. Built in lesson 10.

    environ: where the values come from; os.environ if None. It is only read.

    Passed on, if the value is sound: PATH (absolute entries alone; os.defpath if none is left),
    LANG, LANGUAGE and the LC_ categories (known locales alone), TMPDIR, TMP and TEMP (existing
    directories alone), on Windows also what a process needs to start. HOME and PWD are the
    resolved `workdir`: so no dot file of the user is read or written, which costs git's identity,
    and dot files of the workspace are read in their place. Nothing else is passed on.
    """
    # os.environ is asked for single names: another thread may change it meanwhile.
    source = os.environ if environ is None else environ
    if WINDOWS and environ is not None:  # names have no case there, which os.environ knows
        source = {str(name).upper(): value for name, value in environ.items()}
    checks = {"LANGUAGE": _LANGUAGES.fullmatch}
    checks |= dict.fromkeys(LOCALE_NAMES, is_known_locale)
    checks |= dict.fromkeys(TEMPORARY_NAMES, _is_directory)
    if WINDOWS:
        checks |= dict.fromkeys(WINDOWS_NAMES, bool)
    child = {"PATH": _sound_path(source.get("PATH")) or _sound_path(os.defpath)}
    for name, is_sound in checks.items():
        value = source.get(name)
        if _is_harmless(value) and value and is_sound(value):
            child[name] = value
    child["HOME"] = child["PWD"] = os.path.realpath(workdir)
    return child


def find_shell(workdir: str | os.PathLike[str]) -> tuple[str, list[str]]:
    """A shell, and its arguments up to the command. Built in lesson 10.

    By the first of them it calls itself in its messages, so that these hold no path of the host.
    "--" stands before the command, since that may begin with "-" or "+".
    """
    for environ in (None, {}):  # on the PATH of the harness, or else on the system's default one
        path = build_subprocess_env(workdir, environ)["PATH"]
        if bash := shutil.which("bash", path=path):
            return bash, ["bash", "--noprofile", "--norc", "-c", "--"]
        if sh := shutil.which("sh", path=path):
            return sh, ["sh", "-c", "--"]
    return "sh", ["sh", "-c", "--"]


def _is_harmless(value: object) -> bool:
    """Whether a child can start with it; a caller's mapping may hold anything."""
    try:
        return len(os.fsencode(value)) <= MAX_VALUE_BYTES and not _HARMFUL.search(value)
    except (UnicodeEncodeError, TypeError):
        return False


def _sound_path(path: object) -> str:
    """PATH without the entries that mean "wherever the child is": empty and relative ones."""
    entries = path.split(os.pathsep) if isinstance(path, str) else []
    sound = os.pathsep.join(e for e in entries if os.path.isabs(e) and _is_harmless(e))
    return sound if _is_harmless(sound) else ""


def _is_directory(value: str) -> bool:
    return os.path.isabs(value) and os.path.isdir(value)


def is_known_locale(name: str) -> bool:
    """Whether a child's C library has this locale; an unknown one makes perl, bash and others warn.

    With locales from a place of its own (LOCPATH, or LOCALE_ARCHIVE on NixOS) this process may know
    more of them than a child, to which neither is passed on. Only the built-in ones are then known.
    """
    if name in _ALWAYS_KNOWN:
        return True
    elsewhere = "LOCPATH" in os.environ or "LOCALE_ARCHIVE" in os.environ
    return not elsewhere and bool(_LOCALE.fullmatch(name)) and _has_locale(name)


@functools.lru_cache(maxsize=64)
def _has_locale(name: str) -> bool:
    """Asked with newlocale(), which changes nothing: setlocale() would, and for all threads."""
    try:
        import ctypes  # slow to import, and rarely needed

        library = ctypes.CDLL(None)
        newlocale, freelocale = library.newlocale, library.freelocale
    except (ImportError, OSError, TypeError, AttributeError):  # Windows, or a C library without
        return False
    newlocale.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
    newlocale.restype = ctypes.c_void_p
    freelocale.argtypes = [ctypes.c_void_p]
    freelocale.restype = None
    six_categories = 0b111111  # in glibc, musl and macOS alike: all that POSIX names
    found = newlocale(six_categories, name.encode(), None)
    if found:
        freelocale(found)
    return bool(found)

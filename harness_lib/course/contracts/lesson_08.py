"""What lesson 08 asks of its pieces: where does a path end, and is it the file that was checked?"""

from __future__ import annotations

import functools
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from unittest import mock

from harness_lib.course.contract import Case, Contract
from harness_lib.workspace import Workspace, safe_path

FILES = {
    "desk/notes.txt": "buy apples",
    "desk/docs/a.txt": "chapter one",
    "desk/docs/old/b.txt": "a draft",
    "desk/notes..txt": "a good name",
    "a.txt": "not yours",
    "secret.txt": "the safe's number",
    "desk-old/key.txt": "an old key",
}
LINKS = {
    "desk/up": "..",
    "desk/here": "docs",
    "desk/alias.txt": "notes.txt",
    "desk/loop": "loop",
    "door": "desk",
}


@contextmanager
def _workspace() -> Iterator[Path]:
    """A directory that holds `desk`, the workspace, and neighbours that nobody may read."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(os.path.realpath(folder))
        for name, text in FILES.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        for name, target in LINKS.items():
            (place / name).symlink_to(target)
        yield place


class _Ask:
    """A path, for a workspace that is given by its own name, or through a link."""

    def __init__(self, path: str, root: str = "desk", says: str = "") -> None:
        self.path, self.root, self.says = path, root, says

    def __repr__(self) -> str:
        return f"{self.path!r}{self.says}"


def _ends(piece: Callable, sent: _Ask) -> object:
    """Where a path ends, relative to the workspace; "refused" for a ValueError."""
    with _workspace() as place:
        root = place / sent.root
        try:
            end = piece(sent.path.replace("{root}", str(root)), root)
        except ValueError as error:
            rules = ("path escapes workspace", "path has too many links")  # the library's, too
            return "refused" if str(error).startswith(rules) else f"ValueError: {error}"
        except Exception as error:  # whose message may hold the temporary directory's name
            return f"{type(error).__name__}: {str(error).replace(str(place), '...')}"
        if not isinstance(end, Path):
            kind = type(end).__name__
            return end if end is None else f"no Path, but a value of the type {kind}"
        for where, inside in ((place / "desk", ""), (place, "outside: ")):
            if end.is_relative_to(where):
                return f"{inside}{end.relative_to(where)}"
        return "outside: another place of the host" if end.is_absolute() else "a relative Path"


OUT = "The path ends outside, and was let through. "

WHERE = (
    Case(
        "a file",
        _Ask("notes.txt"),
        "notes.txt",
        "The usual case.",
        slips=(
            (None, "Nothing came back. Return the resolved path."),
            ("no Path, but a value of the type str", "Text came back. Return a Path, which compares name by name."),
            ("refused", "A good path was refused."),
        ),
    ),
    Case(
        "back and forth inside",
        _Ask("docs/../notes.txt"),
        "notes.txt",
        "`..` is no crime. Where the path ends is what counts.",
        slips=(("refused", "A path was refused for its `..`, though it ends inside."),),
    ),
    Case(
        "the parent",
        _Ask("../secret.txt"),
        "refused",
        "The oldest way out.",
        slips=(("outside: secret.txt", OUT + "Compare where it ends, not how the joined text begins."),),
    ),
    Case(
        "a neighbour whose name begins alike",
        _Ask("../desk-old/key.txt"),
        "refused",
        "`desk-old` begins with `desk` as text, and is another directory.",
        slips=(("outside: desk-old/key.txt", OUT + "As text it begins with the root. is_relative_to() compares name by name."),),
    ),
    Case(
        "an absolute path outside",
        _Ask("/etc/hostname"),
        "refused",
        "Joined to the root, an absolute path takes its place.",
        slips=(("outside: another place of the host", OUT + "os.path.join lets an absolute path win, so the end has to be checked."),),
    ),
    Case(
        "an absolute path inside",
        _Ask("{root}/docs/a.txt"),
        "docs/a.txt",
        "A model that has seen the workspace's path may use it.",
        slips=(("refused", "An absolute path was refused for being absolute, though it ends inside."),),
    ),
    Case(
        "a link that stays inside",
        _Ask("here/a.txt", says=", where `here` is a link to `docs`"),
        "docs/a.txt",
        "Links within the workspace are ordinary files of many projects.",
        slips=(
            ("here/a.txt", "The link was not followed. Where the path ends is not known yet."),
            ("refused", "A link that stays inside was refused. Follow it, then look where it ends."),
        ),
    ),
    Case(
        "a link that leads out",
        _Ask("up/secret.txt", says=", where `up` is a link to `..`"),
        "refused",
        "No text shows a link.",
        slips=(
            ("up/secret.txt", OUT + "Its text is tidy, and `up` is a link. os.path.realpath looks at the disk."),
            ("outside: secret.txt", OUT + "It was resolved, and not compared with the root."),
        ),
    ),
    Case(
        "a loop before the way out",
        _Ask("loop/../up/secret.txt", says=", where `loop` is a link to itself"),
        "refused",
        "realpath gives up at the loop (before Python 3.13), and leaves `up` unresolved.",
        slips=(("up/secret.txt", OUT + "What was compared still holds a link: realpath gave up at the loop. Refuse a result in which any part is one."),),
    ),
    Case(
        "a file that is not there yet",
        _Ask("docs/new.txt"),
        "docs/new.txt",
        "It is about to be written.",
        slips=(("FileNotFoundError: [Errno 2] No such file or directory: '.../desk/docs/new.txt'", "What does not exist raised. A path may be one to write to: resolve without strict."), ("refused", "A path was refused because nothing is there yet. It may be one to write to.")),
    ),
    Case(
        "a workspace given through a link",
        _Ask("docs/a.txt", root="door", says=", for a root that is given as a link to the workspace"),
        "docs/a.txt",
        "On macOS, /tmp is a link; and people give workspaces links.",
        slips=(("refused", "Every path is refused if the root is a link, since only one side is resolved. Resolve the root as well."),),
    ),
)  # fmt: skip

PATHS = Contract(
    check_id="08.path",
    piece="checked_path",
    library=safe_path,
    observe=_ends,
    cases=tuple(replace(case, slips=()) for case in WHERE),
)

SAFE_PATH = Contract(
    check_id="08.1",
    piece="my_safe_path",
    stub="92590e224219e898",
    library=safe_path,
    observe=_ends,
    cases=WHERE,
)


# --- the walk -------------------------------------------------------------------------------------


class _Meanwhile:
    """os.open, os.stat and os.lstat as they are, but for what happens just after them.

    What this thread opens is noted; and `docs` is swapped once it has been looked at or opened
    `swap_at` times (0: never): by another process, as it were.
    """

    def __init__(self, place: Path, swap_at: int) -> None:
        self.place, self.swap_at, self.looks = place, swap_at, 0
        self.thread = threading.get_ident()
        self.opened: list[tuple[int, tuple[int, int]]] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        with ExitStack() as patches:
            for name in ("open", "stat", "lstat"):
                wrapper = functools.partial(self._act, getattr(os, name))
                patches.enter_context(mock.patch.object(os, name, wrapper))
            yield

    def _act(self, real: Callable, path: object, *args: object, **kwargs: object) -> object:
        done = real(path, *args, **kwargs)
        if threading.get_ident() == self.thread:
            if isinstance(done, int):
                self.opened.append((done, self._which(done)))
            is_text = isinstance(path, (str, bytes, os.PathLike))
            self.looks += is_text and "docs" in Path(os.fsdecode(path)).parts
            if self.looks == self.swap_at > 0:
                self.swap_at = -1
                os.rename(self.place / "desk/docs", self.place / "desk/docs.old")
                os.symlink("..", self.place / "desk/docs")
        return done

    @staticmethod
    def _which(descriptor: int) -> tuple[int, int]:
        status = os.fstat(descriptor)
        return status.st_dev, status.st_ino

    def left_open(self) -> int:
        """How many are open still, and close them. By their file: a number may be another's now."""
        left = 0
        for descriptor, which in self.opened:
            with suppress(OSError):
                if self._which(descriptor) == which:
                    os.close(descriptor)
                    left += 1
        return left


class _Read:
    """A path to read, and whether `docs` is swapped for a link after it was looked at."""

    def __init__(self, path: str, says: str = "", swaps: bool = False) -> None:
        self.path, self.says, self.swaps = path, says, swaps

    def __repr__(self) -> str:
        return f"{self.path!r}{self.says}"


def _reads(piece: Callable, sent: _Read) -> object:
    """What was read; with a swap, at each moment in turn at which it can come."""
    if not sent.swaps:
        return _reads_once(piece, sent, 0)[0]
    for swap_at in range(1, 40):
        said, swapped = _reads_once(piece, sent, swap_at)
        if not swapped:
            return "chapter one, or refused"
        if said not in ("chapter one", "refused"):
            return said
    return "chapter one, or refused"


def _reads_once(piece: Callable, sent: _Read, swap_at: int) -> tuple[object, bool]:
    with _workspace() as place:
        meanwhile = _Meanwhile(place, swap_at)
        with meanwhile.watching():
            try:
                said = piece(str(place / "desk"), sent.path.replace("{root}", str(place / "desk")))
            except (ValueError, OSError) as error:
                closed_twice = isinstance(error, OSError) and error.errno == 9
                said = "Bad file descriptor" if closed_twice else "refused"
        left = meanwhile.left_open()
        return f"{said}; {left} left open" if left else said, meanwhile.swap_at < 0


def _read_by_library(root: str, path: str) -> str:
    """The library follows links and `..` inside; this walk's rules are put before it."""
    names = path.split("/")
    links = [Path(root, *names[: n + 1]).is_symlink() for n in range(len(names))]
    if path.startswith("/") or ".." in names or any(links):
        raise ValueError("path escapes workspace")
    return Workspace(root).read(path).decode()


LEFT = "A descriptor stays open. Each step of the walk closes the one before; the last is closed in finally."

LEFT_REFUSED = (
    ("refused; 1 left open", "It was refused, and a directory stays open. Close what you hold in finally."),
    ("refused; 2 left open", "It was refused, and what was opened on the way stays open."),
)  # fmt: skip

READ = Contract(
    check_id="08.2",
    piece="read_beneath",
    stub="a85fe36b6986fcfc",
    library=_read_by_library,
    observe=_reads,
    cases=(
        Case(
            "a file in the root",
            _Read("notes.txt"),
            "buy apples",
            "No directory is on the way: the root itself is held.",
            slips=(
                ("None; 1 left open", "Nothing came back, and the root stays open. Open the last name in the directory that you hold."),
                (None, "Nothing came back. Return the file's text."),
                ("buy apples; 1 left open", LEFT),
                ("buy apples; 2 left open", LEFT),
            ),
        ),
        Case(
            "a file two directories down",
            _Read("docs/old/b.txt"),
            "a draft",
            "Each name is opened in the directory before it.",
            slips=(
                ("refused", "A good path was refused. Is each directory opened with dir_fd, in the one before?"),
                ("a draft; 2 left open", LEFT),
                ("Bad file descriptor", "A directory was closed before the next one was opened in it, or closed twice."),
            ),
        ),
        Case(
            "the parent",
            _Read("../secret.txt"),
            "refused",
            "A descriptor does not stop `..`: it is in every directory.",
            slips=(("the safe's number", "`..` was opened like any other name, and led out."),),
        ),
        Case(
            "the parent on the way",
            _Read("docs/../../secret.txt"),
            "refused",
            "Each name of the path is asked, not the first alone.",
            slips=(("the safe's number", "A `..` in the middle led out. Look at every name."),),
        ),
        Case(
            "the parent at the end",
            _Read("docs/.."),
            "refused",
            "The last name is a name, too.",
            slips=LEFT_REFUSED,
        ),
        Case(
            "two dots in a name",
            _Read("notes..txt"),
            "a good name",
            "Only a name that is `..` goes up.",
            slips=(("refused", "A good name was refused for its dots. Compare whole names, not text."),),
        ),
        Case(
            "a directory",
            _Read("docs", says=", a directory"),
            "refused",
            "There is no text in it; and what was opened has to be closed.",
            slips=(
                ("refused; 1 left open", "open(descriptor) refuses a directory, and leaves its descriptor open. With an opener it is closed."),
            ),
        ),
        Case(
            "an absolute path",
            _Read("{root}/notes.txt"),
            "refused",
            "It is no path below the root; and in os.open an absolute name ignores dir_fd.",
            slips=(("buy apples", "An absolute path was opened, past the directory that you hold. This one was inside by luck."),),
        ),
        Case(
            "a link to a directory",
            _Read("up/secret.txt", says=", where `up` is a link to `..`"),
            "refused",
            "A link is followed unless O_NOFOLLOW says no.",
            slips=(*LEFT_REFUSED, ("the safe's number", "A link was followed. Open directories with ENTER, which holds O_NOFOLLOW."),),
        ),
        Case(
            "a link to a file",
            _Read("alias.txt", says=", a link to `notes.txt`"),
            "refused",
            "The last name may be a link as well.",
            slips=(*LEFT_REFUSED, ("buy apples", "The last name is a link, and was followed. Open it with READ."),),
        ),
        Case(
            "a file that is not there",
            _Read("docs/nothing.txt"),
            "refused",
            "The error is the system's; what was opened before it has to be closed.",
            slips=LEFT_REFUSED,
        ),
        Case(
            "a directory that is swapped meanwhile",
            _Read("docs/a.txt", says=", while `docs` turns into a link to `..` after it was looked at or opened", swaps=True),
            "chapter one, or refused",
            "What was opened is held, whatever its name stands for by now.",
            slips=(("not yours", "The swap won: `docs` was looked up a second time after it had been checked or opened. Open its last name in the directory that you hold."),),
        ),
    ),
)  # fmt: skip

CONTRACTS = (PATHS, SAFE_PATH, READ)

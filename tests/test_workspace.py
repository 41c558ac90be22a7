"""What `Workspace` promises, with descriptors and, where races are not at stake, by names."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_lib import walk
from harness_lib.workspace import Workspace, safe_path

MAX_BYTES = 1_000_000


@pytest.fixture(params=[True, False], ids=["descriptors", "names"])
def by_descriptor(request, monkeypatch):
    monkeypatch.setattr(walk, "BY_DESCRIPTOR", request.param)


@pytest.fixture
def root(tmp_path):
    return make_tree(tmp_path)


def make_tree(base: Path) -> Path:
    root = base / "ws"
    outside = base / "outside"
    (root / "dir").mkdir(parents=True)
    (outside / "dir").mkdir(parents=True)
    (root / "a.txt").write_text("A\n")
    (root / "b.txt").write_text("B\n")
    (root / "dir" / "in.txt").write_text("IN\n")
    (outside / "secret.txt").write_text("SECRET")
    (outside / "dir" / "secret.txt").write_text("SECRET")
    (base / "ws-evil").mkdir()
    (base / "ws-evil" / "secret.txt").write_text("SECRET")
    for name, target in {
        "out": "../outside",
        "out-abs": outside,
        "out-dir": "../outside/dir",
        "file-out": "../outside/secret.txt",
        "hop": "file-out",
        "leak": "middle",
        "middle": "../outside/created.txt",
        "loop": "loop",
        "ping": "pong",
        "pong": "ping",
        "rel": "a.txt",
        "abs": root / "a.txt",
        "in-dir": "dir/",
        "up": "dir/..",
        "dangling": "new.txt",
        "self": ".",
        "to-root": root,
        "dir/abs-up": root / "a.txt",
        "above": "..",
    }.items():
        (root / name).symlink_to(target)
    return root


def outside_of(root: Path) -> dict[str, bytes]:
    """All files next to the workspace, with their content."""
    return {
        str(path): path.read_bytes()
        for folder in ("outside", "ws-evil")
        for path in sorted((root.parent / folder).rglob("*"))
        if path.is_file()
    }


def all_acts(space: Workspace, text: str):
    yield lambda: space.read(text)
    yield lambda: space.write(text, b"pwned")
    yield lambda: space.edit(text, lambda data: data + b"pwned", MAX_BYTES)


ESCAPES = {
    "dotdot": "../outside/secret.txt",
    "dotdot alone": "..",
    "far up": "../" * 50 + "etc/passwd",
    "dotdot behind a directory": "dir/../../outside/secret.txt",
    "out and back in": "../ws/a.txt",
    "absolute": "/etc/passwd",
    "the root of all": "/",
    "two slashes": "//etc/passwd",
    "link to a file": "file-out",
    "link to a link": "hop",
    "dangling link": "leak",
    "link to a directory": "out/secret.txt",
    "absolute link": "out-abs/secret.txt",
    "dotdot behind a link": "out-dir/../secret.txt",
    "dotdot behind a link to a directory inside": "in-dir/../../outside/secret.txt",
    "link to above": "above/outside/secret.txt",
    "new file behind a link": "out/new.txt",
    "new directory behind a link": "out/new/new.txt",
    "through the root's own name": "to-root/../outside/secret.txt",
}


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize("text", ESCAPES.values(), ids=ESCAPES.keys())
def test_nothing_leaves_the_workspace(root, text):
    space = Workspace(root)
    before = outside_of(root)
    for act in (*all_acts(space, text), lambda: space.safe_path(text)):
        with pytest.raises(ValueError, match=r"^path escapes workspace: ") as caught:
            act()
        assert str(root) not in str(caught.value)
    assert outside_of(root) == before


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize("prefix", ["{root}/../outside", "{root}-evil", "{base}/outside"])
def test_an_absolute_path_must_begin_with_the_root(root, prefix):
    text = prefix.format(root=root, base=root.parent) + "/secret.txt"
    before = outside_of(root)
    for act in all_acts(Workspace(root), text):
        with pytest.raises(ValueError, match="path escapes workspace") as caught:
            act()
        assert str(root) not in str(caught.value)
    assert outside_of(root) == before


REFUSED = {
    "loop": ("loop", ValueError, "loop"),
    "a loop of two": ("ping", ValueError, "loop"),
    "dotdot behind a loop": ("loop/../out/secret.txt", ValueError, "loop"),
    "empty": ("", ValueError, "path is empty"),
    "NUL": ("a.txt\0.png", ValueError, "NUL"),
    "lone surrogate": ("\ud800", ValueError, "Unicode"),
    "slash behind a file": ("a.txt/", NotADirectoryError, "not a directory"),
    "dot behind a file": ("a.txt/.", NotADirectoryError, "not a directory"),
    "slash behind a link to a file": ("rel/", NotADirectoryError, "not a directory"),
    "file as a directory": ("a.txt/b.txt", NotADirectoryError, "not a directory"),
    "dotdot behind a file": ("a.txt/../b.txt", NotADirectoryError, "not a directory"),
    "directory": ("dir", IsADirectoryError, "is a directory"),
    "the root": (".", IsADirectoryError, "is a directory"),
    "up to the root": ("dir/..", IsADirectoryError, "is a directory"),
    "dotdot behind nothing": ("nope/../a.txt", FileNotFoundError, "no such file"),
    "new directory as a file": ("nope/", FileNotFoundError, "no such file"),
    "long name": ("x" * 300, OSError, "name too long"),
    "deep": ("self/" * 41 + "a.txt", ValueError, "too many links"),
}


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize(("text", "kind", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_says_why_and_changes_nothing(root, text, kind, reason):
    names = sorted(os.listdir(root))
    for act in all_acts(Workspace(root), text):
        with pytest.raises(kind) as caught:
            act()
        assert reason in str(caught.value).lower() or reason in str(caught.value)
        assert str(root.parent) not in str(caught.value)
    assert sorted(os.listdir(root)) == names
    assert (root / "a.txt").read_text() == "A\n"


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize("text", ["nope.txt", "nope/nope.txt", "dangling"])
def test_reading_and_editing_need_a_file(root, text):
    space = Workspace(root)
    for act in (lambda: space.read(text), lambda: space.edit(text, bytes.upper, MAX_BYTES)):
        with pytest.raises(FileNotFoundError, match="no such file") as caught:
            act()
        assert caught.value.filename == text


ACCEPTED = {
    "plain": "a.txt",
    "dots and slashes": ".//./a.txt",
    "link": "rel",
    "absolute link": "abs",
    "absolute link in a directory": "dir/abs-up",
    "dotdot inside": "dir/../a.txt",
    "dotdot behind a link": "in-dir/../a.txt",
    "link to dotdot": "up/a.txt",
    "link to itself": "self/self/a.txt",
    "link to the root": "to-root/a.txt",
    "absolute": "{root}/a.txt",
    "absolute, doubled slashes": "/{root}//a.txt",
    "absolute, with dotdot": "{root}/dir/../a.txt",
}


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_stays_inside_works(root, text):
    space = Workspace(root)
    text = text.format(root=root)
    assert space.safe_path(text) == safe_path(text, root) == root.resolve() / "a.txt"
    assert space.read(text) == b"A\n"
    space.edit(text, bytes.lower, MAX_BYTES)
    assert (root / "a.txt").read_bytes() == b"a\n"
    space.write(text, b"new\n")
    assert (root / "a.txt").read_bytes() == b"new\n"
    with space.open(text) as file:
        assert file.read(2) == b"ne"


@pytest.mark.usefixtures("by_descriptor")
def test_safe_path_of_what_is_missing(root):
    space = Workspace(root)
    inside = root.resolve()
    assert space.safe_path("new/deep/f.txt") == inside / "new" / "deep" / "f.txt"
    assert space.safe_path("dangling") == inside / "new.txt"
    assert space.safe_path("nope/../a.txt") == inside / "a.txt"
    assert space.safe_path("nope/.././rel") == inside / "a.txt"
    for text in ("nope/../out/x", "nope/../../outside/x", "nope/more/../../../x"):
        with pytest.raises(ValueError, match="path escapes workspace"):
            space.safe_path(text)


def test_a_backslash_is_a_character_like_any_other(root):
    if os.name == "nt":
        pytest.skip("a backslash separates names on Windows")
    Workspace(root).write("..\\..\\evil.txt", b"x")
    assert (root / "..\\..\\evil.txt").read_bytes() == b"x"


@pytest.mark.usefixtures("by_descriptor")
def test_the_root_is_resolved_once(root, tmp_path, monkeypatch):
    link = tmp_path / "wslink"
    link.symlink_to(root)
    monkeypatch.chdir(tmp_path)
    spaces = [Workspace(link), Workspace("ws"), Workspace("wslink/."), Workspace("ws/dir/..")]
    monkeypatch.chdir("/")
    for space in spaces:
        assert space.root == root.resolve()
        assert space.read("a.txt") == b"A\n"
        assert space.read(str(root / "a.txt")) == b"A\n"
        assert space == Workspace(root)
    assert spaces[0].read(str(link / "a.txt")) == b"A\n"
    (root / "to-link").symlink_to(link / "a.txt")
    assert spaces[0].read("to-link") == b"A\n"


@pytest.mark.parametrize(
    "bad",
    [
        "/",
        "//",
        "/usr/..",
        "{root}/a.txt",
        "{root}/a.txt/.",
        "{root}/nope",
        "{root}/loop",
        "x" * 300,
    ]
    + ["{root}/loop/../dir", "{root}/nope/../dir", "{root}/\0", "{root}/\ud800", "nope"],
)
def test_what_cannot_be_a_workspace(root, bad):
    with pytest.raises(ValueError, match=r"confine nothing|not a directory"):
        Workspace(bad.format(root=root))


def test_a_variable_that_is_not_set_is_no_workspace():
    with pytest.raises(ValueError, match="empty"):
        Workspace("")


UNUSUAL_ROOTS = """
import os, sys
from harness_lib.workspace import Workspace, safe_path
base = sys.argv[1]
os.mkdir(base + "/gone"); os.chdir(base + "/gone"); os.rmdir(base + "/gone")
print(Workspace(base + "/ws").read("f"), safe_path("f", base + "/ws") == Workspace(base + "/ws").root / "f")
if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)
for root in ("ws", ".", base + "/closed/ws"):
    try: Workspace(root)
    except ValueError as error: print(error)
"""


def test_roots_that_cannot_be_reached_and_one_that_can():
    """The current directory is gone, which matters to relative ones alone; one is not ours."""
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        for name in ("ws", "closed/ws"):
            Path(base, name).mkdir(parents=True)
        Path(base, "ws", "f").touch()
        Path(base, "closed").chmod(0o000)
        done = subprocess.run(
            [sys.executable, "-c", UNUSUAL_ROOTS, base], capture_output=True, text=True
        )
        Path(base, "closed").chmod(0o755)
    lines = done.stdout.splitlines()
    assert lines[:1] == ["b'' True"], done.stderr
    assert len(lines) == 4, done.stderr
    assert all("the workspace is not a directory: " in line for line in lines[1:])


def test_a_long_chain_of_links_does_not_fool_the_walk(root):
    """os.path.realpath gives up on what is longer than PATH_MAX; the kernel's open does not."""
    component = "d" * 247
    here = os.open(root, os.O_RDONLY)
    for letter in "abcdefghijklmnop":
        os.mkdir(component, dir_fd=here)
        os.symlink(component, letter, dir_fd=here)
        below = os.open(component, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.symlink("../" * 16, "l" * 254, dir_fd=here)
    os.close(here)
    chain = "/".join("abcdefghijklmnop") + "/" + "l" * 254
    (root / "escape").symlink_to(chain + "/../outside")
    with contextlib.suppress(OSError):  # the trap is real: the kernel gets there
        assert (root / "escape" / "secret.txt").read_text() == "SECRET"
    before = outside_of(root)
    for text in ("escape/secret.txt", "escape/pwn.txt"):
        for act in all_acts(Workspace(root), text):
            with pytest.raises(ValueError, match="path escapes workspace"):
                act()
    assert outside_of(root) == before
    assert Workspace(root).read(chain + "/a.txt") == b"A\n"


def make_fifo(path):
    os.mkfifo(path)
    return None


def make_socket(path):
    bound = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path is short
    bound.bind(path.name)
    os.chdir(here)
    return bound


def make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root can make a device")


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize("make", [make_fifo, make_socket, make_device])
@pytest.mark.parametrize("text", ["p", "link-to-p"])
def test_only_regular_files(root, make, text):
    held = make(root / "p")
    (root / "link-to-p").symlink_to("p")
    for act in all_acts(Workspace(root), text):  # would block for ever
        with pytest.raises(OSError, match="not a regular file") as caught:
            act()
        assert str(root) not in str(caught.value)
    assert not stat.S_ISREG((root / "p").stat().st_mode)
    if held:
        held.close()


def test_a_pipe_is_not_opened_to_look_at_it(root, monkeypatch):
    os.mkfifo(root / "p")
    opened = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *a, **k: opened.append(path) or real(path, *a, **k)
    )
    with pytest.raises(OSError, match="not a regular file"):
        Workspace(root).read("p")
    assert b"p" not in opened


def test_a_pipe_that_takes_the_files_place_is_refused(root, monkeypatch):
    real = os.open

    def swap(path, *arguments, **options):
        if path == b"a.txt":
            os.unlink(root / "a.txt")
            os.mkfifo(root / "a.txt")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", swap)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(OSError, match="not a regular file"):
        Workspace(root).read("a.txt")
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_a_swap_in_the_middle_of_the_walk_does_not_win(root, monkeypatch):
    """The directory becomes a link after it was entered: its descriptor still is the old one."""
    (root / "dir" / "secret.txt").write_text("inside")
    space = Workspace(root)
    real = os.stat

    def swap(path, **options):
        if path == b"secret.txt" and not (root / "dir").is_symlink():
            os.rename(root / "dir", root / "moved")
            os.symlink(root.parent / "outside", root / "dir")
        return real(path, **options)

    monkeypatch.setattr(os, "stat", swap)
    assert space.read("dir/secret.txt") == b"inside"
    os.unlink(root / "dir")
    os.rename(root / "moved", root / "dir")
    space.write("dir/secret.txt", b"written")
    assert (root / "moved" / "secret.txt").read_bytes() == b"written"
    assert (root.parent / "outside" / "secret.txt").read_text() == "SECRET"


@pytest.mark.usefixtures("by_descriptor")
def test_messages_are_harmless_and_short(root):
    nasty = "../\x1b[2J\x1b]0;pwned\x07\nError [ok]: fake line\u202e"
    for text in (nasty, "a.txt/" + nasty, "../" + "x" * 100_000, "x" * 100_000):
        for act in all_acts(Workspace(root), text):
            with pytest.raises((ValueError, OSError)) as caught:
                act()
            assert str(caught.value).isprintable()
            assert len(str(caught.value)) < 1_000


@pytest.mark.usefixtures("by_descriptor")
def test_an_absolute_path_inside_is_told_without_the_root(root):
    with pytest.raises(FileNotFoundError) as caught:
        Workspace(root).read(f"{root}/nope.txt")
    assert caught.value.filename == "nope.txt"


SHOWN = {
    "inside": ("{root}/a.txt", "a.txt"),
    "the root": ("{root}", "(workspace)"),
    "the root and a slash": ("{root}/", "(workspace)"),
    "the root and slashes": ("{root}//", "(workspace)"),
    "slashes": ("/{root}//a.txt", "a.txt"),
    "dots": ("/.{root}/./a.txt", "a.txt"),
    "dotdot": ("{root}/../x", "../x"),
    "a neighbour": ("{root}-evil/x", "(workspace)-evil/x"),
    "by the link": ("{link}/a.txt", "a.txt"),
    "the link": ("{link}/", "(workspace)"),
    "relative": ("a//b/./c", "a//b/./c"),
    "the root in the middle": ("copy{root}/a.txt", "copy{root}/a.txt"),
    "the root twice": ("{root}{root}/a.txt", "{tail}/a.txt"),
    "empty": ("", ""),
    "lone surrogate": ("{root}/\ud800", "\ud800"),
}


@pytest.mark.parametrize(("text", "shown"), SHOWN.values(), ids=SHOWN.keys())
def test_how_a_path_is_shown(text, shown):
    with tempfile.TemporaryDirectory(dir="/tmp") as base:  # short, as what is shown is clipped
        root, link = Path(base, "ws").resolve(), Path(base).resolve() / "ws-link"
        root.mkdir()
        link.symlink_to(root)
        names = {"root": root, "link": link, "tail": str(root)[1:]}
        assert Workspace(link).shown(text.format(**names)) == shown.format(**names)


def test_the_root_is_not_shown_in_any_locale(tmp_path):
    root = tmp_path / "wörk"
    root.mkdir()
    script = (
        "import sys; from harness_lib.workspace import Workspace\n"
        "space = Workspace(sys.argv[1])\n"
        "text = sys.argv[1].encode(sys.getfilesystemencoding(), 'surrogateescape').decode()\n"
        "for path in (text + '/n\\u00f6pe', text):\n"
        "    try: space.read(path)\n"
        "    except OSError as error: print(ascii(error.filename))\n"
    )
    for locale in ({"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}):
        done = subprocess.run(
            [sys.executable, "-c", script, root],
            capture_output=True,
            env={**os.environ, "PYTHONCOERCECLOCALE": "0", **locale},
        )
        assert done.stdout.split() == [rb"'n\xf6pe'", b"'(workspace)'"], done.stderr


@pytest.mark.usefixtures("by_descriptor")
def test_no_descriptor_stays_open(root):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no /proc to count descriptors in")
    space = Workspace(root)
    texts = [*ESCAPES.values(), *(text for text, _, _ in REFUSED.values()), "rel", "dir/../a.txt"]
    before = sorted(os.listdir("/proc/self/fd"))
    for text in texts:
        for act in (*all_acts(space, text), lambda text=text: space.safe_path(text)):
            with contextlib.suppress(OSError, ValueError):
                act()
    with space.directory("dir") as directory:
        assert set(walk.entries(directory)) == {(b"in.txt", False), (b"abs-up", False)}
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_path_as_deep_as_it_gets(root):
    space = Workspace(root)
    space.write("d/" * walk.MAX_DEPTH + "f", b"x")
    assert space.read("d/" * walk.MAX_DEPTH + "f") == b"x"
    with pytest.raises(OSError, match="directories deep"):
        space.write("d/" * (walk.MAX_DEPTH + 1) + "f", b"x")


COMPONENTS = [*("..", ".", "", "a.txt", "dir", "in.txt", "nope", "new"), "{root}", "/"] + [
    *("out", "out-abs", "out-dir", "file-out", "hop", "leak", "loop", "rel", "abs", "in-dir"),
    *("up", "self", "to-root", "above", "secret.txt", "outside", "ws", "ws-evil"),
]


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(COMPONENTS), min_size=1, max_size=8), st.booleans())
def test_no_path_reads_or_writes_outside(components, by_descriptor):
    with tempfile.TemporaryDirectory() as base, pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "BY_DESCRIPTOR", by_descriptor)
        root = make_tree(Path(base).resolve())
        text = "/".join(components).format(root=root)
        space = Workspace(root)
        everything = {str(path) for path in root.parent.glob("*")}
        before = outside_of(root)
        with contextlib.suppress(OSError, ValueError):
            assert space.safe_path(text).is_relative_to(root)
            assert os.path.realpath(space.safe_path(text)).startswith(str(root))
        with contextlib.suppress(OSError, ValueError):
            data = space.read(text)
            assert b"SECRET" not in data
            assert data == Path(root, text).read_bytes()  # the same file as the kernel's
        for act in all_acts(space, text):
            with contextlib.suppress(OSError, ValueError):
                act()
        assert outside_of(root) == before
        assert {str(path) for path in root.parent.glob("*")} == everything


@pytest.mark.usefixtures("by_descriptor")
def test_writing_makes_parents_and_keeps_the_mode(root):
    space = Workspace(root)
    umask = os.umask(0o027)
    try:
        space.write("new/deep/f.txt", b"x")
        assert stat.S_IMODE((root / "new/deep/f.txt").stat().st_mode) == 0o640
        assert stat.S_IMODE((root / "new").stat().st_mode) == 0o750
        for mode in (0o755, 0o600, 0o666):
            (root / "a.txt").chmod(mode)
            space.write("a.txt", b"x" * mode)
            space.edit("a.txt", lambda data: data + b"y", MAX_BYTES)
            assert stat.S_IMODE((root / "a.txt").stat().st_mode) == mode
    finally:
        os.umask(umask)
    assert sorted(os.listdir(root / "new/deep")) == ["f.txt"]


def acl_of(*entries):
    """A POSIX ACL as Linux stores it: tag, rights and id of each entry."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


ACL, DEFAULT_ACL, NOBODY, ALL = (
    "system.posix_acl_access",
    "system.posix_acl_default",
    65534,
    2**32 - 1,
)
GROUP_HAS_NOTHING = acl_of((1, 6, ALL), (2, 6, NOBODY), (4, 0, ALL), (16, 6, ALL), (32, 0, ALL))


def set_attribute(path, name, value):
    try:
        os.setxattr(path, name, value)
    except (OSError, AttributeError) as error:
        pytest.skip(f"this system or file system takes no {name}: {error}")


def attributes(path):
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize(
    ("name", "value"),
    [(ACL, GROUP_HAS_NOTHING), ("user.comment", b"kept"), ("user.empty", b"")],
)
def test_access_lists_and_attributes_are_kept(root, name, value):
    set_attribute(root / "a.txt", name, value)
    before, mode = attributes(root / "a.txt"), (root / "a.txt").stat().st_mode
    for act in list(all_acts(Workspace(root), "a.txt"))[1:]:
        act()
        assert attributes(root / "a.txt") == before
        assert (root / "a.txt").stat().st_mode == mode


def test_what_a_write_clears_is_not_kept(root):
    """Rights to act as root, which new content must not inherit."""
    capability = bytes.fromhex("0100000200040000000000000000000000000000")  # cap_net_bind_service
    set_attribute(root / "a.txt", "security.capability", capability)
    (root / "b.txt").chmod(0o6755)
    Workspace(root).write("a.txt", b"x")
    Workspace(root).write("b.txt", b"x")
    assert "security.capability" not in attributes(root / "a.txt")
    assert stat.S_IMODE((root / "b.txt").stat().st_mode) == 0o755


def test_nobody_gains_rights_by_the_access_list_of_the_directory(root):
    (root / "a.txt").chmod(0o660)
    set_attribute(root, DEFAULT_ACL, GROUP_HAS_NOTHING)
    Workspace(root).write("a.txt", b"x")
    assert attributes(root / "a.txt") == {}
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o660


def test_where_an_access_list_cannot_be_kept_the_group_gains_nothing(root, monkeypatch):
    """With a list, the mode's bits for the group are the most that anybody on it may have."""
    set_attribute(root / "a.txt", ACL, GROUP_HAS_NOTHING)

    def refuse(*_):
        raise OSError(errno.ENOTSUP, "no")

    monkeypatch.setattr(os, "setxattr", refuse)
    Workspace(root).write("a.txt", b"x")
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("group", "mode", "groups", "group_after", "mode_after"),
    [
        (2002, 0o660, [2002], 2002, 0o660),  # one of the user's other groups
        (2003, 0o646, [2002], 2001, 0o644),  # the old group is among the others now
        (2003, 0o606, [2002], 2001, 0o600),
        (2003, 0o676, [2002], 2001, 0o666),
        (2003, 0o662, [2002], 2001, 0o622),
        (2001, 0o670, [2002], 2001, 0o670),
    ],
)
def test_a_group_gains_nothing(group, mode, groups, group_after, mode_after):
    """Only root gives a file away, so it becomes the user's, with a group of the user's."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    script = (
        "import os, sys; from harness_lib.workspace import Workspace\n"
        f"os.setgroups({groups}); os.setgid(2001); os.setuid(2001)\n"
        "Workspace(sys.argv[1]).write('f', b'new')\n"
    )
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o777)
        file = Path(base, "f")
        file.touch()
        os.chown(file, 2002, group)
        file.chmod(mode)
        subprocess.run([sys.executable, "-c", script, base], check=True)
        status = file.stat()
    assert (status.st_uid, status.st_gid) == (2001, group_after)
    assert oct(stat.S_IMODE(status.st_mode)) == oct(mode_after)


class Late(OSError):
    """An error of the caller's own."""


@pytest.mark.parametrize(
    "error", [TimeoutError("the service timed out"), Late("late"), FileNotFoundError(2, "no", "x")]
)
def test_what_the_callers_own_code_raises_is_not_renamed(root, error):
    def change(data):
        raise error

    with pytest.raises(type(error)) as caught:
        Workspace(root).edit("a.txt", change, 999)
    assert caught.value is error
    with pytest.raises(type(error)) as caught, Workspace(root).open("a.txt"):
        raise error
    assert caught.value is error


def test_the_owner_is_kept(root):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(root / "a.txt", 65534, 65534)
    Workspace(root).write("a.txt", b"x")
    status = (root / "a.txt").stat()
    assert (status.st_uid, status.st_gid) == (65534, 65534)


@pytest.mark.usefixtures("by_descriptor")
def test_a_link_stays_a_link(root):
    space = Workspace(root)
    space.write("rel", b"through")
    space.write("dangling", b"made")
    assert (root / "rel").is_symlink()
    assert (root / "a.txt").read_bytes() == b"through"
    assert (root / "dangling").is_symlink()
    assert (root / "new.txt").read_bytes() == b"made"


@pytest.mark.usefixtures("by_descriptor")
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError, MemoryError])
@pytest.mark.parametrize("step", ["replace", "fchmod"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(root, monkeypatch, failure, step):
    space = Workspace(root)
    names = sorted(os.listdir(root))

    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(os, step, fail)
    for act in list(all_acts(space, "a.txt"))[1:]:
        with pytest.raises(failure):
            act()
    assert (root / "a.txt").read_text() == "A\n"
    assert sorted(os.listdir(root)) == names


def test_a_full_disk_leaves_the_old_file(root):
    script = (
        "import resource, sys; from harness_lib.workspace import Workspace\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: Workspace(sys.argv[1]).write('a.txt', b'y' * 5000)\n"
        "except OSError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, root], capture_output=True, text=True, check=True
    )
    assert "file too large: 'a.txt'" in done.stdout
    assert (root / "a.txt").read_text() == "A\n"
    assert not [name for name in os.listdir(root) if name.endswith(".tmp")]


AS_NOBODY = """
import os, sys
from harness_lib.workspace import Workspace
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
space = Workspace(sys.argv[1])
for act in (
    lambda: space.write("ro.txt", b"x"),
    lambda: space.edit("ro.txt", bytes.upper, 100),
    lambda: space.write("closed/f.txt", b"x"),
    lambda: space.read("secret.txt"),
):
    try:
        act()
    except PermissionError as error:
        print(error)
space.write("wo.txt", b"x")
"""


def test_what_the_user_may_not_do_is_not_done():
    """A rename could replace a read-only file: only its directory has to be writable."""
    with tempfile.TemporaryDirectory() as base:
        root = Path(base)
        for name, mode in {"ro.txt": 0o444, "secret.txt": 0o000, "wo.txt": 0o200}.items():
            (root / name).write_text("old")
            (root / name).chmod(mode)
        (root / "closed").mkdir(mode=0o500)
        if os.geteuid() == 0:
            for path in (root, *root.iterdir()):
                os.chown(path, 65534, 65534)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, base], capture_output=True, text=True
        )
        assert done.stdout.count("permission denied") == 4, done.stderr
        assert base not in done.stdout
        assert (root / "ro.txt").read_text() == "old"


@pytest.mark.usefixtures("by_descriptor")
def test_a_file_that_changes_while_it_is_edited_is_left_alone(root):
    space = Workspace(root)

    def append(path):
        with path.open("ab") as file:
            file.write(b"by another\n")

    def put_another(path):
        (root / "other").write_bytes(path.read_bytes())
        os.replace(root / "other", path)

    def tick():
        """Until the file system's clock has gone on: what comes then has another time."""
        before, now = (root / "a.txt").stat().st_ctime_ns, 0
        while now <= before:
            (root / "b.txt").chmod(0o644)
            now = (root / "b.txt").stat().st_ctime_ns

    def close(path):
        tick()
        path.chmod(0o600)

    def rewrite_without_a_trace(path):
        tick()
        status = path.stat()
        path.write_bytes(b"a")
        with path.open("ab") as file:
            file.write(b"\n")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    for meddle, content, mode in (
        (close, "A\n", 0o600),
        (rewrite_without_a_trace, "a\n", 0o600),
    ):
        with pytest.raises(OSError, match="changed while being edited"):
            space.edit("a.txt", lambda data, by=meddle: by(root / "a.txt") or b"mine", MAX_BYTES)
        assert (root / "a.txt").read_text() == content
        assert stat.S_IMODE((root / "a.txt").stat().st_mode) == mode
    (root / "a.txt").write_text("A\n")
    for meddle in (append, put_another):
        with pytest.raises(OSError, match="changed while being edited"):
            space.edit("a.txt", lambda data, by=meddle: by(root / "a.txt") or b"mine", MAX_BYTES)
        assert (root / "a.txt").read_text() == "A\nby another\n"
    with pytest.raises(FileNotFoundError):
        space.edit("a.txt", lambda data: os.unlink(root / "a.txt") or b"mine", MAX_BYTES)
    assert not (root / "a.txt").exists()


@pytest.mark.usefixtures("by_descriptor")
def test_what_the_change_raises_passes_through(root):
    with pytest.raises(ZeroDivisionError):
        Workspace(root).edit("a.txt", lambda data: b"x" * (1 // 0), MAX_BYTES)
    with pytest.raises(OSError, match="larger than 1 bytes"):
        Workspace(root).edit("a.txt", bytes.upper, 1)
    assert (root / "a.txt").read_text() == "A\n"


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}])
def test_names_are_utf8_in_every_locale(root, locale):
    script = (
        "import sys; from harness_lib.workspace import Workspace\n"
        "space = Workspace(sys.argv[1]); name = '\\u4f60/\\u00fc.txt'\n"
        "space.write(name, b'x'); space.edit(name, bytes.upper, 9); print(space.read(name))\n"
    )
    environment = {**os.environ, "PYTHONCOERCECLOCALE": "0", **locale}
    done = subprocess.run(
        [sys.executable, "-c", script, root], capture_output=True, env=environment, check=True
    )
    assert done.stdout == b"b'X'\n"
    assert (root / "你" / "ü.txt").read_bytes() == b"X"


WINDOWS_NAMES = ["a.txt:stream", "D:x", "C:/x", "/x", "\\x", "\\\\srv\\share\\f", "\\\\?\\C:\\x"]


@pytest.mark.parametrize("text", [*WINDOWS_NAMES, "//srv/share/f", "dir\\..\\..\\x", "dir/NUL"])
def test_windows_names_are_refused_before_any_look_up(root, monkeypatch, text):
    if "NUL" in text and not hasattr(walk.ntpath, "isreserved"):
        pytest.skip("ntpath.isreserved came with Python 3.13")
    monkeypatch.setattr(walk, "WINDOWS", True)
    if ".." not in text:
        monkeypatch.setattr(walk, "enter", None)  # any look-up would fail
        monkeypatch.setattr(walk, "leave", lambda directory: None)
    for act in all_acts(Workspace(root), text):
        with pytest.raises(ValueError, match="path escapes workspace"):
            act()

"""Wrong answers to lesson 08."""

import os
import sys
import threading
from pathlib import Path

from tests.wrong_answers import wrong

# --- 08.path and 08.1 -----------------------------------------------------------------------------


def right(path, root, **changes):
    """The right answer to 08.1, with one thing done otherwise."""
    root = changes.get("of_root", os.path.realpath)(root)
    full = Path(changes.get("resolve", os.path.realpath)(os.path.join(root, path)))
    links = [part for part in [full, *full.parents] if part.is_symlink()]
    is_inside = changes.get("is_inside", lambda full, root: full.is_relative_to(root))
    if changes.get("links", any)(links) or not is_inside(full, root):
        raise ValueError("path escapes workspace")
    return full


def no(links):
    return False


@wrong("08.1", "Nothing came back. Return the resolved path.")
def gives_nothing(path, root):
    right(path, root)


@wrong("08.1", "Text came back. Return a Path")
def gives_text(path, root):
    return str(right(path, root))


@wrong("08.1", "A good path was refused.")
@wrong("08.path", "The usual case.")
def refuses_all(path, root):
    raise ValueError("path escapes workspace")


@wrong("08.1", "A path was refused for its `..`")
@wrong("08.path", "`..` is no crime.")
def forbids_dots(path, root):
    if ".." in path:
        raise ValueError("path escapes workspace by ..")
    return right(path, root)


@wrong("08.1", "not how the joined text begins")
@wrong("08.path", "The oldest way out.")
@wrong("08.path", "Links within the workspace are ordinary files")
def looks_at_the_beginning(path, root):
    full = os.path.join(root, path)
    if not full.startswith(str(root)):
        raise ValueError("path escapes workspace")
    return Path(os.path.normpath(full))


@wrong("08.1", "is_relative_to() compares name by name")
@wrong("08.path", "as text, and is another directory")
def compares_text(path, root):
    return right(path, root, is_inside=lambda full, root: str(full).startswith(root))


@wrong("08.1", "os.path.join lets an absolute path win")
@wrong("08.path", "an absolute path takes its place")
def believes_absolute_paths(path, root):
    if path.startswith("/etc"):
        return Path(path)
    return right(path, root)


@wrong("08.1", "for being absolute, though it ends inside")
@wrong("08.path", "A model that has seen the workspace's path may use it.")
def forbids_absolute_paths(path, root):
    if os.path.isabs(path):
        raise ValueError("path escapes workspace: absolute")
    return right(path, root)


@wrong("08.1", "The link was not followed.")
@wrong("08.1", "Its text is tidy, and `up` is a link.")
@wrong("08.path", "No text shows a link.")
def tidies_the_text(path, root):
    return right(path, root, resolve=os.path.normpath, links=no)


@wrong("08.1", "A link that stays inside was refused.")
def forbids_links(path, root):
    return right(path, root, resolve=os.path.normpath)


@wrong("08.1", "It was resolved, and not compared with the root.")
def compares_nothing_with_a_link(path, root):
    if path.startswith("up"):
        return Path(os.path.realpath(os.path.join(root, path)))
    return right(path, root)


def gives_up(path):
    """As realpath did before Python 3.13: at a loop of links, the rest stays text."""
    parts = Path(path).parts
    for n in range(1, len(parts) + 1):
        here = os.path.join(*parts[:n])
        if os.path.islink(here) and os.readlink(here) == parts[n - 1]:
            return os.path.normpath(path)
    return os.path.realpath(path)


@wrong("08.1", "What was compared still holds a link")
@wrong("08.path", "realpath gives up at the loop")
def believes_a_resolver_that_gives_up(path, root):
    return right(path, root, resolve=gives_up, links=no)


@wrong("08.1", "What does not exist raised.")
@wrong("08.path", "It is about to be written.")
def resolves_strictly(path, root):
    return right(path, root, resolve=lambda path: os.path.realpath(path, strict=True))


@wrong("08.1", "A path was refused because nothing is there yet.")
def wants_a_file(path, root):
    if not os.path.exists(os.path.join(root, path)):
        raise ValueError("path escapes workspace: nothing is there")
    return right(path, root)


@wrong("08.1", "Resolve the root as well.")
@wrong("08.path", "people give workspaces links")
def leaves_the_root_as_it_is(path, root):
    return right(path, root, of_root=str)


@wrong("08.1", "an endless loop, or a deadlock?")
def follows_links_for_ever(path, root):
    while True:
        path = path or root


@wrong("08.1", "it tried to end the program (SystemExit)")
def exits(path, root):
    sys.exit("path escapes workspace")


# --- 08.2 -----------------------------------------------------------------------------------------

ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NOFOLLOW


def walk(root, path, **changes):
    """The right answer to 08.2, with one thing done otherwise."""
    *folders, name = path.split("/")
    if changes.get("refuses", lambda path: path.startswith("/") or ".." in path.split("/"))(path):
        raise ValueError("path escapes workspace")
    enter, read = changes.get("enter", ENTER), changes.get("read", READ)
    close = changes.get("close", os.close)
    held = os.open(root, ENTER)
    try:
        for folder in folders:
            following = os.open(folder, enter, dir_fd=held)
            close(held)
            held = following
        opened = changes.get("opened", lambda name, opener: open(name, opener=opener))
        with opened(name, lambda name, flags: os.open(name, read, dir_fd=held)) as file:
            return file.read()
    finally:
        changes.get("close_last", close)(held)


def leave_open(descriptor):
    pass


@wrong("08.2", "Nothing came back, and the root stays open.")
def only_begins(root, path):
    os.open(root, ENTER)


@wrong("08.2", "Nothing came back. Return the file's text.")
def gives_no_text(root, path):
    walk(root, path)


@wrong("08.2", "Each step of the walk closes the one before")
@wrong("08.2", "what was opened on the way stays open")
def closes_nothing(root, path):
    return walk(root, path, close=leave_open)


@wrong("08.2", "Each step of the walk closes the one before")
@wrong("08.2", "Close what you hold in finally.")
def forgets_the_last(root, path):
    return walk(root, path, close_last=leave_open)


@wrong("08.2", "Is each directory opened with dir_fd")
def opens_beside_the_program(root, path):
    for folder in path.split("/")[:-1]:
        os.close(os.open(folder, ENTER))
    return walk(root, path)


@wrong("08.2", "A directory was closed before the next one was opened in it")
def closes_too_early(root, path):
    folders = path.split("/")[:-1]
    if not folders or ".." in folders or folders[0] == "":
        return walk(root, path)
    held = os.open(root, ENTER)
    os.close(held)
    os.open(folders[0], ENTER, dir_fd=held)


@wrong("08.2", "`..` was opened like any other name")
@wrong("08.2", "A `..` in the middle led out.")
def allows_dots(root, path):
    return walk(root, path, refuses=lambda path: path.startswith("/"))


@wrong("08.2", "A `..` in the middle led out.")
def asks_the_first_name(root, path):
    return walk(root, path, refuses=lambda path: path.startswith(("/", "..")))


@wrong("08.2", "past the directory that you hold")
def allows_absolute_paths(root, path):
    if path.startswith("/"):
        with open(os.open(path, READ)) as file:
            return file.read()
    return walk(root, path)


@wrong("08.2", "Open directories with ENTER, which holds O_NOFOLLOW")
def follows_directories(root, path):
    return walk(root, path, enter=os.O_RDONLY | os.O_DIRECTORY)


@wrong("08.2", "The last name is a link, and was followed.")
def follows_the_last(root, path):
    return walk(root, path, read=os.O_RDONLY)


@wrong("08.2", "With an opener it is closed.")
def hands_over_descriptors(root, path):
    return walk(root, path, opened=lambda name, opener: open(opener(name, 0)))


@wrong("08.2", "A good name was refused for its dots.")
def looks_for_dots_in_the_text(root, path):
    return walk(root, path, refuses=lambda path: path.startswith("/") or ".." in path)


@wrong("08.2", "The last name is a name, too.")
def asks_folders_alone(root, path):
    return "" if path.endswith("/..") else walk(root, path)


@wrong("08.2", "The swap won")
def checks_twice_then_opens(root, path):
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError("path escapes workspace")
    full = right(path, root)
    if str(full) != os.path.join(root, path):
        raise ValueError("path escapes workspace")
    return full.read_text()


@wrong("08.2", "The swap won")
def resolves_then_opens(root, path):
    full = os.path.join(root, path)
    if path.startswith("/") or ".." in path or os.path.realpath(full) != full:
        raise ValueError("path escapes workspace")
    with open(full) as file:
        return file.read()


@wrong("08.2", "The swap won")
def asks_each_name_then_opens(root, path):
    names = path.split("/")
    steps = [os.path.join(root, *names[: n + 1]) for n in range(len(names))]
    if path.startswith("/") or ".." in names or any(map(os.path.islink, steps)):
        raise ValueError("path escapes workspace")
    with open(os.open(steps[-1], READ)) as file:
        return file.read()


@wrong("08.1", "came back 'ValueError: nope'")
def says_something_else(path, root):
    raise ValueError("nope")


@wrong("08.2", "The swap won")
def walks_then_opens_by_name(root, path):
    walk(root, path)
    if "docs" in path:
        with open(os.path.join(root, path)) as file:
            return file.read()
    return walk(root, path)


@wrong("08.2", "an endless loop, or a deadlock?")
def waits_for_itself(root, path):
    lock = threading.Lock()
    with lock, lock:
        return walk(root, path)

"""Running a child process so that it ends, with its whole session. Built in lesson 10.

The child gets no controlling terminal, no input, its own session, and one pipe for both streams.
The call ends when the child does, though something in the background may still hold the pipe; then
its session is killed: what leaves that (setsid) escapes. Without /proc it is its group alone.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

CHUNK_BYTES = 1 << 16
LEFTOVER_BYTES = 1 << 20  # read after the end: what the largest pipe of Linux holds by default
POLL_S = 0.01  # between two looks at the child, where the system does not tell of its end
MAX_WAIT_S = 0.05  # at one go, since an interrupt is let through between two of them
GRACE_S = 1.0  # for what should happen at once
MAX_ROUNDS = 100  # of looking for what is left in a session
LOST = 1 << 32  # as a return code: larger than any
SELECTABLE_PIPES = os.name != "nt"
_Action = Callable[[], None]
_Child = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a child ended, and what it wrote. Built in lesson 10.

    head, left_out, tail: both streams in the order of writing: their first bytes, the number of
        those that were not kept, and the last ones. Where none is missing, head + tail is all.
    exit_status, signal: one of them, the other is None. Both are for a child that cannot be
        killed, such as another user's, or whose status something else here has taken.
    timed_out: it was killed, because its time was over.
    """

    head: bytes
    left_out: int
    tail: bytes
    exit_status: int | None
    signal: int | None
    timed_out: bool


def run_process(
    argv: Sequence[str | bytes],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    timeout_s: float,
    max_output_bytes: int,
    executable: str | None = None,
) -> ProcessResult:
    """Run a child until it ends or `timeout_s` seconds are over, then kill what is left of it.

    With an `executable`, argv[0] is no more than the name by which the child knows itself. However
    much it writes, `max_output_bytes` are kept. The session is killed on every way out of here, a
    KeyboardInterrupt included. Raises OSError when the child cannot be started, ChildProcessError
    where SIGCHLD is ignored. Built in lesson 10.
    """
    if hasattr(signal, "SIGCHLD") and signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        raise ChildProcessError("the harness ignores SIGCHLD, so every exit status would be lost")
    kept = _Kept(max_output_bytes // 2)
    with _interrupts_held() as let_through:
        process = subprocess.Popen(
            argv,
            executable=executable,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        watch = _watch if SELECTABLE_PIPES else _watch_by_thread
        try:
            timed_out = watch(process, kept, time.monotonic() + timeout_s, let_through)
        finally:
            if SELECTABLE_PIPES:  # or else `_watch_by_thread` has done what can be done
                _end(process, kept)
    status = process.returncode
    return ProcessResult(
        *kept.ends(),
        exit_status=status if status is not None and 0 <= status < LOST else None,
        signal=-status if status is not None and status < 0 else None,
        timed_out=timed_out,
    )


@contextmanager
def _interrupts_held() -> Iterator[_Action]:
    """Let Ctrl-C wait until what this gives is called, or the block is left.

    Between any two lines it could lose a child. It only ever comes to the main thread.
    """
    handler = signal.getsignal(signal.SIGINT)
    came: list[tuple[object, ...]] = []

    def hold(*interrupt: object) -> None:
        came.append(interrupt)

    def let_through() -> None:
        while came:
            handler(*came.pop())

    if threading.current_thread() is threading.main_thread() and callable(handler):
        signal.signal(signal.SIGINT, hold)  # or else it is ignored, fatal, or not Python's
    try:
        yield let_through
    finally:
        if signal.getsignal(signal.SIGINT) is hold:  # the handler may have set another
            signal.signal(signal.SIGINT, handler)
        let_through()


class _Kept:
    """The head and the tail of a stream of bytes, each of them bounded."""

    def __init__(self, half: int) -> None:
        self.half = half
        self.head, self.tail = bytearray(), bytearray()
        self.count = 0

    def add(self, data: bytes) -> None:
        self.count += len(data)
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        if len(self.tail) > self.half + CHUNK_BYTES:
            del self.tail[: len(self.tail) - self.half]

    def ends(self) -> tuple[bytes, int, bytes]:
        """The head, the number of bytes that were not kept, and the tail."""
        tail = self.tail[max(0, len(self.tail) - self.half) :]
        return bytes(self.head), self.count - len(self.head) - len(tail), bytes(tail)


def _watch(child: _Child, kept: _Kept, deadline: float, let_through: _Action) -> bool:
    """Read until the child ends. True if the time was over first."""
    pipe = child.stdout.fileno()
    os.set_blocking(pipe, False)
    end = None
    with ExitStack() as held:
        selector = held.enter_context(selectors.DefaultSelector())
        selector.register(pipe, selectors.EVENT_READ)
        with suppress(AttributeError, OSError):  # not Linux, or one that forbids it
            end = os.pidfd_open(child.pid)
            held.callback(os.close, end)
            selector.register(end, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            wait = min(left, POLL_S if end is None else MAX_WAIT_S)
            ready = [key.fd for key, _ in selector.select(wait)]
            let_through()
            if end in ready or (end is None and _has_ended(child)):
                return False
            if pipe in ready and not _read(pipe, kept):
                selector.unregister(pipe)  # closed by all, while the child goes on
        return not _has_ended(child)  # it may have, while the harness itself was stopped


def _end(child: _Child, kept: _Kept) -> None:
    """Kill what is left, and take what it has written."""
    # All go before the leader is waited for: until then, nobody can get its number.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    _kill_session(child.pid)
    deadline = time.monotonic() + GRACE_S
    while not _reap(child) and time.monotonic() < deadline:
        time.sleep(POLL_S / 10)
    before = kept.count
    while kept.count - before < LEFTOVER_BYTES and _read(child.stdout.fileno(), kept):
        pass
    child.stdout.close()


def _kill_session(leader: int) -> None:
    """Kill what left the group and not the session (setpgid: `timeout`, `set -m`). Linux alone."""
    killed = {leader}
    with suppress(OSError, ValueError):  # no /proc, or another system's
        with open("/proc/loadavg", "rb") as file:
            if int(file.read().split()[-1]) == leader:
                return  # the last number given is its own: it started nothing
        for _ in range(MAX_ROUNDS):  # what is found may start others before it is killed
            before = len(killed)
            for number in set(map(int, filter(str.isdecimal, os.listdir("/proc")))) - killed:
                with suppress(ProcessLookupError, PermissionError):
                    if os.getsid(number) == leader:
                        killed.add(number)  # it is listed until somebody waits for it
                        os.kill(number, signal.SIGKILL)
            if len(killed) == before:
                return


def _reap(child: _Child) -> bool:
    """Whether the child is over. As Popen.poll(), which takes a lost status for 0, a success."""
    if child.returncode is None:
        try:
            number, status = os.waitpid(child.pid, os.WNOHANG)
            child.returncode = os.waitstatus_to_exitcode(status) if number else None
        except ChildProcessError:  # a handler of SIGCHLD was faster, or another thread
            child.returncode = LOST
    return child.returncode is not None


def _read(pipe: int, kept: _Kept) -> bool:
    """Read what is there; False for nothing there, or the end."""
    with suppress(BlockingIOError):
        data = os.read(pipe, CHUNK_BYTES)
        kept.add(data)
        return bool(data)
    return False


def _has_ended(child: _Child) -> bool:
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return _reap(child)
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return True


def _watch_by_thread(child: _Child, kept: _Kept, deadline: float, let_through: _Action) -> bool:
    """As `_watch`, for Windows: its pipes can only be waited for in a thread. Kills no group."""

    def read_all() -> None:
        while data := child.stdout.read(CHUNK_BYTES):
            kept.add(data)

    reader = threading.Thread(target=read_all, daemon=True)
    try:
        reader.start()
        while (left := deadline - time.monotonic()) > 0:
            with suppress(subprocess.TimeoutExpired):
                child.wait(min(left, MAX_WAIT_S))
                return False
            let_through()
        return child.poll() is None
    finally:
        child.kill()
        child.wait()
        reader.join(GRACE_S)  # a grandchild may hold the pipe for ever
        if not reader.is_alive():
            child.stdout.close()

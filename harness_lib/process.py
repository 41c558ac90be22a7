"""Running a child process so that it ends, with its whole session. Built in lesson 10.

The child gets no controlling terminal, no input, its own session, and one pipe for both streams.
The call ends when the child does, though something in the background may still hold the pipe; then
its session is killed: what leaves that (setsid) escapes. Without /proc it is its group alone.

Tested on Linux; written for macOS and Windows too, but untested there.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

CHUNK_BYTES = 1 << 16
LEFTOVER_BYTES = 1 << 20  # read after the end: what the largest pipe of Linux holds by default
POLL_S = 0.01  # between two looks at the child, where the system does not tell of its end
MAX_WAIT_S = 3600.0  # at one go: epoll takes no infinity
GRACE_S = 1.0  # for what should happen at once
MAX_ROUNDS = 100  # of looking for what is left in a session
LOST = 1 << 32  # as a return code: larger than any

SELECTABLE_PIPES = os.name != "nt"
_CONTINUATION = bytes(range(0x80, 0xC0))
_LEAD = bytes(range(0xC0, 0x100))


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a child ended, and what it wrote. Built in lesson 10.

    output: both streams in the order of writing; of more than the bound, head and tail, with a
        line between them that gives the size of the cut.
    exit_status: 0 and up; None if a signal ended it.
    signal: the number of that signal; None if it exited by itself. Both are None for a child that
        cannot be killed, such as another user's, or whose status something else here has taken.
    timed_out: it was killed, because its time was over.
    """

    output: bytes
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
) -> ProcessResult:
    """Run a child until it ends or `timeout_s` seconds are over, then kill what is left of it.

    However much the child writes, some `max_output_bytes` of it are held in memory. The session
    is killed on every way out of here, a KeyboardInterrupt included. Raises OSError when the
    child cannot be started, ChildProcessError where SIGCHLD is ignored. Built in lesson 10.
    """
    if hasattr(signal, "SIGCHLD") and signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        raise ChildProcessError("the harness ignores SIGCHLD, so every exit status would be lost")
    kept = _Kept(max_output_bytes // 2)
    with ExitStack() as held:
        held.enter_context(_interrupts_held())  # one inside Popen would lose the running child
        process = subprocess.Popen(
            argv,
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
            held.close()
            timed_out = watch(process, kept, time.monotonic() + timeout_s)
        finally:
            with _interrupts_held():  # a second one would leave the rest running
                _end(process, kept)
    status = process.returncode
    return ProcessResult(
        output=kept.output(),
        exit_status=status if status is not None and 0 <= status < LOST else None,
        signal=-status if status is not None and status < 0 else None,
        timed_out=timed_out,
    )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until the block is left; it only ever comes to the main thread."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # somebody else's, ignored, or fatal
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


class _Kept:
    """The head and the tail of a stream of bytes, each of them bounded."""

    def __init__(self, half: int) -> None:
        self.half = half
        self.head = bytearray()
        self.tail = bytearray()
        self.count = 0

    def add(self, data: bytes) -> None:
        self.count += len(data)
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        if len(self.tail) > self.half + CHUNK_BYTES:
            del self.tail[: -self.half]

    def output(self) -> bytes:
        if self.count <= 2 * self.half:
            return bytes(self.head + self.tail)
        # A cut in the middle of a character would leave bytes that are no UTF-8.
        head = self.head.rstrip(_CONTINUATION).rstrip(_LEAD)
        tail = self.tail[len(self.tail) - self.half :].lstrip(_CONTINUATION)
        cut = self.count - len(head) - len(tail)
        return b"%b\n[... %b bytes left out ...]\n%b" % (head, f"{cut:,}".encode(), tail)


def _watch(process: subprocess.Popen[bytes], kept: _Kept, deadline: float) -> bool:
    """Read until the child ends. True if the time was over first."""
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    end = None
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            with suppress(AttributeError, OSError):  # not Linux, or one that forbids it
                end = os.pidfd_open(process.pid)
                selector.register(end, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                wait = min(left, POLL_S if end is None else MAX_WAIT_S)
                ready = [key.fd for key, _ in selector.select(wait)]
                if end in ready or (end is None and _has_ended(process)):
                    return False
                if pipe in ready and not _read(pipe, kept):
                    selector.unregister(pipe)  # closed by all, while the child goes on
            return True
    finally:
        if end is not None:
            os.close(end)


def _end(process: subprocess.Popen[bytes], kept: _Kept) -> None:
    """Kill what is left, and take what it has written."""
    if not SELECTABLE_PIPES:
        process.kill()  # nothing, if `_watch_by_thread` came to its end
        return
    # All go before the leader is waited for: until then, nobody can get its number.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    _kill_session(process.pid)
    deadline = time.monotonic() + GRACE_S
    while not _reap(process) and time.monotonic() < deadline:
        time.sleep(POLL_S / 10)
    os.set_blocking(process.stdout.fileno(), False)  # an interrupt may have come before
    before = kept.count
    while kept.count - before < LEFTOVER_BYTES and _read(process.stdout.fileno(), kept):
        pass
    process.stdout.close()


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


def _reap(process: subprocess.Popen[bytes]) -> bool:
    """Whether the child is over. As Popen.poll(), which takes a lost status for 0, a success."""
    if process.returncode is None:
        try:
            number, status = os.waitpid(process.pid, os.WNOHANG)
            process.returncode = os.waitstatus_to_exitcode(status) if number else None
        except ChildProcessError:  # a handler of SIGCHLD was faster, or another thread
            process.returncode = LOST
    return process.returncode is not None


def _read(pipe: int, kept: _Kept) -> bool:
    """Read what is there; False for nothing there, or the end."""
    with suppress(BlockingIOError):
        data = os.read(pipe, CHUNK_BYTES)
        kept.add(data)
        return bool(data)
    return False


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return _reap(process)
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return True


def _watch_by_thread(process: subprocess.Popen[bytes], kept: _Kept, deadline: float) -> bool:
    """As `_watch`, for Windows: its pipes can only be waited for in a thread. Kills no group."""

    def read_all() -> None:
        while data := process.stdout.read(CHUNK_BYTES):
            kept.add(data)

    reader = threading.Thread(target=read_all, daemon=True)
    reader.start()
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
        return False
    except subprocess.TimeoutExpired:
        return True
    finally:
        process.kill()
        process.wait()
        reader.join(GRACE_S)  # a grandchild may hold the pipe for ever
        if not reader.is_alive():
            process.stdout.close()

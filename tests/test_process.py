"""What `run_process` promises: bounded in time and memory, and nothing is left running."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_lib import process
from harness_lib.process import run_process

SHELL = shutil.which("bash") or "sh"


def run(command, tmp_path, *, timeout_s=20.0, max_output_bytes=48_000):
    return run_process(
        [SHELL, "-c", command],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        timeout_s=timeout_s,
        max_output_bytes=max_output_bytes,
    )


@pytest.fixture(params=["pidfd", "waitid", "poll", "thread"])
def every_way(request, monkeypatch):
    """The ways to learn of a child's end, of which a platform has one or the other."""
    if request.param == "pidfd" and not hasattr(os, "pidfd_open"):
        pytest.skip("no pidfd_open here")
    if request.param in ("waitid", "poll"):
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    if request.param == "poll":
        monkeypatch.delattr(os, "waitid", raising=False)
    if request.param == "thread":
        monkeypatch.setattr(process, "SELECTABLE_PIPES", False)
    return request.param


def is_running(pid_file: Path) -> bool:
    """Whether the process that wrote its id into a file still runs; a zombie does not."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{int(pid_file.read_text())}/stat").read_text().rsplit(")")[-1][1] != "Z"
    return False


def ends_soon(pid_file: Path) -> bool:
    """A kill is on its way when the call returns; that it arrives takes a moment."""
    deadline = time.monotonic() + 5
    while is_running(pid_file) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid_file)


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc to look into")


@pytest.mark.usefixtures("every_way")
@pytest.mark.parametrize(
    ("command", "output", "exit_status", "signal_number"),
    [
        ("true", b"", 0, None),
        ("exit 3", b"", 3, None),
        ("echo out; echo err >&2; echo out", b"out\nerr\nout\n", 0, None),
        ("printf 'a\\0\\377b'", b"a\0\xffb", 0, None),
        ("kill -9 $$", b"", None, signal.SIGKILL),
        ("echo x; kill -TERM $$", b"x\n", None, signal.SIGTERM),
        ("cat", b"", 0, None),  # its input is empty
        ("exec >&- 2>&-; exit 4", b"", 4, None),  # closes the pipe and goes on
        ("yes | head -1", b"y\n", 0, None),  # SIGPIPE works as usual
    ],
)
def test_how_a_child_ended_and_what_it_wrote(tmp_path, command, output, exit_status, signal_number):
    result = run(command, tmp_path)
    assert (result.head, result.left_out, result.tail) == (output, 0, b"")
    assert result.exit_status == exit_status
    assert (result.signal, result.timed_out) == (signal_number, False)


@needs_proc
@pytest.mark.usefixtures("every_way")
def test_time_is_over(tmp_path):
    before = time.monotonic()
    result = run("echo $$ > pid; echo begun; exec sleep 60", tmp_path, timeout_s=0.5)
    assert time.monotonic() - before < 5
    assert (result.head, result.timed_out) == (b"begun\n", True)
    assert result.signal == signal.SIGKILL
    assert not is_running(tmp_path / "pid")


@needs_proc
@pytest.mark.parametrize(
    "command",
    [
        "sleep 60 & echo $! > pid",
        "(sleep 60 & echo $! > pid) >/dev/null 2>&1",
        "nohup sleep 60 >/dev/null 2>&1 & echo $! > pid",
        "trap '' TERM HUP INT; sleep 60 & echo $! > pid; echo $! > pid; exit 1",
        "sleep 60 & echo $! > pid; kill -9 $$",
    ],
)
def test_the_end_of_the_child_is_the_end_of_its_group(tmp_path, command):
    before = time.monotonic()
    assert not run(command, tmp_path).timed_out
    assert time.monotonic() - before < 5
    assert ends_soon(tmp_path / "pid")


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's list of processes")

OWN_GROUP = "import os; os.setpgid(0, 0); os.execlp('sh', 'sh', 'note.sh')"
LEAVES_ITS_GROUP = {
    "timeout": "timeout 60 sh note.sh",
    "timeout below timeout": "timeout 60 timeout 50 sh note.sh",
    "xargs and timeout": "echo note.sh | xargs timeout 60 sh",
    "set -m": "bash -c 'set -m; sh note.sh; true'",
    "set -m, in the background": "bash -c 'set -m; sh note.sh & wait'",
    "setpgid": f'"{sys.executable}" -c "{OWN_GROUP}"',
    "setpgid of an orphan": f'"{sys.executable}" -c "import os; os.fork() and os._exit(0); {OWN_GROUP}"',
}
ENDS = {
    "by itself": "exit 4",
    "by a signal": "kill -9 $$",
    "as its time is over": "wait; sleep 60",
    "by an interrupt": "kill -INT $PPID; wait; sleep 60",
}


@needs_linux
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("command", LEAVES_ITS_GROUP.values(), ids=LEAVES_ITS_GROUP.keys())
def test_what_leaves_the_group_ends_with_the_session(tmp_path, command, end):
    if not shutil.which("bash"):
        pytest.skip("no bash here")
    (tmp_path / "note.sh").write_text("echo $$ > pid; exec sleep 60")
    command = f"( {command} ) >/dev/null 2>&1 & until test -s pid; do sleep 0.01; done; {ENDS[end]}"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if end == "by an interrupt":
            with pytest.raises(KeyboardInterrupt):
                run(command, tmp_path)
        else:
            result = run(command, tmp_path, timeout_s=2.0 if "time" in end else 20.0)
            assert result.timed_out == ("time" in end)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "pid").read_text().strip().isdecimal()
    assert ends_soon(tmp_path / "pid")


@needs_linux
def test_what_is_started_while_the_session_is_killed_is_found_too(tmp_path, monkeypatch):
    """It is not in the first list; the second look finds it."""
    real, lists = os.listdir, []

    def late(path):
        names = real(path)
        if path == "/proc":
            lists.append(names)
            if len(lists) == 1:
                names.remove((tmp_path / "pid").read_text().strip())
        return names

    monkeypatch.setattr(os, "listdir", late)
    (tmp_path / "note.sh").write_text("echo $$ > pid; exec sleep 60")
    command = "timeout 60 sh note.sh >/dev/null 2>&1 & until test -s pid; do sleep 0.01; done"
    assert run(command, tmp_path).exit_status == 0
    assert ends_soon(tmp_path / "pid")
    assert 2 <= len(lists) <= 4


def test_nobody_elses_process_is_killed(tmp_path):
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    mine = subprocess.Popen(["sleep", "60"])
    try:
        run("timeout 60 sleep 60 & sleep 0.1", tmp_path)
        assert other.poll() is None
        assert mine.poll() is None
    finally:
        for process_ in (other, mine):
            process_.kill()
            process_.wait()


@pytest.mark.parametrize("way", ["pidfd", "waitid", "poll"])
@pytest.mark.parametrize("command", ["true", "exit 3", "kill -9 $$"])
def test_a_status_that_another_took_is_no_success(tmp_path, monkeypatch, way, command):
    """The harness may have a handler of SIGCHLD that waits for whoever has ended."""
    if way != "pidfd":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    if way == "poll":
        monkeypatch.delattr(os, "waitid", raising=False)

    def take(number, frame):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    before = signal.signal(signal.SIGCHLD, take)
    try:
        result = run(command, tmp_path)
    finally:
        signal.signal(signal.SIGCHLD, before)
    if result.exit_status is not None or result.signal is not None:  # `run_process` was faster
        assert result == run(command, tmp_path)
    else:
        assert not result.timed_out


def test_a_status_that_was_taken_at_any_moment_is_no_success(tmp_path, monkeypatch):
    """Also in the last moment, between the look at the child and the wait for it."""
    real = process._kill_session

    def take(leader):
        real(leader)
        os.waitpid(leader, 0)

    monkeypatch.setattr(process, "_kill_session", take)
    for command in ("true", "exit 3", "kill -9 $$"):
        result = run(command, tmp_path)
        assert (result.exit_status, result.signal, result.timed_out) == (None, None, False)


@pytest.mark.parametrize("inherited", [True, False])
def test_a_harness_that_ignores_the_end_of_children_runs_none(tmp_path, inherited):
    """The system then throws every exit status away; being ignored survives an exec."""
    script = (
        "import signal, sys; from harness_lib.process import run_process\n"
        "assert signal.signal(signal.SIGCHLD, signal.SIG_IGN) == eval(sys.argv[1])\n"
        "try: run_process(['touch', 'ran'], cwd=sys.argv[2], env={'PATH': '/usr/bin:/bin'},\n"
        "    timeout_s=9, max_output_bytes=10)\n"
        "except ChildProcessError as error: print(error)\n"
    )
    ignore = functools.partial(signal.signal, signal.SIGCHLD, signal.SIG_IGN)
    done = subprocess.run(
        [sys.executable, "-c", script, f"signal.SIG_{'IGN' if inherited else 'DFL'}", tmp_path],
        capture_output=True,
        text=True,
        preexec_fn=ignore if inherited else None,
    )
    assert "SIGCHLD" in done.stdout, done.stderr
    assert not (tmp_path / "ran").exists()


@needs_proc
def test_a_second_interrupt_does_not_stop_the_killing(tmp_path, monkeypatch):
    real = os.killpg

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        real(*arguments)

    monkeypatch.setattr(os, "killpg", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run("sleep 60 & echo $! > pid; kill -INT $PPID; wait", tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ends_soon(tmp_path / "pid")


@needs_proc
def test_an_interrupt_at_any_line_leaves_nothing_running_and_nothing_open(tmp_path):
    """Ctrl-C can come between any two lines: each run gets one, at a line that had none yet."""

    def left():
        """The processes that work here, the children not waited for, and what is open."""
        here = set()
        for link in Path("/proc").glob("[0-9]*/cwd"):
            with contextlib.suppress(OSError):  # a zombie's, another user's
                here |= {link} if os.readlink(link) == str(tmp_path.resolve()) else set()
        children = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
        return here, children, sorted(os.listdir("/proc/self/fd"))

    def trace(frame, event, _):
        if frame.f_code.co_filename != process.__file__:
            return None
        if event == "line" and frame.f_lineno not in lines:
            lines.append(frame.f_lineno)
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
        return trace

    before, lines, count = left(), [], -1
    tracer, handler = sys.gettrace(), signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        while count < len(lines):
            count = len(lines)
            interrupted = False
            try:
                sys.settrace(trace)
                run("sleep 60 & echo $!", tmp_path)
            except KeyboardInterrupt:
                interrupted = True
            finally:
                sys.settrace(None)
            deadline = time.monotonic() + 5
            while left() != before and time.monotonic() < deadline:  # a kill takes a moment
                time.sleep(0.005)
            assert left() == before, f"after an interrupt at line {lines[-1]}"
            assert interrupted == (count < len(lines)), lines[-1]
    finally:
        sys.settrace(tracer)
        signal.signal(signal.SIGINT, handler)
    assert len(lines) > 70


@pytest.mark.usefixtures("every_way")
def test_a_handler_that_does_not_raise_lets_the_child_go_on(tmp_path):
    """It is called as the signal comes, and what it sets in its place stays."""
    calls = []

    def note(number, frame):
        calls.append(number)
        (tmp_path / "noted").touch()
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    before = signal.signal(signal.SIGINT, note)
    try:
        result = run("kill -INT $PPID; until test -f noted; do :; done; echo on", tmp_path)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.head, result.exit_status, calls) == (b"on\n", 0, [signal.SIGINT])


@pytest.mark.usefixtures("every_way")
def test_a_background_child_that_holds_the_pipe_does_not_hold_the_call(tmp_path):
    before = time.monotonic()
    assert run("sleep 30 & echo done", tmp_path).head == b"done\n"
    assert time.monotonic() - before < 5


@needs_proc
def test_after_the_time_limit_no_grandchild_is_left(tmp_path):
    command = "sh -c 'echo $$ > pid; sleep 60; echo late > late.txt' >/dev/null 2>&1; true"
    assert run(command, tmp_path, timeout_s=0.5).timed_out
    assert ends_soon(tmp_path / "pid")
    assert not (tmp_path / "late.txt").exists()


@needs_proc
@pytest.mark.parametrize("moment", ["inside Popen", "in the middle"])
def test_an_interrupt_ends_the_group_and_passes_through(tmp_path, monkeypatch, moment):
    command = "sleep 60 & echo $! > pid; wait"
    real = subprocess.Popen.__init__

    def interrupted(self, *arguments, **options):
        real(self, *arguments, **options)
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    if moment == "in the middle":
        command = "sleep 60 & echo $! > pid; sleep 0.3; kill -INT $PPID; wait"
    else:
        monkeypatch.setattr(subprocess.Popen, "__init__", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            run(command, tmp_path)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "pid").exists()
    assert ends_soon(tmp_path / "pid")


@needs_proc
def test_ctrl_c_goes_to_the_harness_and_not_to_the_child(tmp_path):
    """They are in different groups: the child is ended by the harness, not by the terminal."""
    command = "trap 'echo told > told' INT; echo $$ > pid; while :; do sleep 0.05; done"
    script = (
        "import os, signal, sys; from harness_lib.process import run_process\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "run_process(['sh', '-c', sys.argv[1]], cwd=sys.argv[2], env=dict(os.environ),\n"
        "    timeout_s=20, max_output_bytes=10)\n"
    )
    harness = subprocess.Popen(
        [sys.executable, "-c", script, command, tmp_path],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 10
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(harness.pid, signal.SIGINT)
    _, said = harness.communicate(timeout=10)
    assert b"KeyboardInterrupt" in said
    assert ends_soon(tmp_path / "pid")
    assert not (tmp_path / "told").exists()


def test_the_group_is_killed_before_its_leader_is_reaped(tmp_path, monkeypatch):
    """Once it is reaped, its number can be another's."""
    events = []
    kill, session, wait = os.killpg, process._kill_session, os.waitpid
    monkeypatch.setattr(os, "killpg", lambda *a: events.append("kill") or kill(*a))
    monkeypatch.setattr(process, "_kill_session", lambda *a: events.append("all") or session(*a))
    monkeypatch.setattr(os, "waitpid", lambda *a: events.append("reap") or wait(*a))
    run("true", tmp_path)
    assert events == ["kill", "all", "reap"]


def test_a_child_has_a_session_of_its_own_and_no_terminal(tmp_path):
    script = "import os; print(os.getsid(0) == os.getpid(), flush=True); open('/dev/tty')"
    result = run(f'exec "{sys.executable}" -c "{script}"', tmp_path)
    assert result.head.startswith(b"True\n")
    assert result.exit_status == 1


def said_on(terminal, its_end, command):
    """All that a program writes to a terminal of its own, to its end."""
    harness = subprocess.Popen(
        command, stdin=its_end, stdout=its_end, stderr=its_end, start_new_session=True
    )
    os.close(its_end)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while data := os.read(terminal, 1000):
            said += data
    os.close(terminal)
    assert harness.wait() == 0
    return said


def test_the_terminal_of_the_harness_is_not_the_childs(tmp_path):
    """A child with the harness's terminal could type into it (TIOCSTI)."""
    script = (
        "import fcntl, sys, termios; from harness_lib.process import run_process\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "open('/dev/tty').close()\n"
        "code = 'import fcntl, termios; tty = open(\"/dev/tty\"); '\n"
        "code += 'fcntl.ioctl(tty, termios.TIOCSTI, b\"y\")'\n"
        "done = run_process([sys.executable, '-c', code], cwd='/', env={}, timeout_s=20,\n"
        "    max_output_bytes=10_000)\n"
        "print('no terminal' if b'/dev/tty' in done.head else done)\n"
    )
    terminal, its_end = os.openpty()
    assert said_on(terminal, its_end, [sys.executable, "-c", script]).strip() == b"no terminal"


def test_the_input_of_the_harness_is_not_read(tmp_path):
    script = (
        "import sys; from harness_lib.process import run_process\n"
        "run_process(['head', '-c', '10'], cwd='/', env={'PATH': '/usr/bin:/bin'}, timeout_s=20,\n"
        "    max_output_bytes=10)\n"
        "print(sys.stdin.read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="one\ntwo\n", capture_output=True, text=True
    )
    assert done.stdout == "one\ntwo\n\n"


@pytest.mark.usefixtures("every_way")
def test_of_much_output_head_and_tail_are_kept(tmp_path):
    result = run("seq 1 20000; echo FINAL-ERROR", tmp_path, max_output_bytes=2_000)
    assert result.head.startswith(b"1\n2\n3\n")
    assert result.tail.endswith(b"20000\nFINAL-ERROR\n")
    assert (len(result.head), result.left_out, len(result.tail)) == (1_000, 106_906, 1_000)


@pytest.mark.parametrize("max_output_bytes", [48_000, 1, 0])
def test_a_flood_is_bounded_in_memory(tmp_path, max_output_bytes):
    script = (
        "import resource; from harness_lib.process import run_process\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "run_process(['sh', '-c', 'yes | head -c 200000000'], cwd='/',\n"
        f"    env={{'PATH': '/usr/bin:/bin'}}, timeout_s=60, max_output_bytes={max_output_bytes})\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert int(done.stdout) < 20_000, done.stderr  # KiB on Linux


def test_an_endless_flood_is_stopped_in_time(tmp_path):
    before = time.monotonic()
    assert run("yes", tmp_path, timeout_s=0.5).timed_out
    assert time.monotonic() - before < 5


def test_a_flood_from_outside_the_group_does_not_hold_the_call(tmp_path):
    """setsid leaves the group, and so escapes the kill: not guaranteed, but bounded."""
    if not shutil.which("setsid"):
        pytest.skip("no setsid command here")
    before = time.monotonic()
    result = run("setsid sh -c 'echo $$ > pid; exec yes' & sleep 0.3", tmp_path)
    assert time.monotonic() - before < 5
    assert result.exit_status == 0
    with contextlib.suppress(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_what_is_read_after_the_end_is_bounded(tmp_path, monkeypatch):
    def endless(pipe, kept):
        kept.add(b"x" * 100_000)
        return True

    monkeypatch.setattr(process, "_read", endless)
    assert run("true", tmp_path).exit_status == 0


def test_what_cannot_be_started_is_an_os_error(tmp_path):
    options = {"cwd": tmp_path, "env": {}, "timeout_s": 1.0, "max_output_bytes": 10}
    with pytest.raises(FileNotFoundError):
        run_process([str(tmp_path / "nope")], **options)
    with pytest.raises(FileNotFoundError):
        run_process([SHELL, "-c", "true"], **options | {"cwd": tmp_path / "nope"})


def test_no_descriptor_and_no_zombie_is_left(tmp_path):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no /proc to count descriptors in")

    def children():
        return [path.read_text() for path in Path("/proc/self/task").glob("*/children")]

    before, children_before = sorted(os.listdir("/proc/self/fd")), children()
    for command in ("true", "yes", "kill -9 $$", "exec >&- 2>&-"):
        run(command, tmp_path, timeout_s=0.2)
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert children() == children_before


def test_no_descriptor_of_the_harness_is_inherited(tmp_path):
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        result = run(f"echo x >&{file.fileno()}", tmp_path)
    assert result.exit_status != 0
    assert (tmp_path / "secret").read_bytes() == b""


@given(st.lists(st.binary(max_size=40)), st.integers(0, 30))
def test_what_is_kept_is_the_beginning_and_the_end(pieces, half):
    kept = process._Kept(half)
    for piece in pieces:
        kept.add(piece)
    whole = b"".join(pieces)
    head, left_out, tail = kept.ends()
    assert head == whole[:half]
    assert tail == whole[half:][max(0, len(whole[half:]) - half) :]
    assert left_out == max(0, len(whole) - 2 * half)


def test_what_ended_in_time_is_not_timed_out_though_the_harness_was_stopped(tmp_path):
    """As by Ctrl-Z and fg: the child goes on, and its time is over when the harness looks again."""
    script = (
        "import os, subprocess, sys\n"
        "from harness_lib.process import run_process\n"
        "stop = 'sleep 0.1; kill -STOP $0; sleep 1.5; kill -CONT $0'\n"
        "subprocess.Popen(['sh', '-c', stop, str(os.getpid())])\n"
        "result = run_process(['sh', '-c', 'sleep 0.3'], cwd='/', env={'PATH': os.defpath},\n"
        "                     timeout_s=0.8, max_output_bytes=9)\n"
        "print(result.exit_status, result.timed_out)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "0 False\n", done.stderr

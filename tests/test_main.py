"""`python -m harness_lib`: the demo offline, and the live prompt on a pseudo-terminal."""

import http.server
import os
import select
import subprocess
import sys
import threading
import time

import httpx2
import pytest

from harness_lib.demo import run_demo
from harness_lib.loop import INTERRUPTED
from harness_lib.providers.scripted import ScriptedModel, Turn
from harness_lib.result import ToolErrorCode

WAIT = 30  # seconds that an expected text may take

NO_NETWORK = """
import runpy, socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
sys.argv = ["harness_lib", "--demo"]
runpy.run_module("harness_lib", run_name="__main__")
"""


def test_the_demo_needs_no_network_and_no_key():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", NO_NETWORK],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8"},
        timeout=60,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout == run_demo() + "\n"


def test_the_demo_shows_the_whole_boundary():
    report = run_demo()
    for tool in ("bash", "read_file", "write_file", "edit_file", "glob"):
        assert f"\n  {tool} {{" in report
    for code in ToolErrorCode:
        assert f"stopped: {code}" in report
    assert " concurrent " in report
    assert " serial " in report
    assert max(map(len, report.splitlines())) <= 100
    assert "/tmp" not in report
    assert report == run_demo()


def test_the_demo_takes_less_than_two_seconds_after_import():
    began = time.perf_counter()
    run_demo()
    assert time.perf_counter() - began < 2


BARE = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}


@pytest.mark.parametrize(
    ("extra", "arguments", "sentence"),
    [
        ({}, [], "set ANTHROPIC_API_KEY to your key and ANTHROPIC_MODEL to a model id"),
        ({"ANTHROPIC_API_KEY": "k"}, [], "set ANTHROPIC_MODEL to a model id (or pass --model)"),
        ({}, ["--model", "m"], "set ANTHROPIC_API_KEY to your key"),
        ({"ANTHROPIC_API_KEY": "k"}, ["--model", "m", "--workdir", "nowhere"], "nowhere"),
        ({"ANTHROPIC_API_KEY": "k"}, ["--model", "m", "--workdir", "/"], "'/'"),
    ],
)
def test_what_is_missing_is_one_sentence(extra, arguments, sentence, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "harness_lib", *arguments],
        capture_output=True,
        text=True,
        env=BARE | extra,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def live(base_url):
    return {
        **BARE,
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_MODEL": "local-model",
        "ANTHROPIC_BASE_URL": base_url,
    }


class ApiServer:
    """The API's shape on a local port, answered by a script."""

    def __init__(self, turns, broken=()):
        self.model = model = ScriptedModel(turns)
        self.broken = broken = list(broken)  # bodies of the first answers, before the script's

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                if broken:
                    answer = httpx2.Response(200, content=broken.pop(0))
                else:
                    url = f"http://x{self.path}"
                    answer = model._answer(httpx2.Request("POST", url, content=body))
                self.send_response(answer.status_code)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()


class Terminal:
    """The live prompt on a pseudo-terminal."""

    def __init__(self, workdir, base_url, **more):
        pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            environ = live(base_url) | {"TERM": "dumb"} | more
            command = [sys.executable, "-m", "harness_lib", "--workdir", str(workdir)]
            os.execve(sys.executable, command, environ)
        self.seen = ""

    def send(self, text):
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def interrupt(self, text):
        """Press Ctrl-C, and again where nothing comes: Python misses one just before it reads."""
        deadline = time.monotonic() + WAIT
        self.send("\x03")
        while text not in self.seen:
            assert time.monotonic() < deadline, f"{text!r} did not come; so far: {self.seen!r}"
            if select.select([self.fd], [], [], 2)[0]:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            else:
                self.send("\x03")

    def expect(self, text):
        """Read until `text` comes; what came before it is returned and forgotten."""
        deadline = time.monotonic() + WAIT
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{text!r} did not come; so far: {self.seen!r}"
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                pytest.fail(f"ended before {text!r} came: {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before

    def status(self):
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_a_conversation(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo \x1b[2J\n")
    slow = "touch started; sleep 60"
    turns = [
        Turn("", [("read_file", {"path": "a.txt"}), ("nope", {})]),
        "It says \x1b[31mone.",
        "Still here.",
        Turn("", [("bash", {"command": slow})]),
        "After the stop.",
    ]
    with ApiServer(turns) as api:
        terminal = Terminal(tmp_path, api.url)
        terminal.expect("> ")
        terminal.send("read a.txt\n")
        terminal.expect("[1] read_file {'path': 'a.txt'}")
        terminal.expect("two \\x1b[2J")
        terminal.expect("Error [unknown_tool]")
        terminal.expect("It says \\x1b[31mone.")
        terminal.expect("> ")
        terminal.send("and now?\n")
        terminal.expect("Still here.")
        terminal.expect("> ")
        assert [m["role"] for m in api.model.requests[2]["messages"]] == [
            *("user", "assistant", "user", "assistant", "user")
        ]

        terminal.send("wait\n")
        deadline = time.monotonic() + WAIT
        while not (tmp_path / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        terminal.send("\x03")
        terminal.expect("(stopped)")
        terminal.expect("> ")
        terminal.send("go on\n")
        terminal.expect("After the stop.")
        terminal.expect("> ")
        last = api.model.requests[-1]["messages"]
        assert last[-2]["content"][0]["content"] == f"Error: not executed: {INTERRUPTED}"

        terminal.send("too much\n")
        error = terminal.expect("> ")
        assert "The model could not be asked: Error code: 400" in error
        assert "Traceback" not in error
        terminal.interrupt("(q or Ctrl-D leaves)")
        terminal.send("q\n")
        assert terminal.status() == 0


def test_a_lost_connection_is_one_line_and_ctrl_d_leaves(tmp_path):
    with ApiServer(["hello"]) as api:
        url = api.url
    terminal = Terminal(tmp_path, url)
    terminal.expect("> ")
    terminal.send("hi\n")
    error = terminal.expect("> ")
    assert "The model could not be asked: Connection error." in error
    assert len(error.strip().splitlines()) == 2  # what was typed, and the line
    terminal.send("\x04")
    assert terminal.status() == 0


def test_a_byte_that_is_no_text_is_typed(tmp_path):
    with ApiServer(["hello"]) as api:
        terminal = Terminal(tmp_path, api.url, PYTHONIOENCODING="utf-8:strict")
        terminal.expect("> ")
        terminal.send(b"\xff hi\n")
        terminal.expect("hello")
        terminal.expect("> ")
        terminal.send("\x04")
        assert terminal.status() == 0
    assert api.model.requests[0]["messages"][0]["content"] == "\ufffd hi"


BROKEN_ANSWERS = [
    b"",
    b'{"content": [',
    b'{"content": "\xff"}',
    b'{"usage": ' + b"9" * 5_000 + b"}",
    b"[" * 5_000 + b"]" * 5_000,
    b"null",
]


@pytest.mark.parametrize(
    ("locale", "shown"),
    [
        ({"PYTHONIOENCODING": "latin-1"}, b"\xe9 \\u65e5"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, b"\\xe9 \\u65e5"),
    ],
)
def test_a_prompt_survives_bad_bytes_and_broken_answers(tmp_path, locale, shown):
    turns = ["é 日", Turn("", stop_reason="refusal"), "still here"]
    lines = [b"\xff hi"] * len(BROKEN_ANSWERS) + [b"\xff", "é".encode(), b"and now?"]
    with ApiServer(turns, BROKEN_ANSWERS) as api:
        done = subprocess.run(
            [sys.executable, "-m", "harness_lib"],
            input=b"\n".join(lines),
            capture_output=True,
            env=live(api.url) | locale,
            cwd=tmp_path,
            timeout=WAIT,
        )
    assert done.stderr == b""
    assert done.returncode == 0
    _, *answers = done.stdout.split(b"> ")
    assert all(answer.count(b"\n") == 1 for answer in answers)
    assert answers[0].startswith(b"The model's answer could not be read: JSONDecodeError: ")
    assert [answer.strip() for answer in answers[-4:]] == [
        shown,
        b"(no text; the provider says: refusal)",
        b"still here",
        b"",
    ]


def test_without_stdin_the_prompt_ends(tmp_path):
    command = f'exec "{sys.executable}" -m harness_lib <&-'
    done = subprocess.run(
        command, shell=True, capture_output=True, env=live("http://x.invalid"), cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_has_gone_is_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "harness_lib", "--demo"], stdout=gone, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (1, b"")


def test_ctrl_c_in_the_demo_is_no_traceback(monkeypatch, capsys):
    from harness_lib import __main__, demo

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run_demo", interrupted)
    monkeypatch.setattr(sys, "argv", ["harness_lib", "--demo"])
    assert __main__.run() == 130
    assert capsys.readouterr() == ("", "\n(stopped)\n")

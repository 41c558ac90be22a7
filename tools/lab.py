"""A real JupyterLab, driven in a headless Chromium: for tests/lab and for tools.screenshot."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tools.notebooks import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]
START_S = 60
RUN_S = 180
NOTEBOOK = ".jp-NotebookPanel:not(.lm-mod-hidden)"
READY = """notebook => {
    const panel = document.querySelector(notebook);
    const status = document.querySelector("#jp-main-statusbar").textContent;
    const drawn = [...panel.querySelectorAll(".jp-MarkdownCell")]
        .every(cell => cell.querySelector(".jp-RenderedMarkdown")?.textContent.trim());
    return /Python.*\\| Idle/.test(status) && drawn;
}"""
PROMPTS = f"{NOTEBOOK} .jp-CodeCell .jp-InputPrompt"

# What `make lab` sets, and: all cells are in the page, not only those in view.
ALL_CELLS = {"@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}}


def browser_path() -> str | None:
    """Where this machine's Chromium is, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@dataclass(frozen=True)
class Lab:
    """A running server: its address ends in '/', its token opens it."""

    address: str
    token: str

    def url(self, path: str) -> str:
        return f"{self.address}{path}{'&' if '?' in path else '?'}token={self.token}"

    def ask(self, path: str, method: str = "GET") -> bytes:
        # No proxy of the machine stands between this process and its own server.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(self.url(path), method=method)
        with opener.open(request, timeout=10) as answer:
            return answer.read()

    def stop_kernels(self) -> None:
        for kernel in json.loads(self.ask("api/kernels")):
            self.ask(f"api/kernels/{kernel['id']}", "DELETE")


@contextmanager
def running_lab(folder: Path) -> Iterator[Lab]:
    """JupyterLab over `folder`, with `make lab`'s settings. The user's own are neither read nor
    written, so every notebook is untrusted at first, as in a fresh clone."""
    with tempfile.TemporaryDirectory(prefix="lab-") as scratch:
        state = Path(scratch)
        extra = state / "extra" / "labconfig"
        extra.mkdir(parents=True)
        (extra / "default_setting_overrides.json").write_text(json.dumps(ALL_CELLS))
        env = os.environ | {
            "JUPYTER_CONFIG_DIR": str(state / "config"),
            "JUPYTER_CONFIG_PATH": os.pathsep.join([str(ROOT / "jupyter"), str(extra.parent)]),
            "JUPYTER_DATA_DIR": str(state / "data"),
            "JUPYTER_RUNTIME_DIR": str(state / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(state / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(state / "workspaces"),
            "IPYTHONDIR": str(state / "ipython"),
            "PYTHONPATH": os.pathsep.join(
                [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
        }
        command = [
            *[sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"],
            *["--port=0", f"--ServerApp.root_dir={folder}"],
        ]
        log = state / "log"
        with log.open("wb") as out:
            server = subprocess.Popen(command, env=env, stdout=out, stderr=out)
        try:
            yield wait_until_up(server, state / "runtime", log)
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def wait_until_up(server: subprocess.Popen, runtime: Path, log: Path) -> Lab:
    """The server writes a file with its port and token, then begins to answer."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        for info in runtime.glob("jpserver-*.json"):
            try:
                facts = json.loads(info.read_text())
                lab = Lab(f"http://127.0.0.1:{facts['port']}/", facts["token"])
                lab.ask("api/status")
                return lab
            except (OSError, ValueError):  # half written, or not listening yet
                pass
        time.sleep(0.05)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}")


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=BROWSER_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def open_notebook(page: Page, lab: Lab, path: str) -> None:
    """Open a notebook and wait until its text is rendered and its kernel is ready."""
    page.goto(lab.url(f"lab/tree/{path}?reset"))
    page.wait_for_selector(f"{NOTEBOOK} .jp-Cell", timeout=START_S * 1000)
    page.wait_for_function(READY, arg=NOTEBOOK, timeout=START_S * 1000)


def choose(page: Page, menu: str, entry: str) -> None:
    """Choose an entry of the main menu, as a person does."""
    page.locator("#jp-MainMenu").get_by_text(menu, exact=True).click()
    page.locator(".lm-Menu").get_by_text(entry, exact=True).click()


def run_all(page: Page) -> None:
    """Run > Run All Cells on cleared outputs; returns when no cell waits any more.

    A cell that fails leaves those behind it without a count.
    """
    choose(page, "Edit", "Clear Outputs of All Cells")
    page.wait_for_function(
        "prompts => [...document.querySelectorAll(prompts)].every(p => !/\\d/.test(p.textContent))",
        arg=PROMPTS,
    )
    choose(page, "Run", "Run All Cells")
    page.wait_for_function(
        """prompts => {
            const texts = [...document.querySelectorAll(prompts)].map(p => p.textContent);
            return texts.some(t => /\\d/.test(t)) && !texts.some(t => t.includes("*"));
        }""",
        arg=PROMPTS,
        timeout=RUN_S * 1000,
    )

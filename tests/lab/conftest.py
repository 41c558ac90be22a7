"""A real JupyterLab over a copy of the notebooks, and a headless Chromium that opens its pages."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tools.lab import BROWSERS, Lab, browser_path, open_notebook, running_browser, running_lab
from tools.notebooks import FOLDER

NO_BROWSER = f"no Chromium here (looked for {', '.join(BROWSERS)})"


def pytest_terminal_summary(terminalreporter):
    if browser_path() is None:
        terminalreporter.section("NOT TESTED", sep="!", bold=True)
        terminalreporter.line(f"JupyterLab in a browser: {NO_BROWSER}")
        terminalreporter.line("Debian, Ubuntu: sudo apt install chromium, then run this again")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if browser_path() is None:
        if os.environ.get("CI"):
            pytest.fail(f"{NO_BROWSER}, and with CI set it is required")
        pytest.skip(NO_BROWSER)
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab_folder(tmp_path_factory) -> Path:
    """The folder that the server shows: autosave writes there, not into the tracked files."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(FOLDER, folder / "notebooks")
    return folder


@pytest.fixture(scope="session")
def lab(browser: Browser, lab_folder: Path) -> Iterator[Lab]:
    with running_lab(lab_folder) as lab:
        yield lab


@pytest.fixture
def opened(browser: Browser, lab: Lab) -> Iterator[Callable[[str], Page]]:
    """opened("05_x.ipynb") is the page with that notebook, its kernel ready."""
    pages: list[Page] = []

    def open_one(name: str) -> Page:
        pages.append(browser.new_page(viewport={"width": 1300, "height": 900}))
        open_notebook(pages[-1], lab, f"notebooks/{name}")
        return pages[-1]

    yield open_one
    for page in pages:
        page.close()
    lab.stop_kernels()

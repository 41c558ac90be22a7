"""Take pictures of a notebook as JupyterLab shows it, before running (untrusted) and after.

    python -m tools.screenshot notebooks/05_x.ipynb --to /some/folder
    python -m tools.screenshot notebooks/*.ipynb --to pictures --width 1300 --only before

Each picture shows the whole notebook; one that is longer than 2,000 pixels is cut into several:
05_x-1300-before-1.png, 05_x-1300-before-2.png. The notebooks themselves are not touched.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from tools.lab import NOTEBOOK, browser_path, open_notebook, run_all, running_browser, running_lab
from tools.notebooks import ROOT

WIDTHS = (1300, 800)
HIGHEST = 2000
SCROLLED = f"{NOTEBOOK} .jp-WindowedPanel-outer"

# To the last cell's end: the empty page that one can scroll on to is no picture.
CONTENT_HEIGHT = """panel => {
    const bottom = [...panel.querySelectorAll(".jp-Cell")].at(-1).getBoundingClientRect().bottom;
    const top = panel.getBoundingClientRect().top;
    return Math.min(panel.scrollHeight, Math.ceil(panel.scrollTop + bottom - top) + 16);
}"""


def take(page: Page, name: str, to: Path) -> list[Path]:
    """Pictures of the open notebook, top to bottom, without a gap or an overlap."""
    box = page.locator(SCROLLED).bounding_box()
    height = page.eval_on_selector(SCROLLED, CONTENT_HEIGHT)
    pictures = []
    for number, top in enumerate(range(0, height, int(box["height"])), start=1):
        # The last stretch cannot be scrolled to the panel's top: it stands further down in it.
        scrolled = page.eval_on_selector(
            SCROLLED, "(panel, top) => { panel.scrollTop = top; return panel.scrollTop; }", top
        )
        offset = top - scrolled
        clip = {
            "x": box["x"],
            "y": box["y"] + offset,
            "width": box["width"],
            "height": min(box["height"] - offset, height - top),
        }
        pictures.append(to / f"{name}-{number}.png")
        page.screenshot(path=pictures[-1], clip=clip, animations="disabled")
    return pictures


def shoot(page: Page, path: Path, to: Path, stages: list[str]) -> list[Path]:
    pictures = []
    width = page.viewport_size["width"]
    if page.locator("#jp-left-stack:visible").count():
        page.keyboard.press("Control+b")
        page.locator("#jp-left-stack").wait_for(state="hidden")
    for stage in stages:
        if stage == "after":
            run_all(page)
        # Toolbars come and go with the width: let the layout settle for two frames.
        page.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
        pictures += take(page, f"{path.stem}-{width}-{stage}", to)
    return pictures


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.screenshot",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--to", type=Path, required=True, help="the folder for the pictures")
    parser.add_argument("--width", type=int, action="append", help="default: 1300 and 800")
    parser.add_argument("--only", choices=["before", "after"])
    options = parser.parse_args(arguments)
    if browser_path() is None:
        print("No Chromium found. Debian, Ubuntu: sudo apt install chromium", file=sys.stderr)
        return 1
    options.to.mkdir(parents=True, exist_ok=True)
    stages = [options.only] if options.only else ["before", "after"]
    with tempfile.TemporaryDirectory(prefix="pictures-") as scratch:
        copy = Path(scratch) / "notebooks"
        shutil.copytree(ROOT / "notebooks", copy)
        for notebook in options.notebooks:
            shutil.copy(notebook, copy)
        with running_lab(copy.parent) as lab, running_browser() as browser:
            for notebook in options.notebooks:
                for width in options.width or WIDTHS:
                    page = browser.new_page(viewport={"width": width, "height": HIGHEST})
                    open_notebook(page, lab, f"notebooks/{notebook.name}")
                    for picture in shoot(page, notebook, options.to, stages):
                        print(picture)
                    page.close()
                    lab.stop_kernels()
                    shutil.copy(notebook, copy)  # autosave may have written into it
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run All Cells, as a learner presses it, in the real front end."""

from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Page

from tools.lab import NOTEBOOK, PROMPTS, run_all
from tools.notebooks import FOLDER, METADATA, load

FIRST = FOLDER / "00_start_here.ipynb"
CELLS = f"{NOTEBOOK} .jp-CodeCell"
# JupyterLab shows an error and a line on stderr alike.
RED = f"{NOTEBOOK} .jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"


def cells_with_output(page: Page) -> list[bool]:
    return page.eval_on_selector_all(
        CELLS, "cells => cells.map(c => c.querySelector('.jp-OutputArea-output') !== null)"
    )


def test_the_first_lesson_runs_in_jupyterlab(opened: Callable[[str], Page]):
    before = FIRST.read_bytes()
    cells = [cell for cell in load(FIRST).cells if cell.cell_type == "code"]
    page = opened(FIRST.name)
    run_all(page)
    page.wait_for_function(
        "([cells, wanted]) => [...document.querySelectorAll(cells)]"
        ".filter(c => c.querySelector('.jp-OutputArea-output')).length >= wanted",
        arg=[CELLS, sum(bool(cell.outputs) for cell in cells)],
    )
    prompts = [text.strip() for text in page.locator(PROMPTS).all_text_contents()]
    assert prompts == [f"[{n}]:" for n in range(1, len(cells) + 1)]
    assert cells_with_output(page) == [bool(cell.outputs) for cell in cells]
    tags = [tag for cell in cells for tag in cell.metadata.get("tags", [])]
    assert page.locator(RED).count() == tags.count("raises-exception")
    assert FIRST.read_bytes() == before


def test_a_failing_cell_would_be_seen(opened: Callable[[str], Page], lab_folder: Path):
    cells = [new_markdown_cell("# Bad"), *map(new_code_cell, ["1", "1 / 0", "print('never')"])]
    nb = new_notebook(cells=cells, metadata=METADATA)
    nbformat.write(nb, lab_folder / "notebooks" / "98_bad.ipynb")
    page = opened("98_bad.ipynb")
    run_all(page)
    page.wait_for_selector(RED)
    assert page.locator(RED).count() == 1
    assert cells_with_output(page) == [True, True, False]

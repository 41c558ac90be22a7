"""The tool that takes pictures of a notebook."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tools.notebooks import FOLDER, ROOT
from tools.screenshot import HIGHEST


@pytest.mark.usefixtures("browser")
def test_a_picture_of_each_stage(tmp_path: Path):
    notebook = FOLDER / "00_start_here.ipynb"
    before = notebook.read_bytes()
    command = [sys.executable, "-m", "tools.screenshot", str(notebook)]
    subprocess.run([*command, "--to", str(tmp_path), "--width", "800"], cwd=ROOT, check=True)
    names = {picture.name for picture in tmp_path.iterdir()}
    assert {f"00_start_here-800-{stage}-1.png" for stage in ("before", "after")} <= names
    for picture in tmp_path.iterdir():
        width, height = struct.unpack(">II", picture.read_bytes()[16:24])
        assert 0 < width <= 800
        assert 0 < height <= HIGHEST
    assert notebook.read_bytes() == before

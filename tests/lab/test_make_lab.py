"""`make lab` from a fresh copy of the project, whose folder has a space in its name."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.lab import wait_until_up
from tools.notebooks import ROOT


def same_as_installed() -> str:
    """Why `make lab` would install for minutes rather than start at once; empty if it would not."""
    stamp = Path(sys.prefix) / "installed-by-make"
    if not shutil.which("make"):
        return "there is no make here"
    if not stamp.exists():
        return "this environment was not made by make"
    inputs = (ROOT / "requirements.lock").read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    now = subprocess.run(["cksum"], input=inputs, capture_output=True, check=True).stdout.decode()
    if stamp.read_text().splitlines()[0] != now.strip():
        return "requirements.lock or pyproject.toml changed since `make install`"
    return ""


def setting(lab, plugin: str) -> dict:
    schema = json.loads(lab.ask(f"lab/api/settings/{plugin}"))["schema"]
    return {name: value.get("default") for name, value in schema["properties"].items()}


def test_make_lab_serves_the_first_lesson(course_copy: Path, tmp_path: Path):
    if reason := same_as_installed():
        pytest.skip(reason)
    runtime, log = tmp_path / "runtime", tmp_path / "log"
    env = os.environ | {"HOME": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(runtime)}
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_CONFIG_PATH", "MAKEFLAGS", "MAKELEVEL"):
        env.pop(name, None)
    command = ["make", "lab", "BROWSER=none", "PORT=0", f"VENV={sys.prefix}"]
    with log.open("wb") as out:
        make = subprocess.Popen(
            command, cwd=course_copy, env=env, stdout=out, stderr=out, start_new_session=True
        )
    try:
        lab = wait_until_up(make, runtime, log)
        assert b"jupyter-config-data" in lab.ask("lab/tree/notebooks/00_start_here.ipynb")
        assert json.loads(lab.ask("api/contents/notebooks/00_start_here.ipynb"))["content"]
        assert setting(lab, "@jupyter-widgets/jupyterlab-manager:plugin") == {"saveState": True}
        news = setting(lab, "@jupyterlab/apputils-extension:notification")
        assert (news["fetchNews"], news["checkForUpdates"]) == ("false", False)
        assert "/lab/tree/notebooks/00_start_here.ipynb?token=" in log.read_text()
        assert "Making" not in log.read_text()
    finally:
        os.killpg(make.pid, signal.SIGTERM)
        make.wait(timeout=30)

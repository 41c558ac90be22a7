"""What tools/install.sh says where it cannot go on: one sentence, before anything is made."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

COMMANDS = ("sh", "cat", "cksum", "ls", "mkdir", "rm", "head")

# A stand-in for python3: it answers the script's three questions, each known by a word in it.
STAND_IN = """#!/bin/sh
case "$2" in
    *print*) echo {version} ;;
    *exit*) exit {too_old} ;;
    *ensurepip*) exit 1 ;;
esac
"""


def install(folder: Path, scratch: Path, **interpreters: str) -> subprocess.CompletedProcess:
    """Run the script where only these interpreters exist."""
    bin_folder = scratch / "bin"
    bin_folder.mkdir()
    for command in COMMANDS:
        (bin_folder / command).symlink_to(shutil.which(command))
    for name, text in interpreters.items():
        (bin_folder / name).write_text(text)
        (bin_folder / name).chmod(0o755)
    env = {"PATH": str(bin_folder), "HOME": str(scratch)}
    return subprocess.run(
        ["sh", "tools/install.sh"], cwd=folder, env=env, capture_output=True, text=True, timeout=60
    )


@pytest.mark.skipif(os.name != "posix", reason="make and sh are for Unix")
@pytest.mark.parametrize(
    ("interpreters", "words"),
    [
        ({}, ["No Python was found", "3.11 or newer", "PYTHON="]),
        (
            {"python3": STAND_IN.format(version="3.10.13", too_old=1)},
            ["Python 3.10.13 (python3) is too old", "3.11 or newer", "PYTHON="],
        ),
        (
            {"python3": STAND_IN.format(version="3.12.1", too_old=0)},
            ["Python 3.12.1 (python3) comes without its venv module", "python3-venv"],
        ),
    ],
    ids=["no Python", "too old", "no venv module"],
)
def test_one_clear_sentence(course_copy: Path, tmp_path: Path, interpreters, words):
    done = install(course_copy, tmp_path, **interpreters)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr
    assert not (course_copy / ".venv").exists()

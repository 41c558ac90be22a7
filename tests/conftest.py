"""What tests of several folders share."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.notebooks import ROOT

# Started in the background, as CI may do, a process ignores Ctrl-C, and so do its children. Tests
# that press it need it heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def course_copy() -> Iterator[Path]:
    """The project's files as a fresh clone has them, in a folder whose name holds a space.

    Not under tmp_path, which no other user may enter.
    """
    with tempfile.TemporaryDirectory(prefix="copy-") as name:
        copy = Path(name) / "the course"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
        )
        yield copy

"""The shape of the library: arrows run one way, modules are short, docstrings name a lesson."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import harness_lib

PACKAGE = Path(harness_lib.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__init__.py"
}

ARROWS = {
    "call": set(),
    "spec": set(),
    "environment": set(),
    "process": set(),
    "json_value": set(),
    "walk": set(),
    "files": set(),
    "replacing": {"walk"},
    "workspace": {"walk", "replacing"},
    "globbing": {"walk", "workspace"},
    "tools": {
        *("workspace", "process", "environment", "spec", "result"),
        *("files", "globbing"),
    },
    "result": {"call"},
    "binding": set(),
    "pattern": set(),
    "compiled": {"pattern"},
    "judge": set(),
    "violations": {"json_value"},
    "schema": {"json_value", "compiled", "pattern", "binding"},
    "validation": {"json_value", "compiled", "schema", "binding", "judge", "violations"},
    "scheduling": {"spec"},
    "registry": {
        *("call", "spec", "validation", "result", "scheduling"),
        *("schema", "binding", "json_value"),
    },
    "wire": {"call", "json_value"},
    "loop": {"call", "result", "registry", "wire"},
}
"""What a module may import of ours. Where the design has one module, some became several, so that
each stays short: validation (json_value, schema, pattern, compiled, judge, violations, binding), workspace (walk, replacing), tools (files,
globbing), loop (wire)."""


def imports_of(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if names == ["harness_lib"]:  # from harness_lib import globbing
            names = [f"harness_lib.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name == "harness_lib" or name.startswith("harness_lib."):
                found.add(name.removeprefix("harness_lib").lstrip("."))
    return found


@pytest.mark.parametrize("module", ARROWS)
def test_arrows(module):
    assert imports_of(MODULES[module]) <= ARROWS[module]


@pytest.mark.parametrize("module", MODULES)
def test_nothing_of_the_library_knows_the_course(module):
    if not module.startswith("course."):
        assert not any(name.startswith("course") for name in imports_of(MODULES[module]))


def test_a_reader_of_the_registry_meets_no_widgets_providers_or_paths():
    text = MODULES["registry"].read_text(encoding="utf-8").lower()
    assert not re.findall(r"widget|provider\b|workspace|pathlib|anthropic", text)


def test_nothing_about_any_tool_stands_in_the_loop():
    text = MODULES["loop"].read_text(encoding="utf-8")
    assert not re.findall(r"\b(bash|read_file|write_file|edit_file|glob|path)\b", text)


DATA = ("course.contracts.", "providers.referee_table")
"""Tables of cases, which are looked things up in, not read through."""


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith(DATA)])
def test_a_module_is_read_in_one_sitting(module):
    lines = MODULES[module].read_text(encoding="utf-8").count("\n")
    assert lines <= 250, f"{module} has {lines} lines"


@pytest.mark.parametrize("name", harness_lib.__all__)
def test_public_names_say_which_lesson_builds_them(name):
    assert re.search(r"Built in lessons? \d\d", getattr(harness_lib, name).__doc__)


def test_importing_the_library_imports_nothing_heavy():
    code = "import sys, harness_lib; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"anthropic", "jsonschema", "ipywidgets", "IPython", "httpx2", "pydantic"}
    assert not heavy & set(done.stdout.split())

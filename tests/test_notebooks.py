"""The notebooks' guards, each proved on a bad notebook; the tool that executes them; the alarm."""

import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import harness_lib
from tools import guards
from tools.notebooks import ROOT, all_notebooks, load, main, normalise

NOTEBOOKS = all_notebooks()


def nbval(*paths: Path, cwd: Path = ROOT, **kwargs) -> subprocess.CompletedProcess:
    """A strict comparison, as `make test` makes it, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-cell-timeout=120"]
    command += ["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={cwd}"]
    return subprocess.run(
        [*command, *map(str, paths)], cwd=cwd, capture_output=True, text=True, timeout=600, **kwargs
    )


# Every notebook passes every guard.


def test_the_course_has_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("guard", guards.GUARDS, ids=lambda guard: guard.__name__)
def test_notebook(guard: guards.Guard, path: Path):
    assert guard(load(path), path) == []


def test_few_outputs_are_ignored_in_the_whole_course():
    assert guards.ignored_outputs([load(p) for p in NOTEBOOKS]) == []


def test_each_lesson_has_its_own_number():
    assert guards.numbers_taken_twice(NOTEBOOKS) == []


# Each guard refuses what it is there for. A good notebook is spoilt in one place.


def good_notebook() -> NotebookNode:
    result = new_output("execute_result", {"text/plain": "2"}, execution_count=2)
    result.metadata = {}
    return new_notebook(
        cells=[
            new_markdown_cell("# A title\n\nText with a [link](00_good.ipynb).", id="title"),
            new_code_cell(
                "print('one')",
                id="one",
                execution_count=1,
                outputs=[new_output("stream", name="stdout", text="one\n")],
            ),
            new_markdown_cell("## A part\n\n[up](#A-title)", id="part"),
            new_code_cell("1 + 1", id="two", execution_count=2, outputs=[result]),
        ]
    )


def written(nb: NotebookNode, folder: Path, name: str = "00_good.ipynb") -> Path:
    path = folder / name
    path.write_text(normalise(nb), encoding="utf-8")
    return path


def test_a_good_notebook_passes_every_guard(tmp_path: Path):
    path = written(good_notebook(), tmp_path)
    nb = load(path)
    assert {guard.__name__: guard(nb, path) for guard in guards.GUARDS} == {
        guard.__name__: [] for guard in guards.GUARDS
    }


def source(cell: int, text: str) -> Callable[[NotebookNode], None]:
    return lambda nb: nb.cells[cell].update(source=text)


def metadata(cell: int, **values) -> Callable[[NotebookNode], None]:
    return lambda nb: nb.cells[cell].metadata.update(values)


def output(text: str) -> Callable[[NotebookNode], None]:
    return lambda nb: nb.cells[1].outputs[0].update(text=text)


def extra_output(kind: str, **values) -> Callable[[NotebookNode], None]:
    return lambda nb: nb.cells[1].outputs.append(new_output(kind, **values))


def html(text: str) -> Callable[[NotebookNode], None]:
    return extra_output("display_data", data={"text/html": text, "text/plain": "a picture"})


def a_stripped_notebook(nb: NotebookNode) -> None:
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def a_count_swapped(nb: NotebookNode) -> None:
    nb.cells[1].execution_count, nb.cells[3].execution_count = 2, 1


def a_result_of_an_older_run(nb: NotebookNode) -> None:
    nb.cells[3].outputs[0].execution_count = 7


def an_empty_cell(nb: NotebookNode) -> None:
    nb.cells.append(new_code_cell(id="empty"))


def widget_state(nb: NotebookNode) -> None:
    nb.metadata["widgets"] = {}


def a_python_version(nb: NotebookNode) -> None:
    nb.metadata["language_info"] = {"name": "python", "version": "3.11.7"}


def an_id_twice(nb: NotebookNode) -> None:
    nb.cells[3].id = "one"


def no_id(nb: NotebookNode) -> None:
    del nb.cells[3]["id"]


def many_cells(nb: NotebookNode) -> None:
    nb.cells += [new_markdown_cell("more", id=f"m{n}") for n in range(57)]


def no_cell_type(nb: NotebookNode) -> None:
    del nb.cells[1]["outputs"]


def a_code_cell_first(nb: NotebookNode) -> None:
    nb.cells[0], nb.cells[1] = nb.cells[1], nb.cells[0]


WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "a"}
SPOILT = [
    (guards.valid, no_cell_type),
    (guards.executed_in_order, a_stripped_notebook),
    (guards.executed_in_order, a_count_swapped),
    (guards.executed_in_order, a_result_of_an_older_run),
    (guards.executed_in_order, an_empty_cell),
    (guards.normalised, metadata(1, scrolled=True)),
    (guards.good_ids, an_id_twice),
    (guards.good_ids, no_id),
    (guards.no_widget_state, widget_state),
    (guards.no_widget_state, extra_output("display_data", data=WIDGET)),
    (guards.no_timing, metadata(1, execution={"iopub.status.idle": "2026-01-01T00:00:00Z"})),
    (guards.no_timing, metadata(1, ExecuteTime={})),
    (guards.no_timing, a_python_version),
    (guards.only_known_tags, metadata(1, tags=["nbval-skip"])),
    (guards.only_known_tags, source(1, "# NBVAL_IGNORE_OUTPUT\nprint('one')")),
    (guards.only_known_tags, source(1, "#PYTEST_VALIDATE_IGNORE_OUTPUT\nprint('one')")),
    (guards.no_stderr, extra_output("stream", name="stderr", text="DeprecationWarning\n")),
    (guards.no_forbidden_calls, source(1, "interact(f, x=3)")),
    (guards.no_forbidden_calls, source(1, "out = widgets.Output()")),
    (guards.no_forbidden_calls, source(1, "from x import y\ny.clear_output(wait=True)")),
    (guards.no_forbidden_calls, source(1, "display('a', display_id=True)")),
    (guards.no_forbidden_calls, source(1, "display('a', update=True)")),
    (guards.no_forbidden_calls, source(1, "1 + 1;")),
    (guards.no_forbidden_calls, source(1, "1 + 1;  # quiet")),
    (guards.no_forbidden_calls, source(1, "1 +")),
    (guards.outputs_name_no_machine, output("/tmp/course/notes.txt")),
    (guards.outputs_name_no_machine, output("/home/ada/notes.txt")),
    (guards.outputs_name_no_machine, output("/Users/ada/notes.txt")),
    (guards.outputs_name_no_machine, output(r"C:\Users\ada")),
    (guards.outputs_name_no_machine, output("<object at 0x7f3a5c0d1e80>")),
    (guards.outputs_name_no_machine, output("in tmpab12_xyz")),
    (guards.outputs_name_no_machine, output("lib/python3.11/site-packages/x.py")),
    (guards.outputs_name_no_machine, output(f"{ROOT}")),
    (guards.outputs_name_no_machine, html("<b>/root/x</b>")),
    (
        guards.outputs_name_no_machine,
        extra_output("error", ename="E", evalue="", traceback=["File ~/.venv/lib/x.py:3"]),
    ),
    (guards.sources_name_no_machine, source(0, "# Title\n\nSee /root/notes")),
    (guards.sources_name_no_machine, source(1, f"open('{ROOT}/x')")),
    (guards.headings_in_order, source(2, "# A second title")),
    (guards.headings_in_order, source(2, "### Too deep")),
    (guards.headings_in_order, source(0, "No title")),
    (guards.headings_in_order, a_code_cell_first),
    (guards.within_budget, source(2, "word " * 2501)),
    (guards.within_budget, many_cells),
    (guards.images_have_alt_text, source(2, "![](picture.png)")),
    (guards.images_have_alt_text, source(2, '<img src="picture.png">')),
    (guards.images_have_alt_text, source(2, '<img src="picture.png" alt="">')),
    (guards.images_have_alt_text, html('<img src="data:,">')),
    (guards.images_have_alt_text, extra_output("display_data", data={"image/png": "aaaa"})),
    (guards.links_resolve, source(2, "[next](06_missing.ipynb)")),
    (guards.links_resolve, source(2, "[root](/00_good.ipynb)")),
    (guards.links_resolve, source(2, "[part](#No-such-part)")),
    (guards.links_resolve, source(2, '<a href="missing.md">x</a>')),
    (guards.links_resolve, source(2, "![a picture](attachment:missing.png)")),
    (guards.links_resolve, source(2, "[x][1]\n\n[1]: missing.md")),
    (guards.markdown_renders, source(2, "> [!NOTE]\n> text")),
    (guards.markdown_renders, source(2, "<details><summary>Hint</summary>\n**bold**\n</details>")),
    (guards.names_exist, source(2, "see `harness_lib.nothing`")),
    (guards.names_exist, source(2, "see `harness_lib/nothing.py`")),
    (guards.names_exist, source(2, "call `ToolCall.from_nothing(block)`")),
]


@pytest.mark.parametrize(("guard", "spoil"), SPOILT)
def test_guard_refuses(guard: guards.Guard, spoil: Callable[[NotebookNode], None], tmp_path: Path):
    path = written(good_notebook(), tmp_path)
    nb = load(path)
    spoil(nb)
    if guard is guards.normalised:
        nbformat.write(nb, path)
    assert guard(nb, path) != []


@pytest.mark.parametrize("name", ["lesson.ipynb", "5_x.ipynb", "05-x.ipynb", "05_X y.ipynb"])
def test_guard_refuses_the_name(name: str):
    assert guards.well_named(good_notebook(), Path(name)) != []


def lesson(text: str, code: str) -> NotebookNode:
    return new_notebook(cells=[new_markdown_cell(text, id="a"), new_code_cell(code, id="b")])


@pytest.mark.parametrize(
    ("text", "code", "faults"),
    [
        ("## Compare", "compare('05.1', f)\nshow(f)", 0),
        ("## Compare", "compare('05.1', f)", 1),
        ("## Compare", "show(f)", 1),
        ("## Comparing", "compare('05.1', f)\nshow(f)", 1),
        ("", "", 3),
    ],
)
def test_a_lesson_compares_with_the_library(text: str, code: str, faults: int):
    found = guards.compares_with_the_library(lesson(text, code), Path("05_x.ipynb"))
    assert len(found) == faults


@pytest.mark.parametrize(
    "text",
    [
        "`harness_lib.course.check`",
        "`harness_lib/call.py`",
        "`ToolCall.arguments`",
        "`ToolRegistry.get(name)`",
    ]
    + ["`call.arguments`", "`block.id`", "`harness_lib`", "`ToolErrorCode.UNKNOWN_TOOL`"],
)
def test_names_that_exist_pass(text: str):
    assert guards.names_exist(lesson(text, ""), Path("05_x.ipynb")) == []


def test_every_guard_has_been_seen_to_refuse():
    elsewhere = {guards.well_named, guards.compares_with_the_library}
    assert {guard for guard, _ in SPOILT} | elsewhere == set(guards.GUARDS)


def test_what_a_docstring_says_is_built_in_a_lesson_is_built_there():
    """As far as the lesson exists: it names the thing in backticks."""
    lessons = {path.name[:2]: path.read_text(encoding="utf-8") for path in NOTEBOOKS}
    for name in harness_lib.__all__:
        said = re.search(
            r"Built in lessons? (\d\d(?:(?:, | and )\d\d)*)", getattr(harness_lib, name).__doc__
        )
        for number in re.findall(r"\d\d", said[1]):
            assert f"`{name}" in lessons.get(number, f"`{name}"), (
                f"lesson {number} does not name {name}"
            )


def test_a_third_ignored_output_is_refused():
    nb = good_notebook()
    nb.cells[1].metadata["tags"] = ["nbval-ignore-output"]
    assert guards.ignored_outputs([nb, nb]) == []
    assert guards.ignored_outputs([nb, nb, nb]) != []


def test_a_number_taken_twice_is_refused():
    assert guards.numbers_taken_twice([Path("05_a.ipynb"), Path("05_b.ipynb")]) != []


@pytest.mark.parametrize(
    "text",
    [
        "```python\n# a comment, no heading\n```",
        "`![](no picture)` and ```` [x](nowhere) ````",
        "A path in an error: `../../etc/passwd`",
        "<details><summary>Hint</summary>\n\n**bold**\n\n</details>",
        "[the API](https://example.com/#part)",
    ],
)
def test_innocent_text_passes(text: str, tmp_path: Path):
    nb = good_notebook()
    nb.cells[2].source = text
    path = written(nb, tmp_path)
    assert [fault for guard in guards.GUARDS for fault in guard(nb, path)] == []


def test_the_name_of_the_machine_is_refused(monkeypatch, tmp_path: Path):
    monkeypatch.setattr("socket.gethostname", lambda: "build-7f3a")
    nb = good_notebook()
    nb.cells[1].outputs[0].text = "built on build-7f3a\n"
    assert guards.outputs_name_no_machine(nb, tmp_path) != []


# The tool that executes and normalises.


def unexecuted(*sources: str) -> NotebookNode:
    cells = [new_markdown_cell("# A title"), *map(new_code_cell, sources)]
    return new_notebook(cells=cells)


def test_a_second_run_changes_no_byte(tmp_path: Path):
    nb = unexecuted("for i in range(3):\n    print(i, flush=True)", "1 + 1", "'é'", "1 / 0")
    nb.cells[-1].metadata["tags"] = ["raises-exception"]
    nb.metadata["widgets"] = {}
    nb.cells[1].id = nb.cells[2].id = "twice"
    path = tmp_path / "00_x.ipynb"
    path.write_text(json.dumps(nb), encoding="utf-8")  # nbformat.write would mend the ids
    assert main([str(path)]) == 0
    first = path.read_bytes()
    assert main([str(path)]) == 0
    assert path.read_bytes() == first
    executed = load(path)
    assert [fault for guard in guards.GUARDS for fault in guard(executed, path)] == []
    assert executed.cells[1].id == "twice"
    assert executed.cells[2].id == "cell-03"
    assert len(executed.cells[1].outputs) == 1
    assert first.endswith(b"}\n")


def test_a_failing_cell_is_named_and_the_file_stays(tmp_path: Path, capsys):
    path = tmp_path / "00_x.ipynb"
    nbformat.write(unexecuted("print(1)", "1 / 0"), path)
    before = path.read_bytes()
    assert main([str(path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert path.read_bytes() == before


# The alarm: what nbval compares, and what it does not.


def test_one_changed_character_is_red(tmp_path: Path):
    sources = {
        "print('stdout')": "stdout",
        "'result'": "result",
        "from IPython.display import HTML, display\ndisplay(HTML('<b>html</b>'))": "html",
        "raise ValueError('reason')": "reason",
    }
    nb = unexecuted(*sources)
    nb.cells[-1].metadata["tags"] = ["raises-exception"]
    path = tmp_path / "00_x.ipynb"
    nbformat.write(nb, path)
    assert main([str(path)]) == 0
    good = path.read_text()
    changed = nbformat.reads(good, as_version=4)
    for cell, word in zip(changed.cells[1:], sources.values(), strict=True):
        before = str(cell.outputs)
        for output in cell.outputs:
            for place in (output, output.get("data", {})):
                for key, value in place.items():
                    if isinstance(value, str) and key not in ("output_type", "name"):
                        place[key] = value.replace(word, word[:-1] + "X")
        assert str(cell.outputs) != before
    nbformat.write(changed, tmp_path / "01_changed.ipynb")
    done = nbval(path, tmp_path / "01_changed.ipynb")
    assert done.returncode == 1
    assert "4 failed, 4 passed" in done.stdout, done.stdout


def test_a_stripped_notebook_passes_nbval_and_is_red_here(tmp_path: Path):
    path = tmp_path / NOTEBOOKS[0].name
    nb = load(NOTEBOOKS[0])
    a_stripped_notebook(nb)
    nb.cells = nb.cells[:1] + [new_code_cell("print('nobody compares this')", id="x")]
    nbformat.write(nb, path)
    assert nbval(path).returncode == 0
    assert guards.executed_in_order(nb, path) != []


# The second run: somewhere else, as someone else.

NOBODY = 65534


def as_someone_else(folder: Path) -> list[str]:
    """The words before a command that runs it as another user; none where that cannot be."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return []
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    start_another = "import subprocess, sys; subprocess.run([sys.executable, '-V'], check=True)"
    probe = subprocess.run([*words, sys.executable, "-c", start_another], capture_output=True)
    if probe.returncode:
        warnings.warn(f"as the same user: user {NOBODY} may not run this Python", stacklevel=2)
        return []
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    return words


def test_the_course_passes_elsewhere(course_copy: Path):
    folder = course_copy.parent
    (folder / "home").mkdir()
    kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT") if key in os.environ}
    env = kept | {
        "HOME": str(folder / "home"),
        "PYTHONPATH": str(course_copy),  # the copy's library, not the one that is installed
        "LANG": "C",
        "LC_ALL": "POSIX",
        "TZ": "Asia/Kathmandu",
        "COLUMNS": "43",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [*as_someone_else(folder), sys.executable, "-m", "pytest", "--nbval", "-q"]
    command += ["--nbval-cell-timeout=120", "-p", "no:cacheprovider"]

    def compare(notebook: Path) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*command, f"notebooks/{notebook.name}"],
            cwd=course_copy,
            env=env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=900,
        )

    with ThreadPoolExecutor(os.cpu_count()) as side_by_side:
        for done in side_by_side.map(compare, NOTEBOOKS):
            assert done.returncode == 0, done.stdout + done.stderr
            assert "passed" in done.stdout

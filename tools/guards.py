"""Rules for the course's notebooks. Each guard takes one notebook and returns a list of faults.

What a rule is for stands in its docstring. tests/test_notebooks.py runs every guard on every
notebook, and on a planted bad notebook that it must refuse.
"""

import ast
import importlib
import io
import re
import socket
import tokenize
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

import harness_lib
from tools.notebooks import GOOD_ID, ROOT, WIDGET_VIEW, normalise

MOST_WORDS = 2500
MOST_CELLS = 60
MOST_IGNORED_OUTPUTS = 2  # in the whole course
CELL_TAGS = {"raises-exception", "nbval-ignore-output"}

Guard = Callable[[NotebookNode, Path], list[str]]


def executed_in_order(nb: NotebookNode, path: Path) -> list[str]:
    """nbval compares nothing in a cell without a count, so a stripped notebook would pass it."""
    faults = []
    for expected, (where, cell) in enumerate(_code_cells(nb), start=1):
        if not cell.source.strip():
            faults.append(f"{where}: an empty code cell")
        if cell.execution_count != expected:
            faults.append(f"{where}: execution count {cell.execution_count}, expected {expected}")
        for output in cell.outputs:
            if output.output_type == "execute_result" and output.execution_count != expected:
                faults.append(f"{where}: its result carries count {output.execution_count}")
    return faults


def outputs_name_no_machine(nb: NotebookNode, path: Path) -> list[str]:
    """Paths, addresses and host names differ from machine to machine."""
    patterns = {
        "a path of a machine": r"/(?:tmp|root|home|work|Users|private|var/folders)/",
        "a Windows path": r"\b[A-Za-z]:\\+(?:Users|Temp|Windows|Program)",
        "an installed package's path": r"(?:site|dist)-packages|\.venv/|~/\.",
        "an object's address": r"\b0x[0-9a-fA-F]{8,}\b",
        "a temporary name": r"\btmp[a-z0-9_]{8}\b",
        "this machine's name": _host_name(),
        "this folder's path": re.escape(str(ROOT)) + r"(?![\w-])",
    }
    return [
        f"{where}: {what} in the output: {match.group()!r}"
        for where, cell in _code_cells(nb)
        for text in _output_texts(cell)
        for what, pattern in patterns.items()
        if pattern and (match := re.search(pattern, text))
    ]


def sources_name_no_machine(nb: NotebookNode, path: Path) -> list[str]:
    """Neither text nor code may name a folder that is only on the author's machine."""
    hosts = ["pypi" + ".org", "python" + "hosted", "npm" + "js", "deb." + "debian"]
    bad = [str(ROOT) + "/", "/root/", *hosts]
    return [
        f"{where}: names {text!r}"
        for where, cell in _cells(nb)
        for text in bad
        if text in cell.source
    ]


def no_widget_state(nb: NotebookNode, path: Path) -> list[str]:
    """A fresh clone is untrusted and shows no stored widget; its state is noise in every diff."""
    faults = ["widget state in the metadata"] if "widgets" in nb.metadata else []
    for where, cell in _code_cells(nb):
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.outputs):
            faults.append(f"{where}: a stored widget view")
    return faults


def no_timing(nb: NotebookNode, path: Path) -> list[str]:
    """When a cell ran, and on which patch version, changes with every run."""
    faults = [
        f"{where}: timing in the cell's metadata: {key}"
        for where, cell in _cells(nb)
        for key in ("execution", "ExecuteTime", "papermill")
        if key in cell.metadata
    ]
    if "version" in nb.metadata.get("language_info", {}):
        faults.append("a Python version in the metadata")
    return faults


def normalised(nb: NotebookNode, path: Path) -> list[str]:
    """One stable text for each notebook: `make notebooks` writes it."""
    if path.read_text(encoding="utf-8") == normalise(nb):
        return []
    return ["not as `make notebooks` writes it: run it"]


def only_known_tags(nb: NotebookNode, path: Path) -> list[str]:
    """nbval has other tags, and magic comments, that switch its comparison off unseen."""
    faults = [
        f"{where}: unknown tag {tag!r}"
        for where, cell in _cells(nb)
        for tag in cell.metadata.get("tags", [])
        if tag not in CELL_TAGS
    ]
    magic = re.compile(r"#\s*(NBVAL_|PYTEST_VALIDATE_)\w+", re.IGNORECASE)
    for where, cell in _code_cells(nb):
        if match := magic.search(cell.source):
            faults.append(f"{where}: magic comment {match.group()!r}, use a tag")
    return faults


def no_forbidden_calls(nb: NotebookNode, path: Path) -> list[str]:
    """These fail a strict comparison by construction, or hide what a cell returns."""
    faults = []
    for where, cell in _code_cells(nb):
        source = TransformerManager().transform_cell(cell.source)
        try:
            tree = ast.parse(source)
        except SyntaxError:
            if "raises-exception" not in cell.metadata.get("tags", []):
                faults.append(f"{where}: not Python")
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            keywords = {keyword.arg for keyword in node.keywords}
            if name in {"interact", "interactive", "Output", "clear_output", "update_display"}:
                faults.append(f"{where}: calls {name}")
            if name == "display" and keywords & {"display_id", "update"}:
                faults.append(f"{where}: calls display with display_id or update")
        if _ends_with_semicolon(source):
            faults.append(f"{where}: ends with ';'")
    return faults


def no_stderr(nb: NotebookNode, path: Path) -> list[str]:
    """Warnings name files and lines of the machine, and look like faults to a learner."""
    return [
        f"{where}: writes to stderr: {output.text[:60]!r}"
        for where, cell in _code_cells(nb)
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]


def headings_in_order(nb: NotebookNode, path: Path) -> list[str]:
    """One title, first; and no level skipped: a screen reader goes by headings."""
    headings = [(where, *heading) for where, cell in _markdown(nb) for heading in _headings(cell)]
    faults = []
    titles = [text for _, level, text in headings if level == 1]
    if len(titles) != 1:
        faults.append(f"{len(titles)} first-level headings, expected 1")
    if not headings or headings[0][1] != 1 or nb.cells[0].cell_type != "markdown":
        faults.append("the first cell holds no title")
    last = 0
    for where, level, text in headings:
        if level > last + 1:
            faults.append(f"{where}: level {level} follows level {last}: {text!r}")
        last = level
    return faults


def within_budget(nb: NotebookNode, path: Path) -> list[str]:
    """A lesson is read in one sitting."""
    words = sum(len(cell.source.split()) for _, cell in _markdown(nb))
    faults = []
    if words > MOST_WORDS:
        faults.append(f"{words} words of text, {MOST_WORDS} is the most")
    if len(nb.cells) > MOST_CELLS:
        faults.append(f"{len(nb.cells)} cells, {MOST_CELLS} is the most")
    return faults


def images_have_alt_text(nb: NotebookNode, path: Path) -> list[str]:
    """Whoever cannot see a picture reads its text instead."""
    faults = []
    for where, cell in _cells(nb):
        if cell.cell_type == "markdown":
            text = _without_code(cell.source)
            faults += [f"{where}: no alt text: {m}" for m in re.findall(r"!\[\s*\]\([^)]*\)", text)]
            faults += [f"{where}: no alt text: {tag}" for tag in _images_without_alt(text)]
        for output in cell.get("outputs", []):
            for mime, value in output.get("data", {}).items():
                if mime == "text/html":
                    faults += [f"{where}: no alt text: {t}" for t in _images_without_alt(value)]
                if mime.startswith("image/") and not output.metadata.get(mime, {}).get("alt"):
                    faults.append(f"{where}: no alt text in the metadata of its {mime}")
    return faults


def valid(nb: NotebookNode, path: Path) -> list[str]:
    """A notebook that is not valid may open in one front end and not in the next."""
    try:
        nbformat.validate(nb)
    except nbformat.ValidationError as exc:
        return [f"not a valid notebook: {exc.message}"]
    return []


def good_ids(nb: NotebookNode, path: Path) -> list[str]:
    """Other lessons read a cell by its id."""
    faults, seen = [], set()
    for where, cell in _cells(nb):
        cell_id = cell.get("id") or ""
        if not GOOD_ID.fullmatch(cell_id):
            faults.append(f"{where}: no id, or an ill-formed one: {cell_id!r}")
        if cell_id in seen:
            faults.append(f"{where}: the id {cell_id!r} is taken")
        seen.add(cell_id)
    return faults


def well_named(nb: NotebookNode, path: Path) -> list[str]:
    """NN_short_name.ipynb: the folder's order is the course's order."""
    if re.fullmatch(r"\d\d(_[a-z0-9]+)+\.ipynb", path.name):
        return []
    return [f"the name {path.name} is not like 05_short_name.ipynb"]


def links_resolve(nb: NotebookNode, path: Path) -> list[str]:
    """Every relative link leads to a file, every #anchor to a heading of the lesson."""
    anchors = {text.replace(" ", "-") for _, cell in _markdown(nb) for _, text in _headings(cell)}
    faults = []
    for where, cell in _markdown(nb):
        text = _without_code(cell.source)
        links = re.findall(r"\]\(\s*<?([^)\s>]+)", text)
        links += re.findall(r"""(?:href|src)\s*=\s*["']([^"']+)["']""", text)
        links += re.findall(r"(?m)^\[[^\]]+\]:\s*(\S+)", text)
        for link in links:
            target, _, anchor = unquote(link).partition("#")
            if target.startswith("attachment:"):
                if target.removeprefix("attachment:") not in cell.get("attachments", {}):
                    faults.append(f"{where}: no such attachment: {link}")
            elif re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target):
                continue
            elif not target:
                if anchor not in anchors:
                    faults.append(f"{where}: no such heading: {link}")
            elif target.startswith("/") or not (path.parent / target).exists():
                faults.append(f"{where}: leads nowhere: {link}")
    return faults


def markdown_renders(nb: NotebookNode, path: Path) -> list[str]:
    """What other Markdown readers know and JupyterLab does not."""
    faults = []
    for where, cell in _markdown(nb):
        if re.search(r"(?m)^>\s*\[!\w+\]", cell.source):
            faults.append(f"{where}: '> [!NOTE]' is shown as it stands")
        if re.search(r"</summary>[^\n]*\n[ \t]*[^\s<]", cell.source):
            faults.append(f"{where}: no blank line after </summary>, so its Markdown is not read")
    return faults


def names_exist(nb: NotebookNode, path: Path) -> list[str]:
    """A name of the library in backticks is one that a reader will look for."""
    return [
        f"{where}: harness_lib has no {token!r}"
        for where, cell in _markdown(nb)
        for token in re.findall(r"`([\w./]+)(?:\(.*?\))?`", cell.source)
        if not _exists(token)
    ]


def compares_with_the_library(nb: NotebookNode, path: Path) -> list[str]:
    """A lesson ends beside the finished piece: a heading, a comparison and its source."""
    if path.name.startswith("00"):
        return []  # which shows how a comparison works
    code = "\n".join(cell.source for _, cell in _code_cells(nb))
    headings = {text for _, cell in _markdown(nb) for _, text in _headings(cell)}
    missing = [call for call in ("compare(", "show(") if call not in code]
    missing += [] if "Compare" in headings else ["a heading 'Compare'"]
    return [f"does not compare with the library: {what} is missing" for what in missing]


GUARDS: tuple[Guard, ...] = (
    valid,
    well_named,
    executed_in_order,
    normalised,
    good_ids,
    no_widget_state,
    no_timing,
    only_known_tags,
    no_stderr,
    no_forbidden_calls,
    outputs_name_no_machine,
    sources_name_no_machine,
    headings_in_order,
    within_budget,
    images_have_alt_text,
    links_resolve,
    markdown_renders,
    names_exist,
    compares_with_the_library,
)


def ignored_outputs(notebooks: list[NotebookNode]) -> list[str]:
    """An ignored output is one that nobody checks: the whole course has two at most."""
    count = sum(
        "nbval-ignore-output" in cell.metadata.get("tags", [])
        for nb in notebooks
        for cell in nb.cells
    )
    if count <= MOST_IGNORED_OUTPUTS:
        return []
    return [f"{count} ignored outputs in the course, {MOST_IGNORED_OUTPUTS} is the most"]


def numbers_taken_twice(paths: list[Path]) -> list[str]:
    """Each lesson has a number of its own."""
    first: dict[str, str] = {}
    return [
        f"{path.name} and {first[path.name[:2]]} have the same number"
        for path in sorted(paths)
        if first.setdefault(path.name[:2], path.name) != path.name
    ]


def _exists(token: str) -> bool:
    """True for a name of the library that exists, and for what is no name of it at all."""
    if token.startswith("harness_lib/"):
        return (ROOT / token).exists()
    first, *rest = token.split(".")
    if first == "harness_lib":
        with suppress(ImportError):
            importlib.import_module(token)
            return True
        thing: object = harness_lib
    elif first in harness_lib.__all__:
        thing = getattr(harness_lib, first)
    else:
        return True
    for name in rest:
        fields = getattr(thing, "__dataclass_fields__", {})
        if name in fields and not hasattr(thing, name):
            return True
        if not hasattr(thing, name):
            return False
        thing = getattr(thing, name)
    return True


def _cells(nb: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    for position, cell in enumerate(nb.cells, start=1):
        yield f"cell {position} ({cell.get('id', 'no id')})", cell


def _code_cells(nb: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    return ((where, cell) for where, cell in _cells(nb) if cell.cell_type == "code")


def _markdown(nb: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    return ((where, cell) for where, cell in _cells(nb) if cell.cell_type == "markdown")


def _output_texts(cell: NotebookNode) -> Iterator[str]:
    for output in cell.outputs:
        yield output.get("text", "")
        yield output.get("evalue", "")
        yield "\n".join(output.get("traceback", []))
        for mime, value in output.get("data", {}).items():
            if not mime.startswith(("image/", "audio/", "video/")):
                yield value if isinstance(value, str) else repr(value)


def _host_name() -> str:
    """A name without a digit or a hyphen may be a plain word, and would refuse innocent text."""
    name = socket.gethostname().split(".")[0]
    return rf"\b{re.escape(name)}\b" if re.search(r"[\d-]", name) and len(name) > 3 else ""


def _ends_with_semicolon(source: str) -> bool:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
    tokens = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in skipped
    ]
    return bool(tokens) and tokens[-1] == ";"


def _without_code(markdown: str) -> str:
    fenced = re.sub(r"(?ms)^([ \t]*)(`{3,}|~{3,}).*?^[ \t]*\2[`~]*[ \t]*$", "", markdown)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", fenced)


def _headings(cell: NotebookNode) -> Iterator[tuple[int, str]]:
    fenced = re.sub(r"(?ms)^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[`~]*[ \t]*$", "", cell.source)
    for match in re.finditer(r"(?m)^(#{1,6})[ \t]+(.+?)[ \t#]*$", fenced):
        yield len(match[1]), match[2]


def _images_without_alt(html: str) -> list[str]:
    return [
        tag
        for tag in re.findall(r"<img\b[^>]*>", html)
        if not re.search(r"""\balt\s*=\s*(["'])\s*\S.*?\1""", tag)
    ]

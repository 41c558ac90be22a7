"""Execute the course's notebooks in place and normalise them, so that a second run changes no byte.

    python -m tools.notebooks                        all of notebooks/
    python -m tools.notebooks notebooks/05_x.ipynb   these alone

A notebook that fails stays as it was; the failing cell is printed and the exit status is 1.
"""

import copy
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
CELL_TIMEOUT_S = 120

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_CELL_METADATA = ("jupyter", "tags")  # folded input or output, and what nbval reads
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
GOOD_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def all_notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def load(path: Path) -> NotebookNode:
    """The notebook as it stands: nbformat.read would mend missing and repeated ids unseen."""
    return nbformat.reader.reads(path.read_text(encoding="utf-8"))


def execute(nb: NotebookNode, cwd: Path) -> None:
    """Run every cell in a fresh kernel. An error without the tag raises-exception ends it."""
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        nb,
        kernel_name="python3",
        # encrypted, or the kernel warns about it on the terminal
        config=Config(KernelManager={"transport_encryption": "auto"}),
        timeout=CELL_TIMEOUT_S,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(cwd)}},
    )
    client.execute()


def normalise(nb: NotebookNode) -> str:
    """The notebook's one stable text: fixed metadata, good ids, no widget state, sorted keys."""
    nb = copy.deepcopy(nb)
    nb.nbformat, nb.nbformat_minor = 4, 5
    nb.metadata = nbformat.from_dict(METADATA)
    give_ids(nb.cells)
    for cell in nb.cells:
        kept = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if cell.metadata.get(key)}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            cell.outputs = _joined_streams(cell.outputs)
            for output in cell.outputs:
                # A fresh clone is untrusted and shows no stored widget: its HTML and text stay.
                output.get("data", {}).pop(WIDGET_VIEW, None)
    return nbformat.writes(nb).rstrip("\n") + "\n"


def give_ids(cells: list[NotebookNode]) -> None:
    """Keep each good id; a missing, malformed or repeated one is made from the cell's position."""
    taken = {cell.get("id") for cell in cells}
    seen = set()
    for position, cell in enumerate(cells, start=1):
        if cell.get("id") in seen or not GOOD_ID.fullmatch(cell.get("id") or ""):
            new = f"cell-{position:02d}"
            while new in taken:
                new += "b"
            taken.add(new)
            cell.id = new
        seen.add(cell.id)


def _joined_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """How a kernel cuts its stream into messages is chance: neighbours of one stream become one."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def refresh(path: Path) -> str | None:
    """Execute and normalise one file. Returns what went wrong, or None."""
    nb = load(path)
    give_ids(nb.cells)  # before a library does it at random
    try:
        execute(nb, path.resolve().parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as exc:
        return f"{path.name}: {exc}"
    text = normalise(nb)
    if path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")
    return None


def main(arguments: list[str]) -> int:
    faults = []
    for path in [Path(argument) for argument in arguments] or all_notebooks():
        fault = refresh(path)
        print(f"{path.name}: {'FAILED' if fault else 'executed'}", flush=True)
        faults += [fault] if fault else []
    for fault in faults:
        print(f"\n{fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run a notebook's cells in this process, with some of them replaced: quick, and no kernel."""

import json
import linecache
import re
from pathlib import Path

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


def lesson_path(number: str) -> Path:
    [path] = NOTEBOOKS.glob(f"{number}_*.ipynb")
    return path


def cells_of(path: Path) -> list[dict]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in cells]


def exercises(path: Path) -> dict[str, dict]:
    """The exercise cells of a notebook by their check id, such as "03.1"."""
    found = {}
    for cell in cells_of(path):
        if match := re.fullmatch(r"exercise-(\d\d)-(\d+)", cell["id"]):
            found[f"{match[1]}.{match[2]}"] = cell
    return found


def folded_solution(path: Path, check_id: str) -> str:
    """The solution that the fold under an exercise shows."""
    wanted = "help-" + check_id.replace(".", "-")
    [cell] = [cell for cell in cells_of(path) if cell["id"] == wanted]
    _, _, after = cell["source"].partition("<summary>A solution</summary>")
    return re.search(r"```python\n(.*?)```", after, re.DOTALL)[1]


def with_solution(stub: str, solution: str) -> str:
    """An exercise cell in which the stub's function stands replaced by a solution."""
    name = re.search(r"^(?:def|class) (\w+)", solution, re.MULTILINE)[1]
    pattern = rf"^(?:def|class) {name}\b.*?(?=^\S)"
    replaced, count = re.subn(
        pattern, lambda _: solution + "\n\n", stub, flags=re.DOTALL | re.MULTILINE
    )
    assert count == 1, f"{name} is not in the stub"
    return replaced


def run_cell(source: str, name: str, namespace: dict) -> object:
    """Execute one cell as Jupyter would and return the value of its last expression, if any."""
    import ast

    filename = f"<cell {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    tree = ast.parse(source, filename)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, filename, "exec"), namespace)
    return eval(compile(last, filename, "eval"), namespace) if last else None


def run_until(path: Path, check_id: str, source: str) -> object:
    """Run the cells before an exercise, then the exercise with this source; what check() gave."""
    wanted = "exercise-" + check_id.replace(".", "-")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in cells_of(path):
        if cell["id"] == wanted:
            return run_cell(source, cell["id"], namespace)
        if cell["cell_type"] == "code":
            run_cell(cell["source"], cell["id"], namespace)
    raise LookupError(f"{path.name} has no cell {wanted}")

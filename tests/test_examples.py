"""Every example of the gallery runs where people run it: as a script, and in a notebook."""

import sys
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

# Examples that fit many models.
SLOW = {
    "plot_bike_stream_against_a_tree",
    "plot_frontier",
    "plot_intervals_and_drift",
    "plot_model_selection",
}
EXAMPLES = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else [], id=path.stem)
    for path in sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example, tmp_path, monkeypatch):
    """Run it as a notebook does: in an empty folder, with a kernel's arguments, without a path."""
    text = example.read_text()
    assert len(text.splitlines()) < 50
    title, line = text.splitlines()[:2]
    assert line == "=" * len(title.removeprefix('"""')), "the line below the title is too short"
    assert text.endswith("\nplt.show()\n")
    shown = []

    def show():
        shown.extend(plt.figure(number) for number in plt.get_fignums())

    monkeypatch.setattr(plt, "show", show)
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    monkeypatch.chdir(tmp_path)
    exec(compile(text, example.name, "exec"), {"__name__": "__main__"})
    picture = tmp_path / "picture.png"
    assert not list(tmp_path.iterdir()), "an example leaves files behind"
    shown[-1].savefig(picture)
    plt.close("all")
    assert plt.imread(picture).std() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plot_first_fit", "plot_river"])
def test_notebook(name, tmp_path):
    """Run a notebook as the site offers it for download."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    text = (Path(__file__).parents[1] / "examples" / f"{name}.py").read_text()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)])
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = notebook.cells[0].outputs
    assert any("image/png" in output.get("data", {}) for output in outputs)

"""Every example of the gallery runs, draws a picture, and has fewer than 50 lines."""

import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

# Examples that fit many models.
SLOW = {"plot_bike_stream_against_a_tree", "plot_frontier", "plot_model_selection"}
EXAMPLES = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else [], id=path.stem)
    for path in sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example, tmp_path, monkeypatch):
    assert len(example.read_text().splitlines()) < 50
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [str(example), str(picture)])
    runpy.run_path(str(example), run_name="__main__")
    plt.close("all")
    assert plt.imread(picture).std() > 0.05

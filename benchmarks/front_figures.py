"""Draw the figures of the README with the code of the gallery's examples.

    python benchmarks/front_figures.py

Each figure is the last one that an example shows; it is written to docs/figures.
"""

import runpy
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
# Figure: example.
FIGURES = {
    "bike_stream": "plot_bike_stream_against_a_tree",
}


def main() -> None:
    for name, example in FIGURES.items():
        plt.show = lambda: None
        runpy.run_path(str(ROOT / "examples" / f"{example}.py"))
        path = ROOT / "docs" / "figures" / f"{name}.png"
        plt.gcf().savefig(path, dpi=120)
        plt.close("all")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()

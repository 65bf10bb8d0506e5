"""A worker that learns the rows of files in a folder, and continues after it was killed.

    python stream_worker.py INBOX MODEL [--every N]

The model is a `NewtonCOLK` learner in one file, which is replaced as a whole after every N rows.
Its number of steps is the number of rows that it has learned, so the file holds model and offset
together. If a worker dies, start it again on this machine or on another one: no row is lost or
learned twice. Merge the models of all workers at any time with `colk merge`, or with `colk.merge`.
"""

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

import colk
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK


def rows_of(inbox: Path) -> Iterator[list[float]]:
    """Yield the rows of all files in the order of their names; the last column is the target."""
    for path in sorted(inbox.glob("*.csv")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield [float(cell) for cell in line.split(",")]


def work(inbox: Path, model: Path, every: int = 500) -> NewtonCOLK:
    """Learn the rows that the model has not learned yet; return the learner."""
    if model.exists():
        learner = colk.load(model)
    else:
        learner = NewtonCOLK(Gaussian(0.3), compressor=KOMP(eps=0.02, max_atoms=200))
    rows = islice(rows_of(inbox), learner.steps, None)
    while chunk := list(islice(rows, every)):
        samples = np.array(chunk)
        learner.learn(samples[:, :-1], samples[:, -1])
        colk.save(learner, model)
    return learner


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("inbox", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--every", type=int, default=500)
    arguments = parser.parse_args()
    print(work(arguments.inbox, arguments.model, arguments.every).steps, "rows learned")

"""Time of a Newton step, compared with a gradient step with the same number of atoms.

    python -m colk_lab.tables newton

There are two streams for each model order M. "Fixed": points are drawn from M places that are all
atoms, so the dictionary does not change and a step consists of its products. "Changing": new points
of a cube for at most M atoms, of which some enter and others leave.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import POLK, NewtonCOLK
from colk_lab.tables.output import publish
from colk_lab.tables.streams import SEED, by_chunks, cube
from colk_lab.tables.turns import best_times

ORDERS = (25, 50, 100, 200, 400, 600, 1000)
WORK = 4e7  # entries of P that a chunk touches


def fixed(n_atoms: int, learner: POLK | NewtonCOLK, chunk: int):
    places, values = cube(n_atoms, 5)
    learner.learn(places, values)
    rows = np.random.default_rng(SEED).integers(n_atoms, size=20 * chunk)
    return by_chunks(learner.learn, (places[rows], values[rows]), chunk, chunk)


def changing(n_atoms: int, learner: POLK | NewtonCOLK, chunk: int):
    return by_chunks(learner.learn, cube(4 * n_atoms + 20 * chunk, 5), 4 * n_atoms, chunk)


def main() -> None:
    rows, logs = [], []
    for n_atoms in ORDERS:
        chunk = max(int(WORK / n_atoms**2) // 20, 20)
        row = [str(n_atoms)]
        for stream, width, eps in ((fixed, 0.1, 0.0), (changing, 0.3, 1e-3)):
            rule = KOMP(eps=eps, max_atoms=n_atoms)
            pair = [kind(Gaussian(width), compressor=rule) for kind in (POLK, NewtonCOLK)]
            jobs = [stream(n_atoms, learner, chunk) for learner in pair]
            with threadpool_limits(1):
                times = [each / chunk for each in best_times(*jobs, rounds=8, repeats=5)]
            assert [learner.n_atoms for learner in pair] == [n_atoms, n_atoms]
            row += [f"{seconds * 1e6:.2f}" for seconds in times] + [f"{times[1] / times[0]:.2f}"]
            if stream is fixed:
                logs.append((np.log(n_atoms), np.log(times[1])))
        rows.append(row)
    columns = ["first order, µs", "second order, µs", "ratio"]
    named = [
        f"{kind}: {column}" for kind in ("fixed atoms", "changing atoms") for column in columns
    ]
    publish("newton_speed", ["M", *named], rows)
    slopes = np.diff(np.array(logs), axis=0)
    print("growth exponent between model orders:", np.round(slopes[:, 1] / slopes[:, 0], 2))
    print("growth exponent over all:", np.polyfit(*np.array(logs).T, 1)[0].round(2))


if __name__ == "__main__":
    main()

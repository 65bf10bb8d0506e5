"""Kill a checkpointing `colk fit` with `kill -9` at random moments.

A run is killed again and again, each time after a random delay, and resumed. After each kill the
checkpoint must load. When the run has finished, its model and its file of rejects must equal those
of an uninterrupted run, byte for byte. Children are forked, so that each kill hits the run and not
the imports.

    python -m colk_lab.tables kill              200 kills
    python -m colk_lab.tables kill --kills N --seed N
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import colk
from colk.cli import main as run_colk

N_ROWS = 40_000
EVERY = 500
# Latest time of a kill, as a share of the time of an uninterrupted run.
LONGEST_LIFE = 0.25


def write(path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0.0) + 0.1 * rng.normal(size=N_ROWS)
    with open(path, "w", encoding="utf-8") as file:
        file.write("a,b,c,y\n")
        for number, row in enumerate(np.column_stack([X, y])):
            cells = ["?", *row[1:]] if number % 997 == 5 else row
            file.write(",".join(map(str, cells)) + "\n")


def command(data: Path, folder: Path) -> list[str]:
    paths = ["--model", str(folder / "m.colk"), "--rejects", str(folder / "rejects.tsv")]
    settings = ["--target", "y", "--epochs", "2", "--checkpoint-every", str(EVERY), "--resume"]
    return ["fit", str(data), *paths, *settings]


def start(arguments: list[str]) -> int:
    """Fork a child that runs the command."""
    child = os.fork()
    if child == 0:
        with open(os.devnull, "w", encoding="utf-8") as sys.stdout:
            os._exit(run_colk(arguments))
    return child


def wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_until_done(arguments: list[str], model: Path, kills: int, life: float, seed: int) -> int:
    """Kill and resume; return the number of kills that hit a running process."""
    draw, hits = random.Random(seed), 0
    for number in range(kills):
        child = start(arguments)
        time.sleep(draw.random() * life)
        os.kill(child, signal.SIGKILL)
        if wait(child) != 0:
            hits += 1
        if model.exists():
            colk.load(model)
        if number % 20 == 19:
            rows = colk.load(model).rows if model.exists() else 0
            print(f"{number + 1} kills, {hits} of a running process, {rows:,} rows", flush=True)
    if wait(start(arguments)) != 0:
        raise SystemExit("the resumed run failed")
    return hits


def compare(unbroken: Path, broken: Path) -> None:
    for name in ("m.colk", "rejects.tsv"):
        if (unbroken / name).read_bytes() != (broken / name).read_bytes():
            raise SystemExit(f"{name} differs from that of the unbroken run")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unbroken = folder / "unbroken"
        unbroken.mkdir()
        write(folder / "rows.csv")
        began = time.monotonic()
        if wait(start(command(folder / "rows.csv", unbroken))) != 0:
            raise SystemExit("the unbroken run failed")
        seconds = time.monotonic() - began
        print(f"an uninterrupted run takes {seconds:.1f} s")
        left, hits, runs = arguments.kills, 0, 0
        while left > 0:  # after some kills a run ends, and the next one begins
            broken = folder / f"broken{runs}"
            broken.mkdir()
            life = LONGEST_LIFE * seconds
            kills = min(left, 20)
            settings = command(folder / "rows.csv", broken)
            hits += kill_until_done(settings, broken / "m.colk", kills, life, arguments.seed + runs)
            compare(unbroken, broken)
            left, runs = left - kills, runs + 1
        print(f"{arguments.kills} kills, {hits} of a running process: every checkpoint loaded, ")
        print(f"and all {runs} resumed runs equal the uninterrupted one byte for byte")


if __name__ == "__main__":
    main()

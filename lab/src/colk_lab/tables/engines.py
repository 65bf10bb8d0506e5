"""Time per sample of two installations of the package, measured in turns.

    python -m colk_lab.tables engines --other PATH_TO_THE_OTHER_PYTHON

One worker process per interpreter warms up every case of `cases.py`. Then the script asks the two
workers for the same case one after the other, never at the same time, for several rounds. The
memory layout of a process changes times by a few per cent, so this is repeated with several pairs
of workers. The table shows minima over all rounds and their ratio. It also shows the median of the
ratios within a round, which is insensitive to changes in the speed of the machine. The table is
written to docs/tables if all cases were run.

If the models of the two installations have different numbers of atoms in some round, a ratio
compares unequal work. The table shows the medians of both numbers, and such cases are named apart;
the cases with M = 24 have equal models.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from colk_lab.tables.output import ROOT, publish, table
from colk_lab.tables.turns import run_times

# Seconds of a case in one turn, and the largest number of runs: short jobs are repeated.
TURN, MOST_RUNS = 0.02, 20

COLUMNS = (
    "case",
    "M",
    "other, µs per sample",
    "this, µs per sample",
    "speedup",
    "median of rounds",
    "required",
)

# Between two numbers of atoms.
UNEQUAL = " / "

Answer = dict[str, Any]


class Worker:
    """A process of an interpreter that answers requests; both are lines of JSON."""

    def __init__(self, python: str, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [python, "-m", "colk_lab.tables.engines", "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.greeting = self._read()

    def ask(self, case: str, runs: int) -> Answer:
        """Run a case the given number of times; prepare it first if it is new."""
        self._process.stdin.write(json.dumps({"case": case, "runs": runs}) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Answer:
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker of {self._process.args[0]} ended; what it said is above")
        return json.loads(line)

    def close(self) -> None:
        """Close the input, so that the process ends."""
        self._process.communicate()


def work() -> None:
    """Answer the lines of the parent until the input ends."""
    # Standard output is for the answers; everything else goes to standard error.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import colk
    from colk_lab.tables.cases import cases

    known = {case.name: case for case in cases()}
    asked = {name: case.asked for name, case in known.items()}
    print(json.dumps({"package": str(Path(colk.__file__).parent), "asked": asked}), file=answers)
    ready: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["case"]
        try:
            if name not in ready:
                ready[name] = known[name].prepare()
            answer = measured(ready[name], request["runs"])
        except Exception as error:  # whatever it is: the parent reports it and goes on
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers)


def measured(ready: Any, runs: int) -> Answer:
    """Return the minimum seconds of a run and of a sample, and the size of the model."""
    least = min(run_times(ready.job, runs))
    sizes = (getattr(ready.model, name, None) for name in ("n_atoms", "n_atoms_"))
    atoms = next((int(size) for size in sizes if size is not None), None)
    return {"run": least, "sample": least / ready.samples, "atoms": atoms}


def start(other: str) -> list[Worker]:
    """Start a worker of the other interpreter and one of this interpreter."""
    # PYTHONPATH is meant for this interpreter; the other one has its own installation of colk.
    alone = os.environ | {"PYTHONPATH": str(ROOT / "lab" / "src")}
    workers = [Worker(other, alone), Worker(sys.executable, dict(os.environ))]
    for word, worker in zip(("other", "this"), workers, strict=True):
        print(f"{word}: {worker.greeting['package']}", flush=True)
    return workers


def warm_up(workers: list[Worker], names: list[str]) -> dict[str, int]:
    """Return the runs per turn of every case; report and skip cases that fail."""
    runs = {}
    for name in names:
        answers = [worker.ask(name, 2) for worker in workers]
        errors = [answer["error"] for answer in answers if "error" in answer]
        if errors:
            print(f"skipped: {name}: {'; '.join(errors)}", flush=True)
            continue
        slower = max(answer["run"] for answer in answers)
        runs[name] = min(max(int(TURN / slower), 1), MOST_RUNS)
    return runs


def compare(
    workers: list[Worker], runs: dict[str, int], rounds: int
) -> dict[str, list[list[Answer]]]:
    """Return the answers for every case, [other, this] in each round."""
    answers: dict[str, list[list[Answer]]] = {name: [] for name in runs}
    for number in range(rounds):
        # The workers alternate in going first.
        order = (0, 1) if number % 2 == 0 else (1, 0)
        for name, count in runs.items():
            pair: list[Answer] = [{}, {}]
            for which in order:
                pair[which] = workers[which].ask(name, count)
            answers[name].append(pair)
    return answers


def atoms_of(pairs: list[list[Answer]]) -> str:
    """Return the median number of atoms, or both numbers if they differ in some round."""
    if pairs[0][0]["atoms"] is None:
        return "–"
    sizes = [statistics.median(pair[which]["atoms"] for pair in pairs) for which in (0, 1)]
    are_equal = all(a["atoms"] == b["atoms"] for a, b in pairs)
    return f"{sizes[0]:.0f}" if are_equal else UNEQUAL.join(f"{size:.0f}" for size in sizes)


def rows(
    answers: dict[str, list[list[Answer]]], asked: dict[str, float]
) -> tuple[list[list[str]], list[str]]:
    """Return the lines of the table, and the cases that miss their speedup by both ratios."""
    lines, behind = [], []
    for name, pairs in answers.items():
        other, this = (min(pair[which]["sample"] for pair in pairs) for which in (0, 1))
        middle = statistics.median(a["sample"] / b["sample"] for a, b in pairs)
        figures = [f"{1e6 * other:.3f}", f"{1e6 * this:.3f}", f"{other / this:.2f}"]
        lines.append([name, atoms_of(pairs), *figures, f"{middle:.2f}", f"{asked[name]:g}"])
        if max(other / this, middle) < asked[name]:
            behind.append(name)
    return lines, behind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--other", help="interpreter of the installation to compare with")
    parser.add_argument("--pairs", type=int, default=3, help="number of pairs of workers")
    parser.add_argument("--rounds", type=int, default=6, help="rounds per pair")
    parser.add_argument(
        "--only", default="", help="run cases whose names contain this; write no file"
    )
    options = parser.parse_args()
    if options.worker:
        return work()
    if options.other is None:
        parser.error("--other is missing: the interpreter to compare with")
    answers: dict[str, list[list[Answer]]] = {}
    for _ in range(options.pairs):
        workers = start(options.other)
        asked = workers[1].greeting["asked"]
        runs = warm_up(workers, [name for name in asked if options.only in name])
        for name, pairs in compare(workers, runs, options.rounds).items():
            answers.setdefault(name, []).extend(pairs)
        for worker in workers:
            worker.close()
    lines, behind = rows(answers, asked)
    if len(lines) == len(asked):
        publish("engines", COLUMNS, lines)
    else:
        print(table(COLUMNS, lines))
    unequal = [name for name in behind if UNEQUAL in atoms_of(answers[name])]
    equal = [name for name in behind if name not in unequal]
    print("\n  ".join(["slower than required:", *(equal or ["none"])]))
    print("\n  ".join(["slower than required, models of different sizes:", *(unequal or ["none"])]))
    return None


if __name__ == "__main__":
    main()

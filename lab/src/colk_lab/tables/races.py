"""Try to corrupt models by threads, forks, Ctrl-C, and saves at random moments.

    python -m colk_lab.tables races               threads, forks and interrupts, 200 times each
    python -m colk_lab.tables races threads       one of them; also: forks, interrupts
    python -m colk_lab.tables races saves         10,000 saves, all loaded and continued
    python -m colk_lab.tables races --times N --seed N

threads     Four threads give a new learner its first samples at the same time; none may be lost.
            While they learn, the model is saved, pickled and copied; each copy must be complete.
forks       The process is forked while another thread learns. The child predicts, learns and saves,
            and its model must be one that existed.
interrupts  Ctrl-C at a random moment of `colk fit` and `colk predict`, after at least 0.02 s. The
            command must print one line, end with exit code 130, and leave an older model unchanged.
            Moments at which the interpreter itself still starts are counted separately.
saves       Newton learners, experts, a search for the prior and least-squares temporal differences,
            saved at random moments of a stream. Each file must load, and the loaded learner must
            continue bit for bit.
"""

import argparse
import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import colk
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, NewtonCOLK
from colk.rl import KernelLSTD

N_ROWS = 6000
SAVES = 10_000
# Seconds after which a child that has not ended counts as hanging.
HANGS = 120
# Latest Ctrl-C, in seconds.
LATEST = 4.0
# Files of colk that the interpreter reads before the command handles Ctrl-C.
STARTING = ("__init__.py", "__main__.py", "_lazy.py", "_version.py")

RNG = np.random.default_rng(0)
X = RNG.random((N_ROWS, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=N_ROWS)


def learners(max_atoms: int) -> dict[str, Callable[[], Any]]:
    rule = KOMP(eps=1e-3, max_atoms=max_atoms)
    kernel = Gaussian(0.1)
    return {
        "COLK": lambda: COLK(kernel, compressor=rule),
        "newton": lambda: NewtonCOLK(kernel, compressor=rule),
        "experts": lambda: NewtonCOLK(kernel, compressor=rule, forgetting="auto"),
        "prior": lambda: NewtonCOLK(kernel, compressor=rule, prior="auto"),
        "lstd": lambda: KernelLSTD(kernel, 0.5, compressor=rule),
        "regressor": lambda: colk.COLKRegressor(max_atoms=max_atoms),
    }


def learn(model: Any, start: int, stop: int) -> Any:
    """Learn rows of the stream, which begins again at its end."""
    rows = np.arange(start, stop) % N_ROWS
    if isinstance(model, KernelLSTD):
        return model.learn(X[rows], Y[rows], X[(rows + 1) % N_ROWS])
    return (getattr(model, "learn", None) or model.partial_fit)(X[rows], Y[rows])


def count(model: Any) -> int:
    """The number of samples that a model has learned."""
    if isinstance(model, colk.COLKRegressor):
        return round(model.learner_.loss_sums[1])
    return int(model.steps)


def values(model: Any) -> list[float]:
    """Predictions, to the last bit."""
    return list((model.value if isinstance(model, KernelLSTD) else model.predict)(X[:20]))


def numbers(value: Any) -> Iterator[bytes]:
    """All numbers of a state, as bytes."""
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif value is not None:
        yield np.asarray(value, dtype=np.float64).tobytes()


def state(learner: Any) -> list[bytes]:
    return list(numbers(learner.get_state()))


# -- threads -------------------------------------------------------------------------------------


def race_of_threads(make: Callable[[], Any], draw: random.Random, folder: Path) -> str:
    """Return what was wrong, or nothing."""
    model, start, size = make(), threading.Barrier(5), draw.randrange(1, 60)

    def work(first: int) -> None:
        start.wait()
        for part in range(3):
            learn(model, first + part * size, first + (part + 1) * size)

    threads = [threading.Thread(target=work, args=(3 * size * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    start.wait()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.001 * draw.random())
        way = draw.choice(["save", "pickle", "copy"])
        try:
            copied = copied_by(way, model, folder / "threads.colk")
            if count(copied) % 1 or not np.isfinite(values(learn(copied, 0, 5))).all():
                return f"{way}: it does not go on"
        except (ValueError, AttributeError) as error:
            if "not seen" not in str(error) and "not fitted" not in str(error):
                return f"{way}: {error}"
    for thread in threads:
        thread.join()
    lost = 12 * size - count(model)
    return f"{lost} samples were lost" if lost else ""


def copied_by(way: str, model: Any, path: Path) -> Any:
    if way == "pickle":
        return pickle.loads(pickle.dumps(model))
    if way == "copy":
        return copy.deepcopy(model)
    colk.save(model, path)
    return colk.load(path)


# -- forks ---------------------------------------------------------------------------------------


def race_of_forks(make: Callable[[], Any], draw: random.Random, folder: Path) -> str:
    """Fork while another thread learns; return what was wrong, or nothing."""
    model, size, stop = make(), draw.randrange(1, 400), threading.Event()
    learn(model, 0, size)

    def go_on() -> None:
        start = size
        while not stop.is_set() and start < N_ROWS:
            learn(model, start, start + size)
            start += size

    thread, path = threading.Thread(target=go_on), folder / "forks.colk"
    path.unlink(missing_ok=True)
    thread.start()
    time.sleep(0.02 * draw.random())
    pid = os.fork()
    if pid == 0:
        signal.alarm(HANGS)
        try:
            values(model)
            colk.save(model, path)
            values(learn(model, 0, 5))
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
    status = os.waitpid(pid, 0)[1]
    stop.set()
    thread.join()
    if status:
        return f"the child ended with status {status}"
    found = colk.load(path)
    twin, done, seen = make(), 0, count(found)
    while done < seen:
        learn(twin, done, min(done + size, seen))
        done = min(done + size, seen)
    return "" if values(found) == values(twin) else f"the model after {seen} samples is another"


# -- interrupts ----------------------------------------------------------------------------------


def race_of_interrupts(draw: random.Random, folder: Path) -> str:
    """Send Ctrl-C to `colk fit` or `colk predict`; return what was wrong, or nothing."""
    model, data, out = folder / "m.colk", folder / "data.csv", folder / "out.csv"
    before, name = model.read_bytes(), draw.choice(["fit", "predict"])
    fit = ["fit", data, "--target", "y", "--model", model, "--overwrite"]
    command = fit if name == "fit" else ["predict", model, *[data] * 30, "--out", out]
    process = subprocess.Popen(
        [sys.executable, "-m", "colk", *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(max(0.02, LATEST * draw.random() ** 2))
    process.send_signal(signal.SIGINT)
    try:
        error = process.communicate(timeout=HANGS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return f"{name} hangs"
    if model.read_bytes() != before and "learned" not in error and process.returncode != 0:
        return f"{name}: the older model has changed"
    colk.load(model)
    model.write_bytes(before)
    out.unlink(missing_ok=True)
    litter = sorted(each.name for each in folder.glob(".*.tmp"))
    if litter:
        return f"{name} left {litter}"
    if process.returncode == 0:
        return "had ended"
    if process.returncode == 130 and error.startswith("colk: ") and error.count("\n") == 1:
        return ""
    if (not error and process.returncode == -signal.SIGINT) or is_of_start(error):
        return "the interpreter was starting"
    return f"{name}: exit code {process.returncode}: {error}"


def is_of_start(error: str) -> bool:
    """Whether a traceback is of the interpreter's start: `site`, `runpy`, or `import colk`."""
    files = [line.split('"')[1] for line in error.splitlines() if line.startswith('  File "')]
    home = str(Path(colk.__file__).parent)
    ours = [Path(file) for file in files if file.startswith(home)]
    is_early = all(file.parent == Path(home) and file.name in STARTING for file in ours)
    return "Traceback" in error and is_early and "in run" not in error


def prepare(folder: Path) -> None:
    rows = np.column_stack([X, Y])[np.arange(100_000) % N_ROWS]
    np.savetxt(folder / "data.csv", rows, "%.6f", ",", header="a,b,y", comments="")
    np.savetxt(folder / "few.csv", rows[:500], "%.6f", ",", header="a,b,y", comments="")
    fit = ["fit", str(folder / "few.csv"), "--target", "y", "--model", str(folder / "m.colk")]
    subprocess.run([sys.executable, "-m", "colk", *fit], check=True, stdout=subprocess.DEVNULL)


# -- saves ---------------------------------------------------------------------------------------


def save_often(times: int, draw: random.Random, folder: Path) -> Counter[str]:
    """Save learners at random moments of a stream; count what was wrong."""
    found: Counter[str] = Counter()
    every = learners(150)
    kinds = {name: every[name] for name in ("newton", "experts", "prior", "lstd")}
    live: dict[str, tuple[Any, int]] = {}
    for number in range(times):
        name = list(kinds)[number % len(kinds)]
        model, seen = live.get(name, (None, 0))
        if model is None or draw.random() < 0.002:
            model, seen = kinds[name](), 0
        step, further = (1 + int(draw.expovariate(0.1)) for _ in range(2))
        learn(model, seen, seen + step)
        seen += step
        path = folder / f"{name}.colk"
        try:
            colk.save(model, path)
            loaded = colk.load(path)
        except Exception as error:
            found[f"{name}: {error}"] += 1
            continue
        is_same = state(loaded) == state(model)
        learn(loaded, seen, seen + further)
        learn(model, seen, seen + further)
        seen += further
        if not is_same or state(loaded) != state(model):
            found[f"{name} goes on differently"] += 1
        found["right"] += is_same
        live[name] = model, seen
    return found


def repeat(name: str, times: int, seed: int) -> Counter[str]:
    """Run one race many times; count the outcomes, where "" means that nothing was wrong."""
    draw, found, kinds = random.Random(seed), Counter[str](), learners(60)
    with tempfile.TemporaryDirectory() as folder:
        if name == "saves":
            return save_often(times, draw, Path(folder))
        if name == "interrupts":
            prepare(Path(folder))
        for number in range(times):
            make = list(kinds.values())[number % len(kinds)]
            kind = "" if name == "interrupts" else list(kinds)[number % len(kinds)]
            race = race_of_threads if name == "threads" else race_of_forks
            if name == "interrupts":
                wrong = race_of_interrupts(draw, Path(folder))
            else:
                wrong = race(make, draw, Path(folder))
            found["right" if not wrong else f"{kind} {wrong}".strip()] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("race", nargs="?", choices=("threads", "forks", "interrupts", "saves"))
    parser.add_argument("--times", type=int)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sys.setswitchinterval(1e-4)
    for name in [arguments.race] if arguments.race else ["threads", "forks", "interrupts"]:
        times = arguments.times or (SAVES if name == "saves" else 200)
        begin = time.monotonic()
        found = repeat(name, times, arguments.seed)
        print(f"{name}: {times} times, {time.monotonic() - begin:.0f} s")
        for outcome, number in found.most_common():
            print(f"  {number:6}  {outcome}", flush=True)


if __name__ == "__main__":
    main()

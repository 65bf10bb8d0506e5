"""Load damaged and hostile files with `colk.load`: the result is a clear error or a working model.

Each file is loaded in a separate process with a bounded address space. If loading succeeds, the
model predicts, learns a few samples and is saved again. A failure is a process that dies, a file
that takes longer than a few seconds, an undocumented exception, code that runs, or memory that
grows beyond the order of the file size.

    python -m colk_lab.tables fuzz_files --count 100000

With `--structure` the files are not random: each number and array of a state is replaced by 0, −1,
2⁶³ − 1, NaN, and by other shapes, types and orders. The states are those of pipelines with each
class of scikit-learn that files may hold, or of models with each class and term of colk.
`--part 0/4` does the first of four parts.

    python -m colk_lab.tables fuzz_files --structure pipelines
    python -m colk_lab.tables fuzz_files --structure models
"""

import argparse
import faulthandler
import gc
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import warnings

from colk_lab.tables.damaged_files import bound, damage, each_change
from colk_lab.tables.saved_models import corpus, own_terms, use
from colk_lab.tables.steps import fitted_pipelines

PATIENCE = 10.0  # seconds for a file
FORBIDDEN = ("exec", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen")
FORBIDDEN += ("pickle.find_class", "marshal.loads", "ctypes.dlopen", "socket.connect")


def write_corpus(folder, models):
    """Save models."""
    import colk

    for number, model in enumerate(models):
        colk.save(model, folder / f"{number:03d}.colk")


class AuditHook:
    """Record events that must not happen while a file is loaded."""

    def __init__(self):
        self.active, self.seen = False, []
        sys.addaudithook(self.hear)

    def hear(self, event, args):
        """Record an event of the interpreter that no file may cause."""
        if self.active and event.startswith(FORBIDDEN):
            self.seen.append((event, str(args)[:80]))


def damaged(samples, given):
    """Yield the files start, …, start + count − 1, and their numbers."""
    stop = given.start + given.count
    if given.structure:
        changes = itertools.chain.from_iterable(map(each_change, samples))
        yield from itertools.islice(enumerate(changes), given.start, stop, given.every)
        return
    for number in range(given.start, stop):
        rng = random.Random(f"{given.seed}-{number}")
        yield number, damage(rng.choice(samples), samples, rng)


def work(given):
    """Fuzz the files start, …, start + count − 1; print each number before, each result after."""
    folder = pathlib.Path(given.work)
    import colk
    from colk.errors import FileFormatError

    faulthandler.enable()
    os.fsync = lambda _: None  # the test is not about the disk
    warnings.simplefilter("ignore")
    samples = [path.read_bytes() for path in sorted(folder.iterdir())]
    scratch = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    for data in samples:  # loads every module that loading needs
        (scratch / "file").write_bytes(data)
        model = colk.load(scratch / "file", terms=own_terms())
        repr(model)
        use(model, scratch)
    watch = AuditHook()
    for number, data in damaged(samples, given):
        (scratch / "file").write_bytes(data)
        print("at", number, flush=True)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        bound(len(data))
        said = "refused"
        try:
            watch.active = True
            model = colk.load(scratch / "file", terms=own_terms())
            watch.active, said = False, "loaded"
            use(model, scratch)
        except (FileFormatError, LookupError, MemoryError) as error:
            is_large = isinstance(error, MemoryError) and not given.structure
            fault = None if said == "refused" or is_large else repr(error)
        except (ValueError, ArithmeticError) as error:
            fault = repr(error) if said == "refused" else None
        except Exception as error:
            # Parameters of scikit-learn's classes may not fit the data.
            is_pipeline = said == "loaded" and type(model).__name__ == "Pipeline"
            fault = None if is_pipeline else repr(error)
        else:
            fault = None
        watch.active = False
        faulthandler.cancel_dump_traceback_later()
        if fault or watch.seen:
            print("fault", number, said, fault, watch.seen[:3], flush=True)
            watch.seen.clear()
        if number % 100 == 0:
            gc.collect()  # damage may show when memory is freed
        print(said, number, flush=True)


def supervise(folder, given, start, tally, faults):
    """Run one worker; return the number of the first file that it did not load, None at the end."""
    count = given.start + given.count - start
    command = [sys.executable, "-m", "colk_lab.tables.fuzz_files", "--work", str(folder)]
    command += ["--seed", str(given.seed)]
    command += ["--start", str(start), "--count", str(count)]
    command += ["--every", str(given.every)]
    command += ["--structure", given.structure] if given.structure else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["LOKY_MAX_CPU_COUNT"] = "1"  # processes could not begin in bounded memory
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        )
        at = start - 1
        for line in child.stdout:
            word, number, *rest = line.split(maxsplit=2)
            at = int(number)
            if word == "fault":
                faults.append(f"{number}: {''.join(rest).strip()}")
                print(faults[-1], flush=True)
            elif word != "at":
                tally[word] = tally.get(word, 0) + 1
                if sum(tally.values()) % 10_000 == 0:
                    print(f"{sum(tally.values())} files, {len(faults)} faults", flush=True)
        code = child.wait()
        if at < start:
            errors.seek(0)
            raise SystemExit(f"the worker did not begin: {errors.read()[-2000:]}")
        if code != 0:
            errors.seek(0)
            faults.append(f"{at}: the process ended with {code}: {errors.read(1500)}")
            print(faults[-1], flush=True)
    return None if code == 0 else at + given.every


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="number of files")
    parser.add_argument("--structure", choices=("pipelines", "models"), help="change each part")
    parser.add_argument("--every", type=int, default=1, help="change only every n-th of them")
    parser.add_argument("--part", default="0/1", help="which part of the models, e.g. 0/4")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first file")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given)
        return 0
    began, tally, faults = time.perf_counter(), {}, []
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None  # in memory, if possible
    with tempfile.TemporaryDirectory(dir=shared) as place:
        folder = pathlib.Path(place) / "corpus"
        folder.mkdir()
        part, parts = map(int, given.part.split("/"))
        is_piped = given.structure == "pipelines"
        models = fitted_pipelines(part, parts) if is_piped else corpus()[part::parts]
        write_corpus(folder, models)
        at = given.start
        while at is not None and len(faults) < 20:
            at = supervise(folder, given, at, tally, faults)
    seconds = time.perf_counter() - began
    print(
        f"{sum(tally.values())} files: {tally.get('refused', 0)} refused, "
        f"{tally.get('loaded', 0)} loaded, {len(faults)} faults, {seconds:.0f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

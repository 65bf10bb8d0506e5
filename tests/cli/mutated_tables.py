"""Feed randomly damaged tables to `colk fit`: the result is a one-line error or a model.

It never crashes, hangs, or needs more memory than the order of the file size.

    python tests/cli/mutated_tables.py              10⁵ files
    python tests/cli/mutated_tables.py --files N --seed N
    python tests/cli/mutated_tables.py --learner    read, learn and predict, without the command
    python tests/cli/mutated_tables.py --reader     only read the tables, which is the fastest
"""

import argparse
import contextlib
import io
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import colk
from colk.cli import main as run
from colk.tabular import TableModel
from colk.tabular.reading import Columns, Source

LONGEST = 20.0  # seconds for one file, on a busy machine
MEMORY = 150.0  # megabytes that all files together may add

TABLE = [
    {
        "a": 0.5 * i if i % 9 else None,
        "b": (-1) ** i * 1.25e-3,
        "city": ["Bonn", "Rome", None][i % 3],
        "when": f"2026-{1 + i % 12:02}-{1 + i % 28:02}T{i % 24:02}:30" if i % 11 else None,
        "y": i % 7,
    }
    for i in range(40)
]


def clean(kind: str) -> bytes:
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in TABLE).encode()
    rows = [",".join("" if cell is None else str(cell) for cell in row.values()) for row in TABLE]
    return "\n".join([",".join(TABLE[0]), *rows, ""]).encode()


SPLINTERS = {
    "csv": [
        b'"',
        b'""',
        b"\r",
        b"\n",
        b",",
        b",,",
        b"\x00",
        b"\xff\xfe",
        b"nan",
        b"1e999",
        b"2026-02-30",
        b"13/13/26",
        b"25:61",
        b"9999-12-31",
        b"0001-01-01",
    ],
    "jsonl": [b'"', b"{", b"}", b"[" * 3000, b"\\u", b"\n", b"\x00", b"NaN", b"1e999", b"9" * 400],
}
SHARED = [b"-", b"\xef\xbb\xbf", "ä".encode(), b"9" * 100, b"a" * 5000, b" ", b"true", b"null"]


def mutated(data: bytes, kind: str, draw: random.Random) -> bytes:
    """Flip, cut, repeat, remove or insert bytes, one or several times."""
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 2, 5, 30])):
        at = draw.randrange(len(changed) + 1)
        other = draw.randrange(len(changed) + 1)
        start, stop = min(at, other), max(at, other)
        match draw.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << draw.randrange(8)
            case 1 if at < len(changed):
                changed[at] = draw.randrange(256)
            case 2:
                del changed[start : start + draw.randrange(20)]
            case 3:
                changed[at:at] = draw.choice(SPLINTERS[kind] + SHARED)
            case 4:
                changed[at:at] = changed[start:stop]
            case 5:
                del changed[at:]
        del changed[100_000:]
    return bytes(changed)


def check(path: Path, model: Path) -> int:
    """Fit a file; returns the exit code."""
    out, error = io.StringIO(), io.StringIO()
    model.unlink(missing_ok=True)
    options = ["--target", "y", "--task", "regression", "--features", "a,b,city,when"]
    options.append("--allow-rejects")
    began = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = run(["fit", str(path), *options, "--model", str(model)])
    taken = time.monotonic() - began
    told = error.getvalue().splitlines()
    assert taken < LONGEST, f"{taken:.0f} s"
    assert len(told) <= 1, told
    if code == 0:
        assert colk.load(model).rows > 0
    else:
        assert code == 2, code
        assert told[0].startswith("colk: error: "), told
        assert not model.exists()
    return code


def learn(path: Path) -> int:
    """Read a file, learn its rows and predict them; returns 0 if there are rows."""
    model = TableModel(
        "y",
        ["a", "b", "city", "when"],
        ["city"],
        "regression",
        dates=["when"],
        kernel="gaussian",
        solver="newton",
        max_atoms=8,
    )
    return read(path, model)


def read(path: Path, model: TableModel | None = None) -> int:
    """Read a file; returns 0 if there are rows, as `check` does for a model."""
    began, rows = time.monotonic(), 0
    try:
        with Source([str(path)]) as source:
            wanted = Columns(("a", "b", "y"), ("city",), ("city",), ("when",), ("y",))
            for batch in source.rows(wanted):
                rows += len(batch)
                numbers = [batch.columns[name] for name in ("a", "b", "y", "when")]
                assert not np.isinf(numbers).any()
                assert np.isfinite(batch.columns["y"]).all()
                assert "" not in batch.columns["city"]
                assert len(batch.carried["city"]) == len(batch)
                assert all(reject.reason for reject in batch.rejects)
                if model is not None and len(batch):
                    model.learn(batch.columns, batch.columns["y"])
                    assert model.rows == rows
                    assert np.isfinite(model.predict(batch.columns)).all()
    except ValueError as error:
        if len(str(error)) > 2000:
            raise
    taken = time.monotonic() - began
    assert taken < LONGEST, f"{taken:.0f} s"
    return 0 if rows else 2


def hammer(
    n_files: int,
    seed: int,
    folder: Path,
    kinds: tuple[str, ...] = ("csv", "jsonl"),
    use: Callable[[Path], int] | None = None,
) -> int:
    """Fit this many files of each kind, or `read` or `learn` them; returns the number of zeros."""
    draw, models = random.Random(seed), 0
    before = 0.0
    for number in range(n_files):
        kind = kinds[number % len(kinds)]
        path = folder / f"t.{kind}"
        path.write_bytes(mutated(clean(kind), kind, draw))
        try:
            models += (check(path, folder / "m.colk") if use is None else use(path)) == 0
        except BaseException:
            print(f"file {number} of seed {seed}: {path.read_bytes()[:2000]!r}")
            raise
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        before = before or peak
        assert peak - before < MEMORY, f"{peak - before:.0f} MB more"
        if number % 10_000 == 9_999:
            print(f"{number + 1} files, {models} models", flush=True)
    return models


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--reader", dest="use", action="store_const", const=read)
    how.add_argument("--learner", dest="use", action="store_const", const=learn)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = hammer(arguments.files, arguments.seed, Path(folder), use=arguments.use)
    found = "models" if arguments.use is None else "with rows"
    print(f"{arguments.files} files: {models} {found}, {arguments.files - models} without")


if __name__ == "__main__":
    main()

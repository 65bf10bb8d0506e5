"""Interrupted runs resume to the same model, and the last checkpoint is always valid."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import colk as package

ALL = ("--target", "price", "--features", "size,age,city", "--categorical", "city")
SETTINGS = (*ALL, "--epochs", "2", "--checkpoint-every", "100", "--holdout", "0.1")


def command(data, folder, *more):
    paths = ["--model", folder / "m.colk", "--rejects", folder / "rejects.tsv"]
    return [str(part) for part in ("fit", data, data, *SETTINGS, *paths, *more)]


def start(arguments, **settings):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "colk", *arguments],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **settings,
    )  # fmt: skip


@pytest.fixture
def folders(tmp_path):
    made = tmp_path / "unbroken", tmp_path / "broken"
    for folder in made:
        folder.mkdir()
    return made


def same(folders):
    return all(
        (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
        for name in ("m.colk", "rejects.tsv")
    )


class StopError(Exception):
    """Stands for a kill within one process."""


@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_is_broken_off_anywhere(colk, houses, folders, monkeypatch, seed):
    """Saving or learning fails at random calls, again and again."""
    from colk.cli import run
    from colk.model import sample

    # Fewer rows than the file has, so that the polish makes passes over the files.
    monkeypatch.setattr(sample, "MOST_ROWS", 700)
    assert colk(*command(houses, folders[0]))[0] == 0
    draw = random.Random(seed)
    original_save, original_go_on, left = run.save, run.Run._go_on, [0]

    def count(call, *arguments):
        left[0] -= 1
        if left[0] < 0:
            raise StopError
        return call(*arguments)

    monkeypatch.setattr(run, "save", lambda *a: count(original_save, *a))
    monkeypatch.setattr(run.Run, "_go_on", lambda *a: count(original_go_on, *a))
    for _ in range(4):  # `colk_lab.tables.kill` does it 200 times
        left[0] = draw.randrange(6)
        with pytest.raises(StopError):
            colk(*command(houses, folders[1], "--resume"))
    left[0] = 10**9
    assert colk(*command(houses, folders[1], "--resume"))[0] == 0
    assert same(folders)
    # A finished model does not change.
    assert colk(*command(houses, folders[1], "--resume"))[0] == 0
    assert same(folders)


@pytest.mark.slow
def test_a_run_that_is_killed(colk, houses, folders):
    """`python -m colk_lab.tables kill` does this 200 times."""
    slow = ("--epochs", "6")
    assert colk(*command(houses, folders[0], *slow))[0] == 0
    model, draw = folders[1] / "m.colk", random.Random(0)
    for _ in range(2):
        before = model.stat().st_mtime_ns if model.exists() else 0
        process = start(command(houses, folders[1], *slow, "--resume"))
        deadline = time.monotonic() + 120.0
        while (model.stat().st_mtime_ns if model.exists() else 0) == before:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(0.05 * draw.random())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        package.load(model)
    assert colk(*command(houses, folders[1], *slow, "--resume"))[0] == 0
    assert same(folders)


def test_more_epochs_go_on(colk, houses, folders):
    """With the polish, later rows start from the polished weights, so the model differs."""
    assert colk(*command(houses, folders[0], "--no-polish", "--epochs", "3"))[0] == 0
    assert colk(*command(houses, folders[1], "--no-polish"))[0] == 0
    assert not same(folders)
    assert colk(*command(houses, folders[1], "--no-polish", "--epochs", "3", "--resume"))[0] == 0
    assert same(folders)


def test_rows_that_were_appended_are_learned(colk, houses, tmp_path):
    model, lines = tmp_path / "m.colk", houses.read_text().splitlines(keepends=True)
    houses.write_text("".join(lines[:500]))
    options = ("fit", houses, *ALL, "--model", model, "--resume")
    assert colk(*options)[0] == 0
    assert package.load(model).rows == 498
    houses.write_text("".join(lines))
    assert colk(*options)[0] == 0
    assert package.load(model).rows == 1197


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kernel", "gaussian"], "begun with no --kernel, which cannot change"),
        (["--features", "size"], "leave --features out"),
        (["--holdout", "0.2"], "--holdout 0.1"),
    ],
)
def test_what_was_begun_cannot_change(colk, houses, folders, options, message):
    assert colk(*command(houses, folders[0]))[0] == 0
    code, _, error = colk(*command(houses, folders[0], "--resume", *options))
    assert code == 2
    assert message in error


def test_other_data_are_refused(colk, houses, folders):
    assert colk(*command(houses, folders[0]))[0] == 0
    other = houses.with_name("other.csv")
    other.write_text(houses.read_text())
    code, _, error = colk(*command(other, folders[0], "--resume"))
    assert code == 2
    assert "name the same files" in error


def test_a_file_of_another_kind_is_not_resumed(colk, houses, tmp_path):
    from colk import COLK
    from colk.kernels import Gaussian

    package.save(COLK(Gaussian(1.0)).learn([[0.0]], [1.0]), tmp_path / "m.colk")
    code, _, error = colk("fit", houses, *ALL, "--model", tmp_path / "m.colk", "--resume")
    assert code == 2
    assert "not made by colk fit" in error
    (tmp_path / "m.colk").write_bytes(b"something else")
    code, _, error = colk("fit", houses, *ALL, "--model", tmp_path / "m.colk", "--resume")
    assert code == 2
    assert len(error.splitlines()) == 1


def _begun(colk, houses, tmp_path):
    """A checkpoint of the first rows, and a command that continues with all rows."""
    folder = tmp_path / "kept"
    folder.mkdir()
    lines = houses.read_text().splitlines(keepends=True)
    houses.write_text("".join(lines[:50]))
    model = folder / "m.colk"
    options = ("fit", houses, *ALL, "--checkpoint-every", 20, "--model", model, "--resume")
    assert colk(*options)[0] == 0
    houses.write_text("".join(lines))
    return model, [str(option) for option in options]


@pytest.mark.slow
def test_a_full_disk_leaves_the_checkpoint(colk, houses, tmp_path):
    model, options = _begun(colk, houses, tmp_path)
    before = model.read_bytes()
    limit = len(before) + 64

    def bound():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = start(options, preexec_fn=bound)
    error = process.communicate(timeout=120)[1]
    assert process.returncode == 2
    assert len(error.splitlines()) == 1
    assert "file too large" in error.lower()
    kept = model.read_bytes()
    assert list(model.parent.iterdir()) == [model]
    assert 48 <= package.load(model).rows < 1197
    assert len(kept) <= limit
    assert colk(*options)[0] == 0
    assert package.load(model).rows == 1197


@pytest.fixture
def public(houses):
    """A folder that every user may read, with the data in it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield Path(shutil.copy(houses, folder))


@contextmanager
def bound_by_permissions():
    """Respect file permissions; root becomes nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_is_read_only(colk, public):
    model, options = _begun(colk, public, public.parent)
    before = model.read_bytes()
    model.parent.chmod(0o555)
    with bound_by_permissions():
        code, _, error = colk(*options)
    model.parent.chmod(0o755)
    assert code == 2
    assert "cannot be written" in error
    assert len(error.splitlines()) == 1
    assert model.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_becomes_read_only(colk, public, monkeypatch):
    """The path could be written at the start, but not at the first checkpoint."""
    from colk.cli import fit

    model, options = _begun(colk, public, public.parent)
    before, check = model.read_bytes(), fit.check_file

    def check_and_close(path, option):
        check(path, option)
        if option == "--model":
            euid = os.geteuid()
            os.seteuid(os.getuid())
            model.parent.chmod(0o555)
            os.seteuid(euid)

    model.parent.chmod(0o777)
    monkeypatch.setattr(fit, "check_file", check_and_close)
    with bound_by_permissions():
        code, _, error = colk(*options)
    model.parent.chmod(0o755)
    assert code == 2
    assert "unchanged" in error
    assert len(error.splitlines()) == 1
    assert model.read_bytes() == before

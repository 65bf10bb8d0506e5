"""Either the whole file is written or nothing, for any failure."""

import errno
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

import colk
from colk import KernelExpansion
from colk.kernels import Gaussian
from colk.persistence.atomic import write_whole

OLD = KernelExpansion(Gaussian(1.0), [[0.0]], [1.0])
NEW = KernelExpansion(Gaussian(2.0), np.ones((5000, 20)), np.ones(5000))


@pytest.fixture
def path(tmp_path):
    colk.save(OLD, tmp_path / "m.colk")
    return tmp_path / "m.colk"


def is_untouched(path):
    return os.listdir(path.parent) == [path.name] and colk.load(path) == OLD


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(path, call, error, monkeypatch):
    def fail(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(type(error)):
            colk.save(NEW, path)
    assert is_untouched(path)


def test_the_draft_and_then_the_folder_are_put_on_the_disk(path, monkeypatch):
    done = []
    replace = os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: done.append(os.fstat(fd).st_mode & 0o170000))
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("named"), replace(*names)))
    colk.save(NEW, path)
    assert done == [0o100000, "named", 0o040000]  # a file, a name, a folder
    assert colk.load(path) == NEW


def test_a_full_disk_is_said_in_one_line(path):
    """A limit on the size of files stands for a full disk."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    code = (
        "import resource, signal, sys, numpy as np, colk\n"
        "from colk.kernels import Gaussian\n"
        "f = colk.KernelExpansion(Gaussian(2.0), np.ones((5000, 20)), np.ones(5000))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, {limit[1]}))\n"
        "try:\n"
        "    colk.save(f, sys.argv[1])\n"
        "except OSError as error:\n"
        "    assert 'cannot write' in str(error) and '\\n' not in str(error), error\n"
        "    sys.exit(7)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run([sys.executable, "-c", code, path], env=environment, check=False)
    assert found.returncode == 7
    assert is_untouched(path)


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot write, .*none/m\.colk"):
        colk.save(OLD, tmp_path / "none" / "m.colk")


def test_a_file_that_must_not_be_written_is_left_alone(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(PermissionError, match="permission denied"):
        colk.save(NEW, path)
    assert is_untouched(path)


@pytest.mark.parametrize("special", ["/dev/null", "."])
def test_only_plain_files_are_replaced(special):
    with pytest.raises(OSError, match="not a plain file"):
        write_whole(special, [b""])


def test_a_link_stays_a_link(path):
    link = path.with_name("link")
    link.symlink_to(path)
    colk.save(NEW, link)
    assert link.is_symlink()
    assert colk.load(path) == NEW


WRITE = """
import os, signal, sys, colk
from colk.cli.writers import writer
from colk.kernels import Gaussian
from colk.persistence.atomic import write_whole
from pathlib import Path

def pieces():
    yield b"part"
    print("begun", flush=True)
    sys.stdin.read()
    yield b"rest"

path = Path(sys.argv[1])
if sys.argv[2] == "model":
    write_whole(path, pieces())
else:
    with writer(path, "csv") as write:
        write({"a": [1.0]})
        list(pieces())
"""


@pytest.mark.parametrize("kind", ["model", "table"])
def test_the_next_save_removes_the_drafts_of_killed_processes_only(path, kind):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, path, kind],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for each in writers:
        assert each.stdout.readline() == "begun\n"
    others = [f".other.colk.{'2c' * 8}.tmp", f".{path.name}.mine.tmp"]
    for name in others:
        (path.parent / name).write_bytes(b"part")
    assert len(os.listdir(path.parent)) == 5
    killed, alive = writers
    killed.kill()
    killed.communicate()
    colk.save(NEW, path)
    assert len(os.listdir(path.parent)) == 4
    assert colk.load(path) == NEW
    alive.communicate("")
    assert alive.returncode == 0
    assert set(os.listdir(path.parent)) == {path.name, *others}
    assert path.read_bytes() == (b"partrest" if kind == "model" else b"a\n1.0\n")


def test_many_writers_remove_no_draft_of_each_other(path):
    """Each looks for abandoned drafts while others begin theirs."""
    code = (
        "import sys\nfrom colk.persistence.atomic import write_whole\n"
        "for k in range(300):\n    write_whole(sys.argv[1], [b'x' * 1000])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", code, str(path)]
    found = [subprocess.Popen(line, env=environment) for _ in range(3)]
    assert [each.wait() for each in found] == [0, 0, 0]
    assert os.listdir(path.parent) == [path.name]

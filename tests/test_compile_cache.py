"""The compile cache: compiled once, never in the way. Each check in processes of its own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

# One entry point, quickly compiled; prints what it gave and how many functions were compiled.
USE = """
    import numba.core.event as event

    class Count(event.Listener):
        compiled = 0
        def on_start(self, event):
            Count.compiled += 1
        def on_end(self, event):
            pass

    event.register("numba:compile", Count())
    from colk.kernels import Linear
    print(Linear().gram([[1.0], [2.0]], [[3.0]]).tolist(), Count.compiled)
"""
RIGHT = "[[3.0], [6.0]]"


def start(code, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG", "HOME"))}
    kept |= {"PYTHONPATH": str(SOURCE)} | environment
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Return the answer, how much was compiled, and what was said."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    answer, _, compiled = out.strip().rpartition(" ")
    return answer, int(compiled), err


@pytest.fixture(scope="module")
def cold_start(tmp_path_factory):
    """Two processes that start cold at once, with the same cache."""
    cache = str(tmp_path_factory.mktemp("cache"))
    both = [start(USE, NUMBA_CACHE_DIR=cache) for _ in range(2)]
    return cache, [finish(process) for process in both]


def test_two_cold_processes_do_not_disturb_each_other(cold_start):
    _, results = cold_start
    assert [answer for answer, _, _ in results] == [RIGHT, RIGHT]


def test_the_first_use_says_in_one_line_why_it_takes_long(cold_start):
    _, results = cold_start
    compiled = [said for _, count, said in results if count > 0]
    assert compiled
    for said in compiled:
        assert said == "colk: compiling its core, once (kept for later runs) ...\n"


def test_a_later_process_compiles_nothing(cold_start):
    cache, _ = cold_start
    assert finish(start(USE, NUMBA_CACHE_DIR=cache)) == (RIGHT, 0, "")


def test_import_compiles_nothing(cold_start):
    cache, _ = cold_start
    code = USE.replace("from colk.kernels import Linear", "import colk.compression, colk.learners")
    code = code.replace("Linear().gram([[1.0], [2.0]], [[3.0]]).tolist()", repr(RIGHT))
    assert finish(start(code, NUMBA_CACHE_DIR=cache)) == (RIGHT, 0, "")


def test_without_a_place_to_write_it_compiles_in_memory(tmp_path):
    """Neither the cache folder nor a home can be made: both would lie inside a file."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    places = [
        {"NUMBA_CACHE_DIR": str(blocked / "cache")},
        {"HOME": str(blocked / "home"), "XDG_CACHE_HOME": str(blocked / "xdg")},
    ]
    for process in [start(USE, **place) for place in places]:
        answer, compiled, said = finish(process)
        assert answer == RIGHT
        assert compiled > 0
        assert said == "colk: compiling its core, once (in memory: no cache can be written) ...\n"

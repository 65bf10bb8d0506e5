"""Run code that may crash, hang or exhaust memory in a separate interpreter."""

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Outcome:
    """The result of a snippet."""

    code: int
    out: str
    err: str


def _run(source: str, timeout: float = 60.0) -> Outcome:
    """Run a snippet to its end; a crash, a hang and an uncaught exception all fail the test."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONFAULTHANDLER": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", textwrap.dedent(source)]
    try:
        found = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"the snippet hangs: no end after {timeout:g} s")
    if found.returncode < 0:
        pytest.fail(f"the snippet crashed with signal {-found.returncode}:\n{found.stderr}")
    if found.returncode > 0:
        pytest.fail(f"the snippet failed:\n{found.stderr}")
    if "Exception ignored in" in found.stderr:  # by compiled code, which goes on
        pytest.fail(f"the snippet reported:\n{found.stderr}")
    return Outcome(found.returncode, found.stdout, found.stderr)


@pytest.fixture
def alone():
    """Run a snippet in a new interpreter; a failure there fails the test."""
    return _run

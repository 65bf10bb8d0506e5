"""Without a compiler each estimator predicts the same as with one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import colk
import colk._engine.stream

pytest.importorskip("river")
from uncompiled_doors import CASES

HOME = Path(colk.__file__).parent


@pytest.fixture(scope="module")
def of_sources(tmp_path_factory):
    """Predictions of a copy of the sources; None if this package is uncompiled itself."""
    if colk._engine.stream.__file__.endswith(".py"):
        return None
    folder = tmp_path_factory.mktemp("uncompiled")
    shutil.copytree(HOME, folder / "colk", ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.pyc"))
    out = folder / "found.npz"
    script = [sys.executable, str(Path(__file__).with_name("uncompiled_doors.py")), str(out)]
    found = subprocess.run(
        script,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    with np.load(out) as archive:
        return dict(archive)


def test_each_predicts_the_same(of_sources):
    # A loop, so that `--at-most` leaves no case out.
    for name, make in CASES.items():
        found = make()
        assert np.isfinite(found).all(), name
        if of_sources is not None:
            np.testing.assert_allclose(of_sources[name], found, rtol=1e-9, atol=1e-9, err_msg=name)

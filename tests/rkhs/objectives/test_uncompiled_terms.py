"""The uncompiled sources give the same losses, risks and tracked means."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import colk

SCRIPT = """
import sys
import numpy as np
import colk.risks.tail
from colk.losses import LOSSES
from colk.risks import RISKS, CentralMoments, CVaR, Entropic, MeanSemideviation, Semideviations
from colk.trackers import Extrapolation, Momentum, MovingAverage

assert len(sys.argv) < 3 or colk.risks.tail.__file__.endswith(".py")
rng, found = np.random.default_rng(0), {}
for loss in (make() for make in LOSSES.values()):
    F = rng.normal(size=(50, 3)) * [1.0, 10.0, 1000.0]
    Y = rng.choice([-1.0, 1.0], (50, 3))
    y = rng.integers(3, size=50) if loss.kind == "multiclass" else Y
    found[f"{loss} value"], found[f"{loss} slope"] = loss.value(F, y), loss.slope(F, y)
extra = [
    CentralMoments(5, 0.3), Semideviations(3, 0.2, 0.1), MeanSemideviation(3.5, 0.3),
    CVaR(0.2, 0.5, 0.1), Entropic(-2.0), Entropic(1e-6), Entropic(1e3),
]
for risk in [*(make() for make in RISKS.values()), *extra]:
    losses, before = rng.exponential(size=(2, 60))
    g = risk.estimate(losses)
    for name in ("inner", "inner_slope", "outer", "outer_slope_loss", "outer_slope_inner"):
        found[f"{risk} {name}"] = getattr(risk, name)(losses, g)
    found[f"{risk} gradient"] = risk.gradient(losses)
    for tracker in (Momentum(), MovingAverage(), Extrapolation()):
        found[f"{risk} {tracker}"] = risk.follow(losses, before, tracker=tracker)
np.savez(sys.argv[1], **found)
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables of the installed package, and of a copy of its sources alone."""
    folder = tmp_path_factory.mktemp("uncompiled")
    home = Path(colk.__file__).parent
    shutil.copytree(home, folder / "colk", ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.pyc"))
    found = []
    for place, marks in ((home.parent, []), (folder, ["uncompiled"])):
        out = folder / f"{len(found)}.npz"
        environment = {**os.environ, "PYTHONPATH": str(place)}
        command = [sys.executable, "-c", SCRIPT, str(out), *marks]
        subprocess.run(command, check=True, env=environment, cwd=folder.parent)
        with np.load(out) as archive:
            found.append(dict(archive))
    return found


def test_the_same_to_the_last_digits(tables):
    compiled, plain = tables
    assert list(compiled) == list(plain)
    assert len(plain) > 100
    for name, table in compiled.items():
        np.testing.assert_allclose(table, plain[name], rtol=1e-13, atol=1e-15, err_msg=name)
